//! Records on their way, with associations that end.

use super::*;
use crate::inbound::{Inbound, Item};
use crate::record::{Lane, Preface};
use bytes::Buf;
use proptest::prelude::*;

fn eager(length: usize) -> (Record, Bytes) {
    let record = Record::Eager {
        length: length as u64,
        tag: 1,
        word: 2,
    };
    (record, Bytes::from(vec![length as u8; length]))
}

/// Reads a stream from its beginning: serials and lengths of the records that are whole.
fn read(stream: &[u8]) -> Vec<(u64, u64)> {
    let preface = Preface {
        lane: Lane::Express,
        session: 1,
        believed: 0,
        next: 0,
    };
    let (mut inbound, mut found, mut open) = (Inbound::new(), Vec::new(), None);
    let mut octets = Bytes::from([&preface.encode()[..], stream].concat());
    while let Some(item) = inbound.next(&mut octets).unwrap() {
        match item {
            Item::Preface(_) | Item::Join => {}
            Item::Record(serial, record) if record.payload() == 0 => found.push((serial, 0)),
            Item::Record(serial, record) => open = Some((serial, record.payload())),
            Item::Payload { left: 0, .. } => found.extend(open.take()),
            Item::Payload { .. } => {}
        }
    }
    found
}

proptest! {
    #[test]
    fn every_record_comes_once_and_in_order_over_any_number_of_associations(
        lengths in proptest::collection::vec(0..3_000_usize, 1..20),
        associations in proptest::collection::vec((0..40_000_usize, 0..100_usize, 0..40_000_u64), 0..5),
    ) {
        let mut outgoing = Outgoing::new();
        let (mut expected, mut got, mut notes) = (0_u64, Vec::new(), Vec::new());
        let mut pushed = lengths.iter().enumerate();
        for (room, pushes, confirmed) in associations.into_iter().chain([(usize::MAX, 100, u64::MAX)]) {
            outgoing.begin(32);
            for (n, length) in pushed.by_ref().take(pushes) {
                let (record, payload) = eager(*length);
                prop_assert_eq!(outgoing.push(record, payload, Some(n)), n as u64);
            }
            let (mut stream, mut left) = (Vec::new(), room);
            let written: Result<(), ()> = outgoing.write(|piece| {
                let taken = piece.len().min(left);
                stream.extend_from_slice(&piece[..taken]);
                piece.advance(taken);
                left -= taken;
                Ok(())
            });
            prop_assert!(written.is_ok());
            for (serial, length) in read(&stream) {
                if serial == expected {
                    expected += 1;
                    got.push(length as usize);
                }
                prop_assert!(serial < expected);
            }
            // Whatever is confirmed was written.
            notes.extend(outgoing.confirm(confirmed.min(32 + stream.len() as u64)));
            prop_assert!(outgoing.first() <= expected);
        }
        prop_assert_eq!(&got, &lengths);
        prop_assert_eq!(notes, (0..lengths.len()).collect::<Vec<_>>());
        prop_assert_eq!((outgoing.unconfirmed(), outgoing.backlog(), outgoing.has_octets()), (0, 0, false));
    }
}

#[test]
fn what_is_given_up_is_told_and_serials_go_on() {
    let mut outgoing = Outgoing::new();
    let (record, payload) = eager(5);
    outgoing.push(record, payload.clone(), Some('a'));
    outgoing.push(record, payload.clone(), None);
    outgoing.push(record, payload.clone(), Some('b'));
    assert_eq!(outgoing.backlog(), 3 * 37);
    assert_eq!(outgoing.give_up().collect::<Vec<_>>(), ['a', 'b']);
    assert_eq!(
        (outgoing.first(), outgoing.backlog(), outgoing.has_octets()),
        (3, 0, false)
    );
    assert_eq!(outgoing.push(record, payload, Some('c')), 3);
}

#[test]
fn what_the_peer_says_it_has_is_confirmed_and_more_than_there_was_is_not() {
    let mut outgoing = Outgoing::new();
    outgoing.begin(32);
    let (record, payload) = eager(5);
    (0..3).for_each(|note| {
        outgoing.push(record, payload.clone(), Some(note));
    });
    let _ = outgoing.write(|piece| {
        piece.clear();
        Ok::<(), ()>(())
    });
    assert!(outgoing.confirm_below(4).is_none());
    let below = |outgoing: &mut Outgoing<i32>, serial| {
        outgoing.confirm_below(serial).map(Iterator::collect::<Vec<_>>)
    };
    assert_eq!(below(&mut outgoing, 2), Some(vec![0, 1]));
    assert_eq!(below(&mut outgoing, 1), Some(vec![]));
    assert_eq!(below(&mut outgoing, 3), Some(vec![2]));
}
