//! What is remembered of addresses, for how long, and of how many.

use super::*;

fn address(number: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], number))
}

#[test]
fn those_that_answered_go_first_and_those_that_did_not_last() {
    let (mut reached, now) = (Reached::default(), Time::ZERO);
    let mut addresses = [1, 2, 3, 4].map(address);
    reached.sort(now, &mut addresses);
    assert_eq!(addresses, [1, 2, 3, 4].map(address));
    reached.note(now, address(1), false);
    reached.note(now, address(3), true);
    reached.sort(now, &mut addresses);
    assert_eq!(addresses, [3, 2, 4, 1].map(address));
    assert!(reached.has_answered(now, address(3)));
    assert!(!reached.has_answered(now, address(1)) && !reached.has_answered(now, address(2)));
}

#[test]
fn the_latest_outcome_counts_until_it_is_too_old() {
    let mut reached = Reached::default();
    let later = Time::ZERO + AGE / 2;
    reached.note(Time::ZERO, address(1), true);
    reached.note(later, address(1), false);
    assert!(!reached.has_answered(later, address(1)));
    reached.note(later, address(1), true);
    assert!(reached.has_answered(later + AGE / 2, address(1)));
    assert!(!reached.has_answered(later + AGE, address(1)));
    let mut addresses = [2, 1].map(address);
    reached.sort(later + AGE, &mut addresses);
    assert_eq!(addresses, [2, 1].map(address));
}

#[test]
fn the_memory_has_a_limit() {
    let mut reached = Reached::default();
    for number in 0..1_000 {
        reached.note(Time::ZERO, address(number), true);
        reached.note(Time::ZERO, address(number), true);
    }
    assert_eq!(reached.entries.len(), MOST);
    assert!(reached.has_answered(Time::ZERO, address(999)));
    assert!(!reached.has_answered(Time::ZERO, address(0)));
}
