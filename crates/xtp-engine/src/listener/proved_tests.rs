//! Shares of those who have proved their addresses.

use core::net::{IpAddr, Ipv4Addr};

use super::Proved;
use xtp_core::hash::KeyedState;

fn source(number: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, number).into()
}

/// How many places each of `sources` gets that take turns until none gets one.
fn fill(places: &mut Proved, sources: core::ops::Range<u8>) -> Vec<usize> {
    let mut held = vec![0; sources.len()];
    loop {
        let mut any = false;
        for (number, held) in sources.clone().zip(&mut held) {
            if places.has_place(source(number)) {
                places.take(source(number));
                *held += 1;
                any = true;
            }
        }
        if !any {
            return held;
        }
    }
}

#[test]
fn a_source_holds_no_more_of_the_second_half_than_it_leaves_free() {
    for (count, each) in [(1, 76), (2, 25 + 17), (3, 17 + 13), (9, 5 + 5)] {
        let mut places = Proved::new(100, KeyedState::new([3; 16]));
        let held = fill(&mut places, 1..count + 1);
        assert!(held.iter().all(|held| held.abs_diff(each) <= 1), "{held:?}");
        assert!(places.has_place(source(200)), "{count}");
    }
    let mut places = Proved::new(1, KeyedState::new([3; 16]));
    assert_eq!(fill(&mut places, 1..2), [1]);
    assert!(!places.has_place(source(2)), "there is but one");
}

#[test]
fn what_left_is_free_for_all() {
    let mut places = Proved::new(10, KeyedState::new([3; 16]));
    let held = fill(&mut places, 1..4);
    for (number, held) in (1..4).zip(held) {
        for _ in 0..held {
            places.leave(source(number));
        }
    }
    places.leave(source(9));
    assert_eq!((places.taken, places.by_source.len()), (0, 0));
    assert_eq!(fill(&mut places, 4..5), [8]);
}
