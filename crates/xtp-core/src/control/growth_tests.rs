//! Tests of the growth of readers.

use super::*;

const MS: Duration = Duration::from_millis(1);
const MIB: u64 = 1 << 20;

/// What a reader of 4 MiB that may have 64 comes to after a second at this rate, looked at every millisecond.
fn after_a_second(rate: u64, rtt: Duration, waiting: u64) -> u64 {
    let mut growth = Growth::new(64 * MIB, Time::ZERO);
    growth.set_rtt(rtt);
    let mut capacity = 4 * MIB;
    for step in 1..=1_000 {
        let now = Time::ZERO + step * MS;
        capacity = growth.capacity(capacity, rate * u64::from(step) / 1_000, waiting, now);
    }
    capacity
}

#[test]
fn grows_to_a_few_round_trips_worth() {
    let rate = 12_500_000;
    assert_eq!(
        after_a_second(rate, 20 * MS, 0),
        4 * MIB,
        "a quarter of a megabyte a round trip"
    );
    let long = after_a_second(rate, 200 * MS, 0);
    assert_eq!(long, rate / 5 * ROUNDS, "five times what comes in a round trip");
}

#[test]
fn never_beyond_the_limit_and_not_for_a_user_who_is_slow() {
    assert_eq!(after_a_second(1 << 30, 200 * MS, 0), 64 * MIB);
    assert_eq!(after_a_second(1 << 30, 200 * MS, 2 * MIB), 4 * MIB);
}

#[test]
fn keeps_ahead_of_doubling() {
    let rtt = 100 * MS;
    let mut growth = Growth::new(64 * MIB, Time::ZERO);
    growth.set_rtt(rtt);
    let mut capacity = 64_000;
    let mut highest = 0;
    for round in 0..9 {
        for part in 0..10 {
            // Twice as much in each round trip as in the one before.
            let now = Time::ZERO + (round * 10 + part) * rtt / 10;
            highest += 1_000 << round;
            capacity = growth.capacity(capacity, highest, 0, now);
        }
        let next_round = 10 * (1_000_u64 << (round + 1));
        assert!(
            capacity >= next_round,
            "round {round}: {capacity} for {next_round}"
        );
    }
}

#[test]
fn a_near_peer_is_granted_no_more_than_at_first() {
    let near = NEAR - Duration::from_nanos(1);
    assert_eq!(after_a_second(40 << 30, near, 0), 4 * MIB);
    assert_eq!(after_a_second(40 << 30, Duration::from_micros(20), 0), 4 * MIB);
    assert_eq!(after_a_second(40 << 30, NEAR, 0), 64 * MIB, "not near any more");
    // As long as nothing is known of the peer it may be far.
    let mut growth = Growth::new(64 * MIB, Time::ZERO);
    let grown = growth.capacity(4 * MIB, 40 * MIB, 0, Time::ZERO + ASSUMED);
    assert_eq!(grown, 64 * MIB);
    growth.set_rtt(near);
    let later = Time::ZERO + 2 * ASSUMED;
    assert_eq!(
        growth.capacity(8 * MIB, 80 * MIB, 0, later),
        8 * MIB,
        "near after all"
    );
}
