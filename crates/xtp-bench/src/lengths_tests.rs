//! Which lengths there are, and in which order.

use std::collections::BTreeSet;

use super::*;

#[test]
fn one_length_stays() {
    let mut lengths = Lengths::between(64, 64);
    assert_eq!([(); 4].map(|()| lengths.next()), [64; 4]);
}

#[test]
fn a_range_is_covered_and_no_length_comes_twice_in_a_row() {
    let mut lengths = Lengths::between(64, 256);
    let mut known = BTreeSet::new();
    let mut last = 0;
    for _ in 0..400 {
        let length = lengths.next();
        assert!(
            (64..=256).contains(&length) && length != last,
            "{length} after {last}"
        );
        last = length;
        known.insert(length);
    }
    assert_eq!(known.len(), 193);
    assert_eq!(lengths.most(), 256);
}

#[test]
fn the_longest_range_does_not_overflow() {
    let mut lengths = Lengths::between(1, crate::sizes::LONGEST);
    let most = [(); 100].map(|()| lengths.next()).into_iter().max();
    assert!(most.is_some_and(|most| most > 60 << 20 && most <= 64 << 20));
}
