//! Who is remembered, for how long, and how many.

use super::*;

fn transmitter(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], port))
}

#[test]
fn a_group_is_its_transmitter_and_its_key() {
    let mut tombstones = EndedGroups::new([7; 16]);
    tombstones.bury(transmitter(1), 5, Time::ZERO);
    let soon = Time::ZERO + Duration::from_secs(59);
    assert!(tombstones.holds(transmitter(1), 5, soon));
    assert!(!tombstones.holds(transmitter(1), 6, soon), "another key");
    assert!(!tombstones.holds(transmitter(2), 5, soon), "another transmitter");
    assert!(
        !tombstones.holds(transmitter(1), 5, Time::ZERO + LIFE),
        "60 s are over"
    );
}

#[test]
fn whoever_is_buried_again_is_remembered_from_then_on() {
    let mut tombstones = EndedGroups::new([7; 16]);
    let later = Time::ZERO + Duration::from_secs(30);
    tombstones.bury(transmitter(1), 5, Time::ZERO);
    tombstones.bury(transmitter(1), 5, later);
    tombstones.bury(transmitter(2), 5, Time::ZERO + Duration::from_secs(70));
    assert!(tombstones.holds(transmitter(1), 5, later + Duration::from_secs(59)));
}

#[test]
fn one_that_goes_on_for_others_is_remembered_as_long_as_it_is_heard() {
    let mut tombstones = EndedGroups::new([7; 16]);
    tombstones.bury(transmitter(1), 5, Time::ZERO);
    let at = |seconds: u64| Time::ZERO + Duration::from_millis(seconds * 1_000);
    assert!((0..600).all(|second| tombstones.hears(transmitter(1), 5, at(second))));
    assert!(
        tombstones.order.len() <= 3,
        "and is not written down at every packet"
    );
    assert!(
        !tombstones.hears(transmitter(1), 5, at(661)),
        "until it was silent for 60 s"
    );
}

#[test]
fn never_more_than_there_is_room_for() {
    let mut tombstones = EndedGroups::new([7; 16]);
    for key in 0..5_000 {
        tombstones.bury(transmitter(1), key, Time::ZERO);
    }
    assert_eq!((tombstones.order.len(), tombstones.until.len()), (MOST, MOST));
    assert!(
        !tombstones.holds(transmitter(1), 903, Time::ZERO),
        "the oldest go"
    );
    assert!(tombstones.holds(transmitter(1), 904, Time::ZERO));
    tombstones.bury(transmitter(1), 9_000, Time::ZERO + LIFE);
    assert_eq!(
        (tombstones.order.len(), tombstones.until.len()),
        (1, 1),
        "and those whose time is over"
    );
}
