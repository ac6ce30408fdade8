//! Rate and burst (§5.2), in virtual time.

use std::time::Duration;

use crate::common::{MS, SECOND, control_packets, finish_clean, pair, pour, records, send, stream_flow};
use xtp_engine::{CongestionKind, Rate};
use xtp_link::Script;
use xtp_sim::app::Step;
use xtp_sim::trace::Side;
use xtp_sim::world::World;
use xtp_wire::Format;

/// Octets of data packets (whole packets, as §1.7 counts them) that started in the window.
fn octets_between(world: &World, from: u64, to: u64) -> u64 {
    let within = records(world)
        .iter()
        .filter(|record| record.at >= from && record.at < to && record.seen.len > 0);
    within.map(|record| record.seen.packet_len as u64).sum()
}

/// An endless source limited by its own outrate; everything else out of the way.
fn source(rate: u64, burst: u32) -> World {
    let mut world = pair();
    world.packet_limit = 1_000_000;
    let mut flow = stream_flow(vec![pour(u32::MAX / 64)], vec![]);
    flow.open.tuning.congestion = CongestionKind::Fixed;
    flow.open.tuning.out_rate = Rate {
        octets_per_second: rate,
        burst,
    };
    flow.listen.tuning.recv_capacity = 64 << 20;
    world.add_flow(flow);
    world
}

#[test]
fn ten_seconds_at_a_rate() {
    for (rate, burst) in [
        (100_000, 1_500),
        (100_000, 20_000),
        (1_000_000, 3_000),
        (1_000_000, 100_000),
        (7_777, 1_200),
    ] {
        let mut world = source(rate, burst);
        world.run_for(11 * SECOND);
        // Never more than 2 b (or b and a packet) in b/r is a rule the world checks on every packet.
        assert_eq!(world.failure, None, "rate {rate} burst {burst}");
        let sent = octets_between(&world, 1_000_000_000, 11_000_000_000) as f64 / 10.0;
        let error = (sent / rate as f64 - 1.0).abs();
        assert!(
            error <= 0.01,
            "{sent} octets a second, rate {rate}, burst {burst}"
        );
    }
}

#[test]
fn a_burst_below_a_packet_still_moves() {
    for (rate, burst) in [(20_000, 1), (200_000, 50), (200_000, 500), (20_000, 1_031)] {
        let mut world = pair();
        let mut flow = stream_flow(
            vec![pour(60_000), Step::CloseWriter],
            vec![Step::AwaitEnd, Step::CloseWriter],
        );
        flow.open.tuning.congestion = CongestionKind::Fixed;
        flow.open.tuning.out_rate = Rate {
            octets_per_second: rate,
            burst,
        };
        world.add_flow(flow);
        finish_clean(&mut world);
        let data = records(&world)
            .iter()
            .filter(|record| record.seen.len > 0)
            .count();
        let control = control_packets(&world, Side::Initiator) + control_packets(&world, Side::Responder);
        assert!(
            control * 4 <= data + 16,
            "{control} control packets, {data} with data, rate {rate} burst {burst}"
        );
        let last = records(&world)
            .iter()
            .filter(|record| record.seen.len > 0)
            .map(|record| record.at)
            .max();
        let ideal = octets_between(&world, 0, u64::MAX) * 1_000_000_000 / rate;
        let took = last.unwrap_or(0);
        assert!(
            took >= ideal * 9 / 10 && took <= ideal * 11 / 10 + 300_000_000,
            "took {took} ns, ideal {ideal}"
        );
    }
}

#[test]
fn rate_zero_is_no_limit() {
    let mut world = source(0, 0);
    world.run_for(SECOND);
    assert_eq!(world.failure, None);
    assert!(octets_between(&world, 0, 1_000_000_000) > 10_000_000);
}

fn stopped(lift_after: Duration, lost: usize) -> (World, u64) {
    let mut world = pair();
    let stop = Rate {
        octets_per_second: 1_000_000,
        burst: 0,
    };
    let go = Rate {
        octets_per_second: 1_000_000,
        burst: 5_000,
    };
    world.add_flow(stream_flow(
        vec![
            send(50),
            Step::Until(300 * MS),
            pour(30_000),
            Step::Until(lift_after + 20 * SECOND),
            Step::CloseWriter,
        ],
        vec![
            Step::Until(200 * MS),
            Step::InRate(stop),
            Step::Until(lift_after),
            Step::InRate(go),
            Step::AwaitEnd,
            Step::CloseWriter,
        ],
    ));
    world.run_for(lift_after - MS);
    let packets_so_far = world.net.link_mut(0, 1).sent_packets();
    let before = world.task(0, Side::Responder).map_or(0, |task| task.reader.next);
    if lost > 0 {
        // The next packets the responder sends are the TCNTLs that lift the stop.
        world
            .net
            .link_mut(0, 1)
            .set_script(Script::dropping(packets_so_far..packets_so_far + lost as u64));
    }
    (world, before)
}

#[test]
fn burst_zero_stops_and_is_lifted_even_if_the_lifting_packet_is_lost() {
    for lift_after in [SECOND, 5 * SECOND, 40 * SECOND, 90 * SECOND] {
        for lost in [0, 1] {
            let (mut world, before) = stopped(lift_after, lost);
            assert_eq!(
                before,
                50,
                "sent although stopped (lift after {lift_after:?})\n{}",
                world.ladder()
            );
            world.run_for(SECOND + 100 * MS);
            let after = world.task(0, Side::Responder).map_or(0, |task| task.reader.next);
            assert!(
                after > 50,
                "not resumed within 1 s + rtt, {lift_after:?}, {lost} lost\n{}",
                world.ladder()
            );
            finish_clean(&mut world);
            assert_eq!(
                crate::common::repeated_and_lost(&world, Side::Initiator).0,
                0,
                "sent again\n{}",
                world.ladder()
            );
        }
    }
}

#[test]
fn the_peers_rate_is_obeyed_from_the_moment_it_is_known() {
    let mut world = pair();
    let mut flow = stream_flow(vec![send(50), Step::Until(SECOND), pour(8_000_000)], vec![]);
    flow.open.tuning.congestion = CongestionKind::Fixed;
    flow.listen.tuning.in_rate = Rate {
        octets_per_second: 200_000,
        burst: 3_000,
    };
    flow.listen.tuning.recv_capacity = 64 << 20;
    world.add_flow(flow);
    world.run_for(12 * SECOND);
    assert_eq!(world.failure, None);
    let rate = octets_between(&world, 2_000_000_000, 12_000_000_000) / 10;
    assert!((198_000..=202_000).contains(&rate), "{rate} octets a second");
    assert!(
        records(&world)
            .iter()
            .any(|record| record.seen.format == Format::Tcntl)
    );
}
