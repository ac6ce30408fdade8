//! A store that is full is within its limit; one octet more is not.

use super::*;

#[test]
fn one_more_than_the_limit_is_too_much() {
    let store = |held| Store {
        name: "tombstones",
        held,
        limit: 8,
    };
    assert_eq!(check(&[store(0), store(8)]), Ok(()));
    let error = check(&[store(8), store(9)]).expect_err("too many");
    assert_eq!(error, "9 tombstones, at most 8 may be kept");
}

#[test]
fn a_writer_keeps_what_is_not_acknowledged() {
    assert_eq!(check_writer(10_000, 5_000, 5_000), Ok(()));
    assert!(check_writer(10_001, 5_000, 5_000).is_err());
}
