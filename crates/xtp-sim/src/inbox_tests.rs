//! Which neighbours come joined, and what of them is the whole.

use bytes::Bytes;
use xtp_engine::{Arrivals, Ecn};

use super::*;
use crate::world::address;

fn flying(from: usize, octets: usize) -> Flying {
    Flying {
        src: address(from, false),
        dst: address(9, false),
        ecn: Ecn::NotEct,
        data: Bytes::from(vec![octets as u8; octets]),
        left: 0,
    }
}

#[test]
fn equal_neighbours_are_joined_and_a_shorter_one_is_the_last() {
    let all = [(1, 5), (1, 5), (1, 3), (1, 3), (2, 3), (1, 7)].map(|(from, octets)| flying(from, octets));
    let (trains, places) = join(&all);
    assert_eq!(trains.iter().map(Bytes::len).collect::<Vec<_>>(), [13]);
    assert_eq!(
        places,
        [Some((0, 0)), Some((0, 5)), Some((0, 10)), None, None, None]
    );
    let mut inbox = Inbox::new(&all, &trains, places);
    let first = inbox.next().expect("there");
    assert_eq!((first.joined.data.len(), first.stride), (13, 5));
    assert!(first.joined.backing.is_some());
    inbox.skip_joined(2);
    let fourth = inbox.next().expect("there");
    assert_eq!((fourth.joined.data.len(), fourth.stride), (3, 3));
    assert!(fourth.joined.backing.is_none());
    assert_eq!(inbox.taken(), 4);
}

#[test]
fn only_one_datagram_or_one_train_comes_as_one() {
    let all = [flying(1, 5), flying(1, 5)];
    let (trains, places) = join(&all);
    let inbox = Inbox::new(&all, &trains, places);
    let only = inbox.only().map(|only| (only.joined.data.len(), only.stride));
    assert_eq!(only, Some((10, 5)));
    let inbox = Inbox::new(&all, &[], Vec::new());
    assert!(inbox.only().is_none());
    let inbox = Inbox::new(&all[..1], &[], Vec::new());
    assert_eq!(inbox.only().map(|only| only.joined.data.len()), Some(5));
}
