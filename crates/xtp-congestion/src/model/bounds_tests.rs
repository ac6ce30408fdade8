//! Tests of what losses mean.

use super::*;
use xtp_core::Time;

const MS: Duration = Duration::from_millis(1);
const SEGMENT: u64 = 1_000;

/// A verdict on a round of 1000 packets on a path of 20 ms.
fn congested(lost: u64, longest: Duration) -> bool {
    let mut least = LeastRtt::default();
    least.sample(20 * MS, Time::ZERO);
    let mut round = Round::default();
    (0..4).for_each(|_| round.sample(longest, false));
    round.lost = lost * SEGMENT;
    is_congested(
        &round,
        (1_000 - lost) * SEGMENT,
        SEGMENT,
        &least,
        &mut Chance::default(),
    )
}

#[test]
fn chance_is_not_congestion() {
    for lost in [0, 1, 10, 20, 50] {
        assert!(!congested(lost, 21 * MS), "{lost} of 1000 without a queue");
    }
    assert!(!congested(10, 24 * MS), "one in a hundred with a little queue");
}

#[test]
fn heavy_loss_loss_with_a_queue_and_an_overflow_are() {
    assert!(congested(100, 20 * MS), "a tenth, whatever the queue");
    assert!(congested(30, 24 * MS), "three in a hundred that waited");
    assert!(congested(2, 40 * MS), "a full queue spills");
    let mut marked = Round::default();
    marked.marked = true;
    let mut chance = Chance::default();
    assert!(is_congested(
        &marked,
        1_000,
        SEGMENT,
        &LeastRtt::default(),
        &mut chance
    ));
}

#[test]
fn bounds_fall_and_rise_again() {
    let mut bounds = Bounds::default();
    assert_eq!(bounds.get(false, 0), u64::MAX);
    bounds.reduce(100_000, 40_000);
    assert_eq!(bounds.get(false, 0), 70_000);
    bounds.reduce(100_000, 40_000);
    assert_eq!(bounds.get(true, 0), 49_000);
    bounds.reduce(100_000, 40_000);
    assert_eq!(bounds.get(false, 0), 40_000, "the product stays");
    bounds.probe();
    assert_eq!(bounds.get(false, 0), u64::MAX);
    bounds.probe_failed(100_000, 60_000);
    assert_eq!(bounds.get(true, 0), 85_000);
    assert_eq!(bounds.get(false, 0), 72_250, "room for others between probes");
    assert_eq!(bounds.get(false, 80_000), 80_000, "but not below the product");
    bounds.raise(80_000, 4_000);
    assert_eq!(bounds.get(true, 0), 85_000, "not reached");
    bounds.raise(84_000, 4_000);
    assert_eq!(bounds.get(true, 0), 86_000);
}

#[test]
fn what_a_path_always_loses_is_no_overflow_beside_a_queue() {
    let mut least = LeastRtt::default();
    least.sample(20 * MS, Time::ZERO);
    let mut chance = Chance::default();
    let mut round = |lost: u64, rtt| {
        let mut round = Round::default();
        (0..4).for_each(|_| round.sample(rtt, false));
        round.lost = lost * SEGMENT;
        is_congested(&round, (1_000 - lost) * SEGMENT, SEGMENT, &least, &mut chance)
    };
    assert!(round(10, 40 * MS), "nothing was lost before");
    for _ in 0..40 {
        assert!(!round(10, 21 * MS));
    }
    assert!(!round(14, 40 * MS), "about as many as ever");
    assert!(round(30, 40 * MS), "far more");
}
