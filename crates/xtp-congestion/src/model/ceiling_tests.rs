//! How far it gives way, and how it takes that back.

use super::*;

/// A ceiling after these rounds at a bandwidth of 100 000; what is cruised at after each.
fn rounds(queues: &[QueueState]) -> Vec<u64> {
    let mut ceiling = Ceiling::default();
    let mut after = |&queue: &QueueState| {
        ceiling.on_round(queue, 100_000);
        ceiling.of(100_000)
    };
    queues.iter().map(&mut after).collect()
}

#[test]
fn an_overflow_leaves_seven_tenths_and_another_not_less_than_six() {
    use QueueState::{Between, Full};
    assert_eq!(rounds(&[Between, Full]), [100_000, 70_000]);
    assert_eq!(
        rounds(&[Full, Full, Full, Between, Full]),
        [70_000, 70_000, 60_000, 60_000, 60_000],
        "reports of what left before tell nothing new"
    );
}

#[test]
fn rounds_without_a_queue_take_it_back_little_by_little() {
    use QueueState::{Between, Empty, Full};
    assert_eq!(
        rounds(&[Full, Between, Empty, Empty, Between]),
        [70_000, 70_000, 72_000, 74_000, 74_000]
    );
    let mut ceiling = Ceiling::default();
    ceiling.on_round(Full, 100_000);
    (0..14).for_each(|_| ceiling.on_round(Empty, 100_000));
    assert_eq!(ceiling.of(100_000), 98_000);
    assert_eq!(ceiling.of(200_000), 98_000);
    ceiling.on_round(Empty, 100_000);
    assert_eq!(ceiling.of(200_000), 200_000, "there is none at the bandwidth");
    ceiling.on_round(Full, 100_000);
    assert_eq!(ceiling.of(100_000), 70_000);
}

#[test]
fn it_falls_with_the_bandwidth_but_not_below_what_came() {
    let lowered = || {
        let mut ceiling = Ceiling::default();
        ceiling.on_round(QueueState::Full, 100_000);
        ceiling
    };
    for (now, came, left) in [
        (50_000, 10_000, 35_000),
        (50_000, 45_000, 45_000),
        (50_000, 80_000, 70_000),
        (120_000, 10_000, 70_000),
    ] {
        let mut ceiling = lowered();
        ceiling.follow(100_000, now, came);
        assert_eq!(ceiling.of(u64::MAX), left, "{now} and {came}");
    }
    let mut none = Ceiling::default();
    none.follow(100_000, 50_000, 10_000);
    assert_eq!(none.of(100_000), 100_000);
}
