//! Transfers that are over before a path is known, in virtual time: 100 Mbit/s at 40 ms.

use std::fmt::Write as _;

use crate::common::{MS, bulk, finish_clean};
use expect_test::expect;
use xtp_engine::CongestionKind;
use xtp_link::{LinkConfig, Loss};
use xtp_sim::trace::Side;
use xtp_sim::world::World;

const RATE: u64 = 100_000_000;
/// Seeds of a cell with loss.
const SEEDS: u64 = 9;

/// Milliseconds until the receiver has all.
fn took(octets: u32, loss: f64, kind: CongestionKind, seed: u64) -> f64 {
    let link = LinkConfig {
        rate_bits_per_s: Some(RATE),
        delay: 20 * MS,
        queue_octets: Some(LinkConfig::default_queue(RATE, 40 * MS)),
        loss: match loss > 0.0 {
            true => Loss::Random(loss),
            false => Loss::None,
        },
        overhead_octets: 28,
        mtu: Some(1_472),
        ..LinkConfig::default()
    };
    let mut world = World::pair(seed, &link);
    world.packet_limit = u64::MAX;
    let mut flow = bulk(octets);
    flow.open.tuning.congestion = kind;
    world.add_flow(flow);
    finish_clean(&mut world);
    let end = world.task(0, Side::Responder).map_or(0, |task| task.finished_at);
    end as f64 / 1e6
}

/// The median of several seeds.
fn median(octets: u32, loss: f64, kind: CongestionKind) -> f64 {
    let seeds = if loss > 0.0 { SEEDS } else { 1 };
    let mut all: Vec<f64> = (1..=seeds).map(|seed| took(octets, loss, kind, seed)).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Beside what nothing can undercut: ten packets at first, twice as many a round trip, half a round trip to the other end, and the
/// time that the link takes for all.
#[test]
fn table() {
    let mut table = String::from("ms       loss   model   cubic   doubling from ten packets\n");
    for octets in [100_000, 1_000_000, 10_000_000] {
        for loss in [0.0, 0.01] {
            let times = [CongestionKind::Auto, CongestionKind::Cubic].map(|kind| median(octets, loss, kind));
            let _ = write!(table, "{:<8} {loss:<5}", octets / 1_000);
            let _ = writeln!(
                table,
                " {:>7.1} {:>7.1} {:>7.1}",
                times[0],
                times[1],
                doubling(octets)
            );
        }
    }
    expect![[r#"
        ms       loss   model   cubic   doubling from ten packets
        100      0       188.0   188.6   104.7
        100      0.01    189.7   195.9   104.7
        1000     0       338.1   377.3   267.7
        1000     0.01    375.6  1856.3   267.7
        10000    0      1100.0  1249.2  1017.7
        10000    0.01   1152.4 22983.4  1017.7
    "#]]
    .assert_eq(&table);
}

/// Milliseconds.
fn doubling(octets: u32) -> f64 {
    let (mut left, mut window, mut start) = (f64::from(octets) / 1_440.0, 10.0, 0.0);
    let packet = 1_500.0 * 8e3 / RATE as f64;
    let product = 40.0 / packet;
    while left > window && window < product {
        (left, window, start) = (left - window, 2.0 * window, start + 40.0);
    }
    start + left * packet + 20.0
}
