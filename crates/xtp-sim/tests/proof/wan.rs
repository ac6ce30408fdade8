//! Long paths and shared ones, in virtual time: what the default controller makes of them.

use std::fmt::Write as _;
use std::time::Duration;

use crate::common::{MS, SECOND, pour, tail};
use expect_test::expect;
use xtp_engine::CongestionKind;
use xtp_link::{Direction, LinkConfig, Loss};
use xtp_sim::app::{Script, Step};
use xtp_sim::flow::FlowSpec;
use xtp_sim::trace::Side;
use xtp_sim::world::World;

/// A bottleneck with a queue of one bandwidth-delay product.
fn path(mbit: u64, rtt: Duration, loss: f64) -> World {
    let rate = mbit * 1_000_000;
    let config = LinkConfig {
        rate_bits_per_s: Some(rate),
        delay: rtt / 2,
        queue_octets: Some(LinkConfig::default_queue(rate, rtt)),
        loss: if loss > 0.0 {
            Loss::Random(loss)
        } else {
            Loss::None
        },
        overhead_octets: 28,
        mtu: Some(1_472),
        ..LinkConfig::default()
    };
    let mut world = World::pair(7, &config);
    world.packet_limit = u64::MAX;
    world
}

/// Octets without an end, from `start` on.
fn endless(kind: CongestionKind, start: Duration) -> FlowSpec {
    let mut flow = FlowSpec::new(
        xtp_engine::paradigm::stream(0),
        Script::new(vec![pour(u32::MAX)]),
        Script::new(vec![Step::AwaitEnd]),
    );
    flow.open.tuning.congestion = kind;
    flow.start = start;
    flow
}

fn read(world: &World, flow: usize) -> u64 {
    world
        .task(flow, Side::Responder)
        .map_or(0, |task| task.reader.next)
}

/// Megabits a second of every flow during the next `span`.
fn goodput(world: &mut World, span: Duration) -> Vec<f64> {
    let flows = 0..world.flows.len();
    let before: Vec<_> = flows.clone().map(|flow| read(world, flow)).collect();
    world.run_for(span);
    assert!(world.failure.is_none(), "{:?}\n{}", world.failure, tail(world));
    flows
        .map(|flow| (read(world, flow) - before[flow]) as f64 * 8e-6 / span.as_secs_f64())
        .collect()
}

fn mean_queue_ms(world: &mut World) -> f64 {
    let link = world.net.link_mut(0, 1).link(Direction::AToB);
    link.stats().queue_delay.mean() as f64 / 1e6
}

#[test]
fn loss_by_round_trip_by_controller() {
    let mut table = String::from(
        "Mbit/s on a link of 100 Mbit/s over 4 s, and the mean time in its queue\nloss     rtt      model           cubic\n",
    );
    for loss in [0.0, 0.001, 0.01] {
        for rtt in [20 * MS, 100 * MS, 200 * MS] {
            let percent = format!("{:.1} %", loss * 100.0);
            let _ = write!(table, "{percent:<8} {:<8}", format!("{rtt:?}"));
            for kind in [CongestionKind::Auto, CongestionKind::Cubic] {
                let mut world = path(100, rtt, loss);
                world.add_flow(endless(kind, Duration::ZERO));
                let came = goodput(&mut world, 4 * SECOND)[0];
                let queue = mean_queue_ms(&mut world);
                let _ = write!(table, " {came:>5.1} {queue:>5.1} ms ");
            }
            table = table.trim_end().to_owned() + "\n";
        }
    }
    expect![[r#"
        Mbit/s on a link of 100 Mbit/s over 4 s, and the mean time in its queue
        loss     rtt      model           cubic
        0.0 %    20ms      93.8   0.6 ms   93.0  15.7 ms
        0.0 %    100ms     80.1   7.3 ms   77.1  60.2 ms
        0.0 %    200ms     59.4  31.9 ms   57.7 116.6 ms
        0.1 %    20ms      93.6   0.6 ms   17.9   0.3 ms
        0.1 %    100ms     79.8   7.4 ms    4.0   0.3 ms
        0.1 %    200ms     55.6  32.0 ms    2.5   0.3 ms
        1.0 %    20ms      92.4   0.6 ms   10.0   0.3 ms
        1.0 %    100ms     77.2   7.1 ms    2.5   0.3 ms
        1.0 %    200ms     49.7  30.4 ms    1.6   0.3 ms
    "#]]
    .assert_eq(&table);
}

/// 500 Mbit/s: the twelfth round trip carries four fifths of the link, whatever the round trip; the link loses nothing
/// to a queue of one product.
#[test]
fn the_twelfth_round_trip_is_nearly_full() {
    for rtt in [20 * MS, 100 * MS, 200 * MS] {
        let mut world = path(500, rtt, 0.0);
        world.add_flow(endless(CongestionKind::Auto, Duration::ZERO));
        goodput(&mut world, 11 * rtt);
        let twelfth = goodput(&mut world, rtt)[0];
        assert!(twelfth >= 0.8 * 500.0, "{twelfth} Mbit/s at {rtt:?}");
        goodput(&mut world, 3 * rtt);
        let drops = world.net.link_mut(0, 1).link(Direction::AToB).stats().dropped;
        assert_eq!(drops.queue_full, 0, "at {rtt:?}");
    }
}

/// One packet in a hundred lost costs one packet in a hundred, and memory follows the path: 100 ms at 500 Mbit/s
/// are 6.25 MB, more than what both ends begin with.
#[test]
fn a_long_fast_path_with_loss_stays_full() {
    let rtt = 100 * MS;
    let mut world = path(500, rtt, 0.01);
    world.add_flow(endless(CongestionKind::Auto, Duration::ZERO));
    goodput(&mut world, 14 * rtt);
    let came = goodput(&mut world, SECOND)[0];
    let link = 500.0 * 1_440.0 / 1_500.0 * 0.99;
    assert!(came >= 0.9 * link, "{came} of {link} Mbit/s");
}

/// Shares of each flow of the last 20 of 30 s; they begin 3 s after one another.
fn shares(kinds: &[CongestionKind]) -> (Vec<f64>, f64) {
    let mut world = path(100, 20 * MS, 0.0);
    for (number, kind) in (0..).zip(kinds) {
        world.add_flow(endless(*kind, 3 * number * SECOND));
    }
    goodput(&mut world, 10 * SECOND);
    let came = goodput(&mut world, 20 * SECOND);
    let total: f64 = came.iter().sum();
    assert!(total > 90.0, "{came:?}");
    let squares: f64 = came.iter().map(|share| share * share).sum();
    let jain = total * total / squares / came.len() as f64;
    (came.into_iter().map(|share| share / total).collect(), jain)
}

#[test]
fn two_flows_share() {
    let (shares, _) = shares(&[CongestionKind::Auto; 2]);
    assert!(shares.iter().all(|&share| share >= 0.4), "{shares:?}");
}

#[test]
fn four_flows_share() {
    let (shares, jain) = shares(&[CongestionKind::Auto; 4]);
    assert!(jain >= 0.95, "{jain} {shares:?}");
}

#[test]
fn cubic_beside_it_gets_its_part_and_leaves_it_one() {
    let (cubic, model) = (CongestionKind::Cubic, CongestionKind::Auto);
    for kinds in [[cubic, model], [model, cubic]] {
        let (shares, _) = shares(&kinds);
        assert!(shares.iter().all(|&share| share >= 0.4), "{kinds:?} {shares:?}");
    }
}

/// A cubic flow that has the link and keeps its queue half full lets a newcomer leave its start-up with a tenth of the
/// link. Probes then show the newcomer that it has little.
#[test]
fn a_newcomer_beside_cubic_has_its_part_after_seven_seconds() {
    let mut world = path(100, 20 * MS, 0.0);
    world.add_flow(endless(CongestionKind::Cubic, Duration::ZERO));
    world.add_flow(endless(CongestionKind::Auto, 3 * SECOND));
    goodput(&mut world, 10 * SECOND);
    let came = goodput(&mut world, 2 * SECOND);
    assert!(came.iter().all(|&came| came >= 30.0), "{came:?}");
}
