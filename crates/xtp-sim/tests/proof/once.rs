//! At most once (§6.9): duplicates early and late, restarts, eviction, clocks that disagree.

use core::net::SocketAddr;

use crate::common::{MS, SECOND, finish_clean, link, recorded};
use bytes::Bytes;
use xtp_engine::{CloseReason, EngineConfig};
use xtp_sim::app::Outcome;
use xtp_sim::fault::Fault;
use xtp_sim::host::HostConfig;
use xtp_sim::packet::Seen;
use xtp_sim::paradigm::{Paradigm, Size};
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::Format;

const SIZE: Size = Size {
    message: 50,
    count: 1,
    answer: 80,
    pause: std::time::Duration::ZERO,
};

const SERVICES: [Paradigm; 6] = [
    Paradigm::AcknowledgedDatagram,
    Paradigm::AcknowledgedDelivered,
    Paradigm::OneShot,
    Paradigm::Transaction,
    Paradigm::TransactionUnconfirmed,
    Paradigm::TransactionSlow,
];

/// Two hosts whose configurations `change` may touch.
fn pair_with(change: impl Fn(usize, &mut HostConfig)) -> World {
    let configs = (0..2usize).map(|number| {
        let mut config = HostConfig::new(EngineConfig::new([number as u8 + 1; 32]));
        change(number, &mut config);
        config
    });
    recorded(World::new(1, configs.collect(), &link(20 * MS), false).expect("valid settings"))
}

/// The FIRSTs put on the link, with their source.
fn firsts(world: &World) -> Vec<(SocketAddr, Bytes)> {
    let captured = world.net.captured.iter().flatten();
    let first = |data: &Bytes| Seen::decode(data).is_ok_and(|seen| seen.format == Format::First);
    captured
        .filter(|(_, _, flying)| first(&flying.data))
        .map(|(_, _, flying)| (flying.src, flying.data.clone()))
        .collect()
}

#[test]
fn a_duplicate_of_first_is_accepted_once_early_and_late() {
    for paradigm in SERVICES {
        let mut world = pair_with(|_, _| {});
        world.add_flow(paradigm.flow(SIZE));
        world.run_for(11 * MS);
        let (src, first) = firsts(&world)[0].clone();
        world.inject(1, src, &first);
        world.run_for(MS);
        assert_eq!(world.flows[0].accepted, 1, "{} 1 ms later", paradigm.name());
        finish_clean(&mut world);
        for wait in [5 * SECOND, 15 * SECOND, 30 * SECOND - 100 * MS] {
            world.run_for(wait);
            world.inject(1, src, &first);
            world.run_for(MS);
            assert_eq!(world.flows[0].accepted, 1, "{} {wait:?} later", paradigm.name());
        }
    }
}

#[test]
fn a_duplicate_from_another_port_is_accepted_once_and_learns_nothing() {
    for paradigm in SERVICES {
        let mut world = pair_with(|_, _| {});
        world.add_flow(paradigm.flow(SIZE));
        finish_clean(&mut world);
        let (mut src, first) = firsts(&world)[0].clone();
        src.set_port(50_000);
        world.run_for(SECOND);
        let before = world.net.captured.iter().flatten().count();
        world.inject(1, src, &first);
        world.run_for(SECOND);
        assert_eq!(world.flows[0].accepted, 1, "{}", paradigm.name());
        let answers = world
            .net
            .captured
            .iter()
            .flatten()
            .skip(before)
            .filter(|(_, from, _)| *from == 1);
        for (_, _, flying) in answers {
            let seen = Seen::decode(&flying.data).expect("well-formed");
            assert_eq!(
                seen.len,
                0,
                "{}: cached data went to another source",
                paradigm.name()
            );
        }
    }
}

#[test]
fn a_duplicate_after_a_restart_is_refused() {
    for offset in [-5_000, 0, 5_000] {
        for paradigm in SERVICES {
            let mut world = pair_with(|number, config| config.utc_ms += if number == 0 { offset } else { 0 });
            world.add_flow(paradigm.flow(SIZE));
            finish_clean(&mut world);
            let (src, first) = firsts(&world)[0].clone();
            world.apply(Fault::Crash(1));
            world.run_for(100 * MS);
            world.apply(Fault::Restart(1));
            world.run_for(SECOND);
            world.inject(1, src, &first);
            world.run_for(SECOND);
            assert_eq!(
                world.flows[0].accepted,
                1,
                "{} client's clock off {offset} ms",
                paradigm.name()
            );
        }
    }
}

/// How far a client's clock may be from the responder's, milliseconds.
const SKEWS: [i64; 9] = [
    -365 * 86_400_000,
    -86_400_000,
    -60_000,
    -5_000,
    0,
    5_000,
    60_000,
    86_400_000,
    365 * 86_400_000,
];

fn firsts_of(world: &World, flow: usize) -> usize {
    let port = world.flows[flow].port;
    let mut associations = world.net.check.associations.iter().enumerate();
    let mine =
        associations.find_map(|(number, association)| (association.port == Some(port)).then_some(number));
    let mut all: Vec<_> = mine.into_iter().collect();
    all.extend(
        associations
            .filter(|(_, other)| other.port == Some(port))
            .map(|(number, _)| number),
    );
    let first = |record: &&xtp_sim::trace::Record| {
        record.seen.format == Format::First && record.end.is_some_and(|(number, _)| all.contains(&number))
    };
    crate::common::records(world).iter().filter(first).count()
}

/// The first request to a responder that was just started is refused, whatever the clocks say, and repeated at once under
/// the responder's name; the next one names it at once.
#[test]
fn a_request_to_a_responder_just_started_is_answered_whatever_the_clocks_say() {
    for skew in SKEWS {
        for paradigm in SERVICES {
            let mut world = pair_with(|number, config| config.utc_ms += if number == 0 { skew } else { 0 });
            world.apply(Fault::Crash(1));
            world.apply(Fault::Restart(1));
            world.run_for(SECOND);
            for number in 0..3u32 {
                let mut flow = paradigm.flow(SIZE);
                flow.start = SECOND + number * 10 * SECOND;
                world.add_flow(flow);
            }
            finish_clean(&mut world);
            let context = format!(
                "{} with a clock off {skew} ms\n{}",
                paradigm.name(),
                world.ladder()
            );
            for (flow, firsts) in [(0, 2), (1, 1), (2, 1)] {
                assert_eq!(world.flows[flow].accepted, 1, "{context}");
                assert_eq!(firsts_of(&world, flow), firsts, "flow {flow}, {context}");
            }
        }
    }
}

/// However often its FIRST is lost on the way to a responder that was started little before it left, and whichever way the two
/// clocks run: the refusal proves that nobody ran it.
#[test]
fn losses_on_the_way_to_a_responder_just_started_leave_nothing_unknown() {
    for drift_ppm in [-2_500, 0, 2_500] {
        for lost in 0..5 {
            let mut world = pair_with(|number, config| {
                config.clock.drift_ppm = if number == 1 { drift_ppm } else { 0 };
            });
            world
                .net
                .link_mut(0, 1)
                .set_script(xtp_link::Script::dropping(0..lost));
            world.apply(Fault::Crash(1));
            world.apply(Fault::Restart(1));
            world.run_for(300 * MS);
            world.add_flow(Paradigm::AcknowledgedDatagram.flow(SIZE));
            finish_clean(&mut world);
            assert_eq!(world.flows[0].accepted, 1, "{lost} lost\n{}", world.ladder());
        }
    }
}

/// Where it left before the responder was started, an instance before may have run it: nobody repeats it.
#[test]
fn a_request_older_than_the_responder_is_not_repeated() {
    for skew in SKEWS {
        let mut world = pair_with(|number, config| config.utc_ms += if number == 0 { skew } else { 0 });
        world
            .net
            .link_mut(0, 1)
            .set_script(xtp_link::Script::dropping([1]));
        world.add_flow(Paradigm::Transaction.flow(SIZE));
        // It is executed, and the answer never seen.
        world.run_for(11 * MS);
        assert_eq!(world.flows[0].accepted, 1);
        world.apply(Fault::Crash(1));
        world.run_for(100 * MS);
        world.apply(Fault::Restart(1));
        crate::common::finish(&mut world);
        let outcome = world.outcome(0, Side::Initiator);
        let unknown = |outcome: &Outcome| {
            matches!(
                outcome,
                Outcome::Closed(CloseReason::ExecutionUnknown { started: Some(_) })
            )
        };
        assert!(
            outcome.is_some_and(unknown),
            "{skew}: {outcome:?}\n{}",
            world.ladder()
        );
        assert_eq!(world.flows[0].accepted, 1, "{skew}");
    }
}

/// A copy of a request that was refused and repeated is run by no instance, now or later, as long as copies live.
#[test]
fn a_copy_of_what_was_repeated_is_run_by_nobody() {
    for skew in SKEWS {
        let mut world = pair_with(|number, config| config.utc_ms += if number == 0 { skew } else { 0 });
        world.apply(Fault::Crash(1));
        world.apply(Fault::Restart(1));
        world.run_for(SECOND);
        let mut flow = Paradigm::Transaction.flow(SIZE);
        flow.start = SECOND;
        world.add_flow(flow);
        finish_clean(&mut world);
        let copies = firsts(&world);
        assert_eq!(copies.len(), 2);
        for _ in 0..4 {
            for (src, copy) in &copies {
                world.inject(1, *src, copy);
            }
            world.run_for(6 * SECOND);
        }
        world.apply(Fault::Crash(1));
        world.apply(Fault::Restart(1));
        for _ in 0..4 {
            for (src, copy) in &copies {
                world.inject(1, *src, copy);
            }
            world.run_for(6 * SECOND);
        }
        assert_eq!(world.flows[0].accepted, 1, "{skew}\n{}", world.ladder());
    }
}

#[test]
fn a_repeatable_request_of_a_slow_clock_is_repeated_with_the_servers_time() {
    let mut world = pair_with(|number, config| config.utc_ms -= if number == 0 { 5_000 } else { 0 });
    world.apply(Fault::Crash(1));
    world.apply(Fault::Restart(1));
    let mut flow = Paradigm::Transaction.flow(SIZE);
    flow.open.repeatable = true;
    world.add_flow(flow);
    finish_clean(&mut world);
    assert_eq!(world.flows[0].accepted, 1);
}

#[test]
fn a_duplicate_after_eviction_is_not_executed() {
    let mut world = pair_with(|number, config| {
        if number == 1 {
            config.engine.overrides.max_tombstones = 4;
            config.engine.overrides.max_clients = 1;
        }
    });
    for number in 0..20u32 {
        let mut flow = Paradigm::AcknowledgedDatagram.flow(SIZE);
        flow.start = 100 * MS * number;
        world.add_flow(flow);
    }
    finish_clean(&mut world);
    for (src, first) in firsts(&world) {
        world.inject(1, src, &first);
        world.run_for(10 * MS);
    }
    for (number, flow) in world.flows.iter().enumerate() {
        assert_eq!(flow.accepted, 1, "flow {number}");
    }
}

#[test]
fn many_one_shots_of_one_client_leave_a_small_table() {
    let mut world = pair_with(|_, _| {});
    world.packet_limit = 1_000_000;
    for number in 0..2_000u32 {
        let mut flow = Paradigm::OneShot.flow(SIZE);
        flow.start = MS / 10 * number;
        world.add_flow(flow);
    }
    finish_clean(&mut world);
    let stats = world.hosts[1].engine.view().stats();
    assert_eq!(stats.refused_age, 0);
    assert!(stats.tombstones <= 1_100, "{} tombstones", stats.tombstones);
}
