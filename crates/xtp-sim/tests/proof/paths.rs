//! Addresses and sizes of the path (§5.5, §7.6, §7.4, §7.3).

use core::net::SocketAddr;
use std::time::Duration;

use crate::common::{MS, SECOND, finish_clean, link, pair, pour, records, send, stream_flow};
use xtp_engine::paradigm;
use xtp_link::{Direction, LinkConfig};
use xtp_sim::app::{Script, Step};
use xtp_sim::fault::Fault;
use xtp_sim::flow::FlowSpec;
use xtp_sim::packet::Seen;
use xtp_sim::paradigm::{Paradigm, Size};
use xtp_sim::trace::{Side, format_name};
use xtp_sim::world::World;
use xtp_wire::Format;

fn elsewhere() -> SocketAddr {
    SocketAddr::from(([10, 0, 7, 7], 40_404))
}

/// A transfer slow enough to be in the middle of things for seconds.
fn long_transfer(probe: bool) -> FlowSpec {
    let mut steps = vec![send(50), Step::Wait(200 * MS)];
    for _ in 0..40 {
        steps.extend([pour(10_000), Step::Wait(50 * MS)]);
    }
    steps.push(Step::CloseWriter);
    let mut flow = stream_flow(steps, vec![Step::AwaitEnd, Step::CloseWriter]);
    flow.open.tuning.overrides.probe_mtu = probe;
    flow.listen.tuning.overrides.probe_mtu = probe;
    flow
}

#[test]
fn a_transfer_goes_on_from_another_address() {
    for address in [elsewhere(), SocketAddr::from(([10, 0, 0, 1], 50_000))] {
        let mut world = pair();
        world.add_flow(long_transfer(false));
        world.schedule(SECOND, Fault::Move { host: 0, address });
        finish_clean(&mut world);
        let challenged = records(&world)
            .iter()
            .any(|record| record.seen.format == Format::Path);
        assert!(challenged, "the new path was challenged\n{}", world.ladder());
        let last = records(&world)
            .iter()
            .rev()
            .find(|record| record.from == 1)
            .expect("the responder answered");
        assert!(!last.fate.is_lost(), "it answers to the new address");
    }
}

#[test]
fn a_raced_copy_from_a_third_address_does_not_take_the_flow() {
    let mut world = pair();
    world.add_flow(long_transfer(false));
    world.run_for(SECOND);
    let mut stolen = 0;
    for _ in 0..200 {
        world.run_for(5 * MS);
        // What the initiator has just put on the link reaches the responder first from the thief.
        let newest = world
            .net
            .captured
            .iter()
            .flatten()
            .rev()
            .find(|(_, from, _)| *from == 0)
            .cloned();
        if let Some((_, _, flying)) = newest {
            world.inject(1, elsewhere(), &flying.data);
            stolen += 1;
        }
    }
    assert!(stolen > 100);
    finish_clean(&mut world);
    let to_thief = world
        .net
        .captured
        .iter()
        .flatten()
        .filter(|(_, _, flying)| flying.dst == elsewhere());
    for (_, _, flying) in to_thief {
        let seen = Seen::decode(&flying.data).expect("well-formed");
        assert_eq!(
            seen.len,
            0,
            "data went to the thief: {}",
            format_name(seen.format)
        );
    }
}

/// Octets sent to an address nobody has.
fn octets_to(world: &World, address: SocketAddr) -> u64 {
    let captured = world.net.captured.iter().flatten();
    captured
        .filter(|(_, _, flying)| flying.dst == address)
        .map(|(_, _, flying)| flying.data.len() as u64)
        .sum()
}

#[test]
fn a_forged_source_gets_at_most_three_times_what_it_sent() {
    let size = Size {
        message: 60,
        count: 3,
        answer: 20_000,
        pause: Duration::ZERO,
    };
    for kind in Paradigm::ALL {
        for listed in [false, true] {
            let mut world = pair();
            world.add_flow(kind.flow(size));
            if listed {
                // Afterwards the address is on the list of validated ones.
                crate::common::finish(&mut world);
            } else {
                world.net.link_mut(0, 1).set_up(false);
                world.run_for(50 * MS);
            }
            let first = world
                .net
                .captured
                .iter()
                .flatten()
                .find(|(_, from, _)| *from == 0)
                .cloned();
            let (_, _, flying) = first.expect("FIRST was sent");
            let mut octets = flying.data.to_vec();
            octets[7] ^= 0x55; // another key: another association
            reseal(&mut octets);
            world.net.captured = Some(Vec::new());
            let victim = if listed { world.net.address(0) } else { elsewhere() };
            if listed {
                // The owner of the address does not answer: it is cut off.
                world.net.link_mut(0, 1).link_mut(Direction::BToA).set_up(false);
            }
            world.inject(1, victim, &octets);
            world.run_for(120 * SECOND);
            let sent = octets_to(&world, victim);
            let got = octets.len() as u64;
            assert!(
                sent <= 3 * got,
                "{}: {sent} octets for {got}, listed {listed}",
                kind.name()
            );
        }
    }
}

/// Writes the header checksum anew.
fn reseal(octets: &mut [u8]) {
    octets[16] = 0;
    octets[17] = 0;
    let words = octets[..32]
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let mut sum = words.sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let check = !(sum as u16);
    octets[16..18].copy_from_slice(&check.to_be_bytes());
}

fn largest_data(world: &World) -> usize {
    records(world)
        .iter()
        .filter(|record| record.seen.len > 0)
        .map(|record| record.seen.size)
        .max()
        .unwrap_or(0)
}

#[test]
fn probes_find_what_the_path_carries() {
    for (mtu, expected, reported) in [
        (1_472, 1_472, false),
        (1_472, 1_472, true),
        (8_972, 8_972, false),
        (1_399, 1_200, false),
        (1_450, 1_400, false),
    ] {
        let mut world = crate::common::pair_over(&LinkConfig {
            mtu: Some(mtu),
            ..link(10 * MS)
        });
        world.net.report_too_big = reported;
        world.add_flow(long_transfer(true));
        finish_clean(&mut world);
        assert_eq!(
            largest_data(&world),
            expected,
            "path of {mtu}\n{}",
            crate::common::tail(&world)
        );
    }
}

/// A link of less than the base that says so: whatever was too long leaves again, cut, before any timer.
#[test]
fn a_narrow_link_that_says_so_costs_no_timer() {
    for mtu in [548, 572, 972, 1_172, 1_199] {
        let mut world = crate::common::pair_over(&LinkConfig {
            mtu: Some(mtu),
            ..link(10 * MS)
        });
        world.net.report_too_big = true;
        let steps = vec![pour(60_000), Step::CloseWriter];
        world.add_flow(stream_flow(steps, vec![Step::AwaitEnd, Step::CloseWriter]));
        finish_clean(&mut world);
        let arrived = |record: &&xtp_sim::trace::Record| record.seen.len > 0 && !record.fate.is_lost();
        let last = records(&world).iter().rev().find(arrived).expect("data arrived");
        assert!(last.seen.size <= mtu);
        assert!(
            Duration::from_nanos(last.at) < 800 * MS,
            "{mtu}: {}",
            crate::common::tail(&world)
        );
    }
}

#[test]
fn a_black_hole_is_noticed_and_the_transfer_goes_on() {
    for (mtu, reported) in [(1_200, false), (1_200, true), (1_300, false), (1_300, true)] {
        let mut world = crate::common::pair_over(&LinkConfig {
            mtu: Some(1_472),
            ..link(10 * MS)
        });
        world.net.report_too_big = reported;
        world.add_flow(long_transfer(true));
        let narrow = LinkConfig {
            mtu: Some(mtu),
            ..link(10 * MS)
        };
        world.schedule(
            1_500 * MS,
            Fault::Configure {
                one: 0,
                two: 1,
                config: Box::new(narrow),
            },
        );
        finish_clean(&mut world);
        assert!(
            largest_data(&world) > mtu,
            "it was larger before ({mtu}, {reported})\n{}",
            crate::common::tail(&world)
        );
    }
}

/// A receiver that is not scheduled for half a second answers nothing, whatever the size of what it is sent; nor does one
/// behind a link that is down, where all that was sent is lost besides. Neither says anything about sizes.
#[test]
fn a_pause_leaves_the_size_as_it_is() {
    for lost in [false, true] {
        let mut world = crate::common::pair_over(&LinkConfig {
            mtu: Some(1_472),
            rate_bits_per_s: Some(20_000_000),
            ..link(10 * MS)
        });
        let mut flow = stream_flow(
            vec![pour(8_000_000), Step::CloseWriter],
            vec![Step::AwaitEnd, Step::CloseWriter],
        );
        flow.open.tuning.overrides.probe_mtu = true;
        flow.listen.tuning.overrides.probe_mtu = true;
        world.add_flow(flow);
        let (begin, end) = match lost {
            false => (Fault::Pause(1), Fault::Resume(1)),
            true => {
                let link = |up| Fault::Link { one: 0, two: 1, up };
                (link(false), link(true))
            }
        };
        world.schedule(1_500 * MS, begin);
        world.schedule(2_500 * MS, end);
        finish_clean(&mut world);
        let after = records(&world).iter().filter(|record| record.at > 2_900_000_000);
        let sizes: Vec<_> = after
            .filter(|record| record.seen.len > 0)
            .map(|record| record.seen.size)
            .collect();
        let full = sizes.iter().filter(|&&size| size == 1_472).count();
        assert!(
            full > 200 && 20 * full > 19 * sizes.len(),
            "{lost}: {full} of {}\n{}",
            sizes.len(),
            crate::common::tail(&world)
        );
    }
}

/// A path that carries long packets again gets them again within seconds.
#[test]
fn a_size_is_sought_again_soon_after_a_black_hole() {
    let path = |mtu| LinkConfig {
        mtu: Some(mtu),
        rate_bits_per_s: Some(20_000_000),
        ..link(10 * MS)
    };
    let mut world = crate::common::pair_over(&path(1_472));
    let mut flow = stream_flow(
        vec![pour(30_000_000), Step::CloseWriter],
        vec![Step::AwaitEnd, Step::CloseWriter],
    );
    flow.open.tuning.overrides.probe_mtu = true;
    flow.listen.tuning.overrides.probe_mtu = true;
    world.add_flow(flow);
    for (at, mtu) in [(1_500, 1_300), (3_500, 1_472)] {
        let config = Box::new(path(mtu));
        world.schedule(
            at * MS,
            Fault::Configure {
                one: 0,
                two: 1,
                config,
            },
        );
    }
    finish_clean(&mut world);
    let data = |from: u64, to: u64| {
        let span = from * 1_000_000..to * 1_000_000;
        let data = records(&world)
            .iter()
            .filter(move |record| record.seen.len > 0 && span.contains(&record.at));
        data.map(|record| record.seen.size)
    };
    assert!(data(3_000, 3_500).all(|size| size <= 1_300), "noticed");
    assert!(data(8_000, 8_500).all(|size| size == 1_472), "found again");
}

#[test]
fn a_first_larger_than_the_path_gets_through_in_parts() {
    let mut flow = FlowSpec::new(
        paradigm::one_shot(0),
        Script::new(vec![send(1_400), Step::CloseWriter]),
        Script::default(),
    );
    flow.open.tuning.overrides.max_data = 4_000;
    let mut world = crate::common::pair_over(&LinkConfig {
        mtu: Some(1_200),
        ..link(10 * MS)
    });
    world.add_flow(flow);
    finish_clean(&mut world);
}

#[test]
fn a_waiting_initiator_polls_an_answer_the_limit_cut_off() {
    // A request of 16 octets, unpadded, and an answer far above three times its datagram; its first flight is lost.
    for lost in [vec![], vec![1], vec![1, 2], vec![3, 4, 5]] {
        let mut world = pair();
        world
            .net
            .link_mut(0, 1)
            .set_script(xtp_link::Script::dropping(lost.iter().copied()));
        world.add_flow(Paradigm::Transaction.flow(Size {
            message: 16,
            count: 1,
            answer: 9_000,
            pause: Duration::ZERO,
        }));
        finish_clean(&mut world);
        let answered = world.task(0, Side::Initiator).expect("opened").reader.next;
        assert_eq!(answered, 9_000);
    }
}

#[test]
fn padding_lets_a_stated_answer_fit() {
    let mut flow = Paradigm::Transaction.flow(Size {
        message: 16,
        count: 1,
        answer: 1_000,
        pause: Duration::ZERO,
    });
    flow.open.expected_answer = 1_000;
    let mut world = pair();
    world.add_flow(flow);
    finish_clean(&mut world);
    assert_eq!(
        records(&world).len(),
        3,
        "L5 in three packets\n{}",
        world.ladder()
    );
}
