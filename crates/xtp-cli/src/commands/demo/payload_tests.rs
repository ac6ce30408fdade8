//! Payloads are recognised, and damaged ones are not.

use super::{age, make};

#[test]
fn what_was_made_is_recognised() {
    for size in [8, 9, 100, 10_000] {
        let octets = make(size);
        assert_eq!(octets.len(), size);
        assert!(age(&octets, size).is_some());
    }
}

#[test]
fn what_was_damaged_is_not() {
    let octets = make(100);
    for place in 8..100 {
        let mut damaged = octets.clone();
        damaged[place] ^= 1;
        assert!(age(&damaged, 100).is_none(), "{place}");
    }
    assert!(age(&octets[..99], 100).is_none());
    assert!(age(&[], 0).is_none());
}
