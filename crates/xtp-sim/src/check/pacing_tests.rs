//! What is too much, and what is not.

use super::*;

const ROUND: u64 = 100_000_000;

#[test]
fn a_window_at_once_is_too_much() {
    let mut check = PacingCheck::default();
    // 200 packets were acknowledged; as many leave at one moment.
    let gone = 200 * 1_440;
    let results: Vec<_> = (0..400).map(|_| check.sent(1, 1_440, gone, ROUND)).collect();
    let refused = results.iter().position(Result::is_err).expect("too much");
    // 12 packets, and two windows of 412 in 19.5 of 100 ms.
    assert_eq!(refused, 12 + 160);
}

#[test]
fn the_same_spread_over_the_round_trip_is_not() {
    let mut check = PacingCheck::default();
    for number in 0..400 {
        assert_eq!(
            check.sent(number * ROUND / 400, 1_440, 200 * 1_440, ROUND),
            Ok(())
        );
    }
}

#[test]
fn the_first_packets_leave_at_once() {
    let mut check = PacingCheck::default();
    for _ in 0..10 {
        assert_eq!(check.sent(1, 1_440, 0, ROUND), Ok(()));
    }
    assert!((0..30).any(|_| check.sent(1, 1_440, 0, ROUND).is_err()));
}

#[test]
fn short_round_trips_are_not_looked_at() {
    let mut check = PacingCheck::default();
    for _ in 0..1_000 {
        assert_eq!(check.sent(1, 1_440, 0, 1_000_000), Ok(()));
    }
}
