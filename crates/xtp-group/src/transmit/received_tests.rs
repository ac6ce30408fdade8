//! Tests of what is known of what came.

use super::*;

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(1_000 + millis)
}

/// A report each 50 ms: octets a second that left, and that came.
fn play(rates: impl IntoIterator<Item = (u64, u64)>) -> (ReceivedHistory, Time) {
    let (mut received, mut left, mut now) = (ReceivedHistory::default(), 0, at(0));
    received.note(1, 0, now);
    for (leaves, comes) in rates {
        now = now + SPACING;
        left += leaves / 20;
        received.note(comes, left, now);
    }
    (received, now)
}

#[test]
fn the_rate_since_a_moment() {
    let (received, now) = play([(1_000, 1_000), (1_000, 500), (1_000, 1_500)]);
    assert_eq!(received.rate_since(now), None, "no time");
    assert_eq!(received.rate_since(at(50)), Some(1_000));
    assert_eq!(received.rate_since(at(120)), Some(1_500));
    assert_eq!(received.rate_since(Time::ZERO), None);
}

#[test]
fn little_loss_limits_nothing_and_much_does() {
    let (received, _) = play([(1_000, 1_000), (1_500, 1_400), (1_500, 1_400)]);
    assert_eq!(received.most_where_much_is_lost(), None);
    let (received, _) = play([(1_000, 1_000), (1_000, 1_000), (2_000, 1_200), (2_000, 1_000)]);
    assert_eq!(received.most_where_much_is_lost(), Some(1_100));
    assert_eq!(
        play([(2_000, 1_000)]).0.most_where_much_is_lost(),
        None,
        "too short"
    );
}

#[test]
fn what_came_in_the_latest_probe_is_remembered() {
    let probe = [(2_000, 1_800); 2];
    let then = [(1_000, 900); 40];
    let (received, _) = play(probe.into_iter().chain(then));
    assert_eq!(received.most_where_much_is_lost(), Some(1_800));
    let (received, _) = play(probe.into_iter().chain([(1_000, 900); 80]));
    assert_eq!(received.most_where_much_is_lost(), Some(900));
}

#[test]
fn who_does_not_know_says_nothing() {
    let (received, now) = play([(1_000, 0); 10]);
    assert_eq!(
        (received.most_where_much_is_lost(), received.rate_since(now)),
        (None, None)
    );
}
