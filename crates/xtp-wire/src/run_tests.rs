//! What belongs to a run and what ends it.

use super::*;
use crate::{Format, Key, seal};
use std::vec::Vec;

const DATA: usize = 10;
const STRIDE: usize = HEADER_LEN + DATA;

fn header(index: u32) -> Header {
    Header {
        key: Key::returned(99),
        options: Options::NOCHECK | Options::EDGE,
        format: Format::Data,
        dlen: DATA as u32,
        check: 0,
        sort: 5,
        sync: (u32::MAX - 1).wrapping_add(index),
        seq: 1_000 + u64::from(index) * DATA as u64,
    }
}

fn append(octets: &mut Vec<u8>, header: &Header, data: &[u8]) {
    let mut head = [0; HEADER_LEN];
    header.encode(&mut head);
    seal(&mut head, [data]);
    octets.extend_from_slice(&head);
    octets.extend_from_slice(data);
}

/// Four packets, the one with index 2 changed.
fn four(change: impl Fn(&mut Header)) -> Vec<u8> {
    let mut octets = Vec::new();
    for index in 0..4 {
        let mut header = header(index);
        if index == 2 {
            change(&mut header);
        }
        append(&mut octets, &header, &[index as u8; DATA]);
    }
    octets
}

fn count(octets: &[u8]) -> Option<usize> {
    Run::parse(octets, STRIDE, Options::EOM | Options::SREQ).map(|run| run.count())
}

#[test]
fn packets_that_go_on_are_one_run_whatever_their_sync_wraps_to() {
    let octets = four(|_| {});
    let run = Run::parse(&octets, STRIDE, Options::EOM).unwrap();
    assert_eq!(
        (run.count(), run.data_len(), run.header.sync),
        (4, DATA, u32::MAX - 1)
    );
    for index in 0..4 {
        assert_eq!(run.payload(index), Some(&[index as u8; DATA][..]));
    }
    assert_eq!(run.payload(4), None);
    // A shorter datagram at the end belongs to nothing.
    assert_eq!(count(&[&octets[..], &octets[..STRIDE - 1]].concat()), Some(4));
    assert_eq!(count(&octets[STRIDE..]), Some(3));
}

#[test]
fn whatever_differs_ends_it() {
    let changes: [fn(&mut Header); 9] = [
        |header| header.key = Key::returned(98),
        |header| header.key = Key::own(99),
        |header| header.options -= Options::EDGE,
        |header| header.options |= Options::SREQ,
        |header| header.options |= Options::EOM,
        |header| header.sort = 4,
        |header| header.sync = header.sync.wrapping_add(1),
        |header| header.seq += 1,
        |header| header.dlen -= 1,
    ];
    for change in changes {
        assert_eq!(count(&four(change)), Some(2));
    }
}

#[test]
fn damage_ends_it() {
    for at in 0..HEADER_LEN {
        let mut octets = four(|_| {});
        octets[3 * STRIDE + at] ^= 0x11;
        assert_eq!(count(&octets), Some(3), "{at}");
    }
    let mut octets = four(|header| header.options -= Options::NOCHECK);
    assert_eq!(count(&octets[2 * STRIDE..]), Some(1));
    octets[3 * STRIDE - 1] ^= 1;
    assert_eq!(count(&octets[2 * STRIDE..]), None, "its payload is covered");
}

#[test]
fn what_is_not_plain_data_is_none() {
    assert_eq!(count(&[]), None);
    assert_eq!(count(&[0; STRIDE]), None);
    let changes: [fn(&mut Header); 5] = [
        |header| header.options |= Options::EOM,
        |header| header.options |= Options::BTAG,
        |header| header.dlen = 0,
        |header| header.dlen -= 1,
        |header| header.format = Format::Cntl,
    ];
    for change in changes {
        assert_eq!(count(&four(change)[2 * STRIDE..]), None);
    }
    assert_eq!(
        Run::parse(&four(|_| {}), 0, Options::empty()).map(|run| run.count()),
        None
    );
}
