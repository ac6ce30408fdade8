//! Tests of what is sent again.

use super::*;
use crate::BlockLayout;
use bytes::Bytes;
use xtp_wire::FecAgreement;

/// Blocks of four symbols of 16 octets; `octets` of them were sent.
fn stream(octets: usize, eoms: bool) -> GroupStream {
    let agreement = FecAgreement {
        scheme: 1,
        k: 4,
        pmax: 4,
        symbol_len: 16,
        origin: 0,
    };
    let layout = BlockLayout::new(&agreement, 1_440, 1 << 20).expect("sound");
    let mut stream = GroupStream::new(1 << 20, 16, Some(layout));
    for _ in 0..octets / 4 {
        stream.write(Bytes::from_static(&[3; 4]), eoms).expect("open");
    }
    stream.nxt = stream.end();
    stream
}

#[test]
fn the_lowest_block_first_and_told_before() {
    let stream = stream(200, false);
    let mut repair = Repair::new(4);
    assert_eq!((repair.need(1, 2, 10), repair.need(0, 1, 10)), (2, 1));
    let mut blocks = Vec::new();
    repair.news(&stream, &mut blocks);
    assert_eq!(blocks, [GnackBlock::new(0, 1, 4), GnackBlock::new(1, 2, 4)]);
    assert!(!repair.has_news());
    let rows: Vec<_> = (11..20)
        .map_while(|sync| repair.next_row(sync, &stream))
        .collect();
    let seen: Vec<_> = rows.iter().map(|row| (row.block, row.row, row.last)).collect();
    assert_eq!(seen, [(0, 0, true), (1, 0, false), (1, 1, true)]);
    assert_eq!(
        repair.need(1, 2, 12),
        1,
        "one of the two left after what it has seen"
    );
    assert_eq!(repair.row().len(), 24);
}

#[test]
fn a_block_that_is_gone_is_not_repaired() {
    let mut stream = stream(200, false);
    let mut repair = Repair::new(4);
    repair.need(0, 4, 10);
    stream.release(64);
    assert_eq!(repair.next_row(11, &stream), None);
    assert!(!repair.is_due());
    repair.need(1, 4, 10);
    repair.release(2, 128);
    assert!(!repair.is_due() && !repair.has_news());
}

#[test]
fn symbols_of_many_marks_come_along() {
    let stream = stream(64, true);
    let mut repair = Repair::new(4);
    repair.need(0, 1, 10);
    assert!(repair.next_row(11, &stream).is_some());
    let again: Vec<_> = core::iter::from_fn(|| repair.next_stretch(12)).collect();
    let whole = (0..4).map(|index| Stretch {
        from: index * 16,
        to: (index + 1) * 16,
    });
    assert_eq!(again, whole.collect::<Vec<_>>());
}

#[test]
fn a_tag_between_two_such_symbols_leaves_once() {
    let mut stream = stream(0, true);
    let write = |stream: &mut GroupStream, octets| {
        for _ in 0..octets {
            stream.write(Bytes::from_static(&[3]), true).expect("open");
        }
    };
    write(&mut stream, 12);
    stream.tag(9).expect("open");
    write(&mut stream, 44);
    stream.nxt = stream.end();
    let mut repair = Repair::new(4);
    repair.need(0, 1, 10);
    assert!(repair.next_row(11, &stream).is_some());
    let again: Vec<_> = core::iter::from_fn(|| repair.next_stretch(12)).collect();
    let edges: Vec<_> = again.iter().map(|stretch| (stretch.from, stretch.to)).collect();
    assert_eq!(edges, [(0, 20), (20, 32), (32, 48), (48, 64)]);
}

/// Its last symbol ends within a tag, which is a packet of the open block, too.
#[test]
fn a_tag_at_the_end_of_a_block_of_many_marks_leaves_once() {
    let mut stream = stream(48, true);
    for _ in 0..12 {
        stream.write(Bytes::from_static(&[3]), true).expect("open");
    }
    stream.tag(9).expect("open");
    stream.write(Bytes::from_static(&[3]), true).expect("open");
    stream.nxt = 68;
    let mut repair = Repair::new(4);
    let tag = Stretch { from: 60, to: 68 };
    repair.union.sent(tag, 5);
    assert_eq!(repair.missing(64, Spans::EMPTY, 68, (10, u64::MAX)), 8);
    repair.need(0, 1, 10);
    assert!(repair.next_row(11, &stream).is_some());
    let again: Vec<_> = (12..).map_while(|sync| repair.next_stretch(sync)).collect();
    let edges: Vec<_> = again.iter().map(|stretch| (stretch.from, stretch.to)).collect();
    assert_eq!(edges, [(0, 16), (16, 32), (32, 48), (48, 68)]);
    assert!(!repair.is_due());
}

#[test]
fn rows_that_nobody_asked_for_say_so() {
    let stream = stream(200, false);
    let mut repair = Repair::new(4);
    repair.schedule(0, 2, Time::ZERO);
    let first = repair.next_row(11, &stream).expect("one of two");
    assert!(first.proactive && !first.last);
    repair.need(0, 4, 10);
    let rest: Vec<_> = (12..20)
        .map_while(|sync| repair.next_row(sync, &stream))
        .collect();
    assert_eq!(rest.len(), 3, "one left, one waits, two are added");
    assert!(rest.iter().all(|row| !row.proactive));
}
