//! Neighbours in made-up time, with a count of our own of how often the core was taken.

use super::*;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

pub(super) fn switches() -> Option<u64> {
    Some(COUNT.get())
}

/// The core is taken from this thread.
pub(in crate::wait) fn take_core() {
    COUNT.set(COUNT.get() + 1);
}

fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

#[test]
fn a_machine_that_stood_still_is_no_neighbour() {
    let neighbours = Neighbours::default();
    neighbours.keep_away();
    assert_eq!(neighbours.meet(at(1)), None);
    take_core();
    assert_eq!(neighbours.meet(at(2)), Some(FIRST));
    assert_eq!(neighbours.meet(at(3)), None, "that was told");
}

#[test]
fn what_happened_long_ago_is_not_blamed_on_a_machine_that_stood_still() {
    let neighbours = Neighbours::default();
    neighbours.keep_away();
    take_core();
    (0..=READ_EVERY).for_each(|_| neighbours.keep_away());
    assert_eq!(neighbours.meet(at(1)), None);
}

#[test]
fn who_is_met_again_is_remembered_for_longer_until_he_stays_away() {
    let neighbours = Neighbours::default();
    let meet = || {
        take_core();
        neighbours.meet(at(1))
    };
    neighbours.keep_away();
    assert_eq!(
        [meet(), meet(), meet(), meet()],
        [Some(4_096), Some(16_384), Some(65_536), Some(65_536)]
    );
    (0..CALM - 1).for_each(|_| neighbours.keep_away());
    assert_eq!(meet(), Some(MOST), "not long enough");
    (0..CALM).for_each(|_| neighbours.keep_away());
    assert_eq!(meet(), Some(FIRST));
}

#[test]
fn after_a_while_they_are_forgiven_however_seldom_one_waits() {
    let neighbours = Neighbours::default();
    assert!(!neighbours.are_forgiven(at(1_000_000)), "nobody was met");
    neighbours.keep_away();
    take_core();
    neighbours.meet(at(1));
    assert!(!neighbours.are_forgiven(at(500)));
    assert!(neighbours.are_forgiven(at(501)));
    assert!(!neighbours.are_forgiven(at(502)), "once");
}
