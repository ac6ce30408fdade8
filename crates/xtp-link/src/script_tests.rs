//! Scripted faults.

use super::*;
use crate::{DropCause, Link, Outcome};

#[test]
fn a_mask_and_a_list_of_indices_mean_the_same() {
    let script = Script::dropping([9, 0, 3, 0]);
    assert_eq!(script, Script::from_mask(0b10_0000_1001));
    assert_eq!(script.len(), 3);
    assert!(Script::default().is_empty());
}

#[test]
fn indices_beyond_the_mask_are_dropped_too() {
    let script = Script::dropping([1_000, 64, 63, 64]);
    let dropped: Vec<u64> = (0..2_000).filter(|&index| script.drops(index)).collect();
    assert_eq!(dropped, [63, 64, 1_000]);
}

#[test]
fn every_subset_of_the_first_four_packets_is_dropped_exactly() {
    for mask in 0..16u64 {
        let mut link = Link::scripted(Script::from_mask(mask));
        for index in 0..8u64 {
            let dropped = index < 4 && mask >> index & 1 == 1;
            let expected = if dropped {
                Outcome::Dropped(DropCause::Script)
            } else {
                Outcome::Queued
            };
            assert_eq!(link.send(0, index, 100), expected);
        }
        let arrived: Vec<u64> = std::iter::from_fn(|| link.receive(0))
            .map(|arrival| arrival.packet)
            .collect();
        let expected: Vec<u64> = (0..8)
            .filter(|&index| index >= 4 || mask >> index & 1 == 0)
            .collect();
        assert_eq!(arrived, expected);
        assert_eq!(link.stats().dropped.script, u64::from(mask.count_ones()));
    }
}
