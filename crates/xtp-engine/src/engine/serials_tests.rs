//! As a set of numbers, whatever comes and goes.

use super::Serials;
use std::collections::BTreeSet;

#[test]
fn the_lowest_of_those_that_came_and_did_not_go() {
    let (mut serials, mut model) = (Serials::default(), BTreeSet::new());
    let mut dice = 1_u64;
    for n in 1..5_000 {
        dice = dice
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        serials.insert(n);
        model.insert(n);
        // At times all go, at times none.
        for _ in 0..(dice >> 60) % 4 {
            let gone = match dice >> 62 {
                0 => model.last().copied(),
                1 => model.first().copied(),
                _ => model.iter().nth(model.len() / 2).copied(),
            };
            let gone = gone.unwrap_or(n);
            serials.remove(gone);
            model.remove(&gone);
            assert_eq!(serials.first(), model.first().copied());
        }
    }
}
