//! Which holes are reported, and how often.

use super::*;

fn at(us: u64) -> Time {
    Time::from_nanos(us * 1_000)
}

#[test]
fn a_hole_is_reported_when_new_and_once_more_at_the_threshold() {
    let mut nak = FastNak::default();
    assert!(!nak.is_due(5, Some(20), at(0)), "there is no hole");
    nak.stored(true);
    nak.stored(false);
    assert!(nak.is_due(5, Some(20), at(0)));
    nak.reported(5, 20, at(0));
    nak.told();
    assert!(!nak.is_due(5, Some(23), at(999)), "too soon");
    assert!(!nak.is_due(5, Some(22), at(1_000)), "two packets behind it");
    assert!(nak.is_due(5, Some(23), at(1_000)));
    assert!(!nak.is_due(5, None, at(1_000)), "packets are not counted");
    nak.reported(5, 23, at(1_000));
    assert!(!nak.is_due(5, Some(40), at(9_000)), "twice is enough");
}

#[test]
fn another_hole_begins_anew_and_one_told_of_is_none() {
    let mut nak = FastNak::default();
    nak.stored(true);
    nak.reported(5, 20, at(0));
    nak.stored(true);
    assert!(!nak.is_due(5, None, at(2_000)), "it is known");
    assert!(nak.is_due(9, None, at(2_000)));
    nak.told();
    assert!(!nak.is_due(9, None, at(2_000)));
    nak.stored(true);
    nak.reported(9, 30, at(2_000));
    assert!(nak.is_due(9, Some(33), at(4_000)), "its first report");
}
