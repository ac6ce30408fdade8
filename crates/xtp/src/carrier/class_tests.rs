//! Which DSCP a priority gets.

use super::*;

fn marked(classes: &Classes, sort: Option<u16>, ecn: Ecn) -> u8 {
    let train = Train {
        dst: "127.0.0.1:9".parse().expect("an address"),
        src: None,
        ecn,
        sort,
        segment: 1,
        total: 1,
        count: 1,
        probe: false,
        pieces: 0..0,
    };
    classes.of(&train).bits()
}

#[test]
fn a_priority_has_the_dscp_of_the_least_urgent_bound_that_covers_it() {
    let classes = Classes::new(&[(100, 10), (5, 46)]).expect("both are DSCPs");
    for (sort, dscp) in [
        (None, 0),
        (Some(0), 46),
        (Some(5), 46),
        (Some(6), 10),
        (Some(100), 10),
        (Some(101), 0),
    ] {
        assert_eq!(marked(&classes, sort, Ecn::NotEct), dscp << 2, "{sort:?}");
        assert_eq!(marked(&classes, sort, Ecn::Ect0), dscp << 2 | 2, "{sort:?}");
    }
}

#[test]
fn without_a_choice_nothing_is_marked() {
    let none = Classes::new(&[]).expect("nothing is wrong with it");
    assert_eq!(marked(&none, Some(1), Ecn::Ect1), 1);
}

#[test]
fn what_is_no_dscp_is_refused() {
    assert!(Classes::new(&[(1, 63), (2, 64)]).is_none());
}
