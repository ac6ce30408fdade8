//! Content is a function of key and position.

use super::{first_difference, make};

#[test]
fn a_slice_equals_the_same_positions_of_a_longer_piece() {
    let whole = make(7, 0, 100);
    for at in 0..20u64 {
        for len in 0..30usize {
            assert_eq!(make(7, at, len), whole[at as usize..at as usize + len]);
        }
    }
}

#[test]
fn a_wrong_octet_is_found_where_it_is() {
    let mut piece = make(9, 13, 50).to_vec();
    assert_eq!(first_difference(9, 13, &piece), None);
    piece[21] ^= 1;
    assert_eq!(first_difference(9, 13, &piece), Some(34));
    assert_eq!(first_difference(8, 13, &piece), Some(13));
}
