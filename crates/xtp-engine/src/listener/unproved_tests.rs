//! Places, shares, and who gives way.

use core::net::{IpAddr, Ipv4Addr};

use super::{Full, Unproved};
use crate::event::ContextId;
use xtp_core::hash::KeyedState;

fn source(number: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, number).into()
}

fn places(limit: usize) -> Unproved {
    Unproved::new(limit, KeyedState::new([3; 16]))
}

#[test]
fn a_source_has_a_share_and_no_more() {
    let mut places = places(8);
    let held: Vec<_> = (0..2).map(|id| places.take(ContextId(id), source(1))).collect();
    assert_eq!(places.check(source(1), false), Err(Full::Share));
    assert_eq!(places.check(source(1), true), Ok(()));
    assert_eq!(places.check(source(2), false), Ok(()));
    places.leave(held[0], source(1));
    assert_eq!(places.check(source(1), false), Ok(()));
    assert_eq!(places.by_source.len(), 1);
    places.leave(held[1], source(1));
    assert_eq!(
        (places.by_source.len(), places.order.len(), places.taken),
        (0, 0, 0)
    );
}

#[test]
fn all_places_are_taken_whoever_asks() {
    let mut places = places(2);
    for number in 1..3 {
        assert_eq!(places.check(source(number), false), Ok(()));
        places.take(ContextId(number.into()), source(number));
    }
    assert_eq!(places.check(source(3), false), Err(Full::All));
    assert_eq!(places.check(source(3), true), Err(Full::All));
}

#[test]
fn the_oldest_that_is_there_gives_way() {
    let mut places = places(8);
    let held: Vec<_> = (0..4).map(|id| places.take(ContextId(id), source(1))).collect();
    places.leave(held[0], source(1));
    places.leave(held[2], source(1));
    assert_eq!(places.oldest(), Some(ContextId(1)));
    // Named once, and still there until it leaves.
    assert_eq!(places.taken, 2);
    places.leave(held[1], source(1));
    assert_eq!(places.oldest(), Some(ContextId(3)));
    assert_eq!(places.oldest(), None);
    assert_eq!(places.taken, 1);
}

#[test]
fn what_has_gone_takes_no_memory() {
    let mut places = places(64);
    let oldest = places.take(ContextId(0), source(9));
    for id in 1..10_000 {
        let place = places.take(ContextId(id), source(1));
        places.leave(place, source(1));
    }
    assert!(places.order.len() <= 2 * 64 + 64, "{}", places.order.len());
    places.leave(oldest, source(9));
    assert!(places.order.is_empty());
}
