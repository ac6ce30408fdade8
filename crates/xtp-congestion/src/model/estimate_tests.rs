//! Tests of the two estimates.

use super::*;

const MS: Duration = Duration::from_millis(1);

fn at(millis: u32) -> Time {
    Time::ZERO + millis * MS
}

#[test]
fn the_most_of_two_cycles() {
    let mut bandwidth = Bandwidth::default();
    assert_eq!(bandwidth.get(), 0);
    bandwidth.sample(100);
    bandwidth.sample(90);
    assert_eq!(bandwidth.get(), 100);
    bandwidth.advance();
    bandwidth.sample(80);
    assert_eq!(bandwidth.get(), 100, "the cycle before counts");
    bandwidth.advance();
    assert_eq!(bandwidth.get(), 80);
    bandwidth.advance();
    bandwidth.advance();
    assert_eq!(bandwidth.get(), 80, "cycles without a sample forget nothing");
}

#[test]
fn the_least_round_trip_is_confirmed_by_similar_ones() {
    let mut least = LeastRtt::default();
    assert_eq!(least.get(), None);
    assert!(!least.is_old(at(60_000)));
    least.sample(20 * MS, at(0));
    least.sample(30 * MS, at(5_000));
    assert_eq!(least.get(), Some(20 * MS));
    assert_eq!(least.excess(30 * MS), 10 * MS);
    assert_eq!(least.excess(10 * MS), Duration::ZERO);
    assert!(least.is_old(at(10_001)));
    least.sample(Duration::from_micros(20_500), at(10_002));
    assert!(!least.is_old(at(20_000)), "as good as the least");
    assert_eq!(least.get(), Some(20 * MS));
    least.renew(Some(25 * MS), at(30_000));
    assert_eq!(least.get(), Some(25 * MS));
    least.renew(None, at(50_000));
    assert!(!least.is_old(at(60_000)));
    assert_eq!(least.get(), Some(25 * MS));
}

#[test]
fn what_alternates_is_jitter_and_what_grows_is_a_queue() {
    let mut least = LeastRtt::default();
    for number in 0..100 {
        least.sample((40 + 6 * (number % 2)) * MS, at(number));
    }
    assert_eq!(least.excess(46 * MS), 6 * MS);
    assert_eq!(least.waited(46 * MS), Duration::ZERO);
    assert!(least.waited(60 * MS) >= 7 * MS, "{:?}", least.waited(60 * MS));
    let mut least = LeastRtt::default();
    for number in 0..100 {
        least.sample((40 + number) * MS, at(number));
    }
    assert!(least.waited(60 * MS) >= 19 * MS, "{:?}", least.waited(60 * MS));
}

#[test]
fn little_jitter_explains_no_queue() {
    let mut least = LeastRtt::default();
    for number in 0..100 {
        least.sample((40 + number % 2) * MS, at(number));
    }
    assert_eq!(least.jitter(), Duration::ZERO);
    assert_eq!(least.queued(46 * MS), 6 * MS);
    for number in 0..100 {
        least.sample((40 + 6 * (number % 2)) * MS, at(100 + number));
    }
    assert_eq!(least.queued(46 * MS), Duration::ZERO);
}

#[test]
fn jitter_is_known_after_a_few_changes() {
    let mut least = LeastRtt::default();
    for (number, rtt) in [40, 47, 41, 46].into_iter().enumerate() {
        least.sample(rtt * MS, at(number as u32));
    }
    assert!(least.jitter() >= 5 * MS, "{:?}", least.jitter());
}

#[test]
fn what_is_usual_is_longer_than_the_least_where_it_jitters_only() {
    let mut least = LeastRtt::default();
    least.sample(40 * MS, at(0));
    assert!(!least.is_usual(40 * MS), "nothing is known of it");
    for number in 0..100 {
        least.sample((40 + 5 * (number % 2)) * MS, at(number));
    }
    assert!(least.is_usual(60 * MS), "{:?}", least.usual());
    assert!(!least.is_usual(70 * MS), "{:?}", least.usual());
}
