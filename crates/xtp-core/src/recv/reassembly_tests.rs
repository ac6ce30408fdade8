//! The reader's store by examples and exhaustively over small domains; `reassembly_model_tests.rs` compares it
//! with single octets.

use super::*;

/// Reads everything: octets and positions of message ends.
fn drain(store: &mut Reassembly) -> (Vec<u8>, Vec<u64>) {
    let (mut all, mut eoms) = (Vec::new(), Vec::new());
    while let Some(item) = store.read(usize::MAX) {
        if let Item::Data { seq, bytes, eom } = item {
            all.extend_from_slice(&bytes);
            eoms.extend(eom.then_some(seq + bytes.len() as u64));
        }
    }
    (all, eoms)
}

fn spans(store: &Reassembly) -> Vec<(u64, u64)> {
    let mut out = SmallVec::new();
    store.spans(usize::MAX, &mut out);
    assert_eq!(out.len(), store.span_count());
    assert_eq!(store.has_holes(), !out.is_empty());
    out.to_vec()
}

/// The next arrangement in lexical order; `false` after the last.
fn next_permutation(order: &mut [usize]) -> bool {
    let Some(pivot) = (1..order.len()).rev().find(|&at| order[at - 1] < order[at]) else {
        return false;
    };
    let swap = (pivot..order.len())
        .rev()
        .find(|&at| order[at] > order[pivot - 1])
        .unwrap_or(pivot);
    order.swap(pivot - 1, swap);
    order[pivot..].reverse();
    true
}

#[test]
fn every_order_of_up_to_seven_packets_gives_the_same_stream() {
    let lengths = [3usize, 1, 4, 2, 5, 1, 2];
    let all: Vec<u8> = (0..18).collect();
    for count in 1..=lengths.len() {
        let starts: Vec<usize> = (0..count).map(|packet| lengths[..packet].iter().sum()).collect();
        let total: usize = lengths[..count].iter().sum();
        let mut order: Vec<usize> = (0..count).collect();
        loop {
            let mut store = Reassembly::new(1000);
            for &packet in &order {
                let range = starts[packet]..starts[packet] + lengths[packet];
                let before = store.next();
                let inserted = store.insert(
                    1000 + range.start as u64,
                    None,
                    Payload::Copy(&all[range.clone()]),
                    packet % 2 == 1,
                );
                assert_eq!(inserted.new_octets, range.len() as u64);
                assert_eq!(inserted.advanced, store.next() > before);
            }
            let (octets, eoms) = drain(&mut store);
            assert_eq!(octets, all[..total], "{order:?}");
            let expected: Vec<u64> = (1..count)
                .step_by(2)
                .map(|packet| 1000 + (starts[packet] + lengths[packet]) as u64)
                .collect();
            assert_eq!(eoms, expected, "{order:?}");
            assert_eq!(
                (store.delivered(), store.highest()),
                (store.next(), 1000 + total as u64)
            );
            assert_eq!(store.stored_octets(), 0);
            if !next_permutation(&mut order) {
                break;
            }
        }
    }
}

#[test]
fn every_set_of_twelve_slots_is_reported_exactly() {
    for set in 0u32..1 << 12 {
        for reversed in [false, true] {
            let mut slots: Vec<u64> = (0..12).filter(|slot| set >> slot & 1 == 1).collect();
            if reversed {
                slots.reverse();
            }
            let mut store = Reassembly::new(0);
            for slot in slots {
                store.insert(slot * 10, None, Payload::Copy(&[slot as u8; 10]), false);
            }
            let in_order = u64::from((!set).trailing_zeros().min(12)) * 10;
            let mut expected: Vec<(u64, u64)> = Vec::new();
            for slot in (0..12).filter(|slot| set >> slot & 1 == 1 && slot * 10 > in_order) {
                match expected.last_mut() {
                    Some(last) if last.1 == slot * 10 => last.1 += 10,
                    _ => expected.push((slot * 10, slot * 10 + 10)),
                }
            }
            assert_eq!(store.next(), in_order, "{set:b}");
            assert_eq!(spans(&store), expected, "{set:b}");
            let mut lowest = SmallVec::new();
            store.spans(2, &mut lowest);
            assert_eq!(lowest[..], expected[..expected.len().min(2)]);
            assert_eq!(store.stored_octets(), u64::from(set.count_ones()) * 10);
        }
    }
}

#[test]
fn a_new_hole_is_one_beyond_everything_received() {
    let mut store = Reassembly::new(0);
    assert!(store.insert(10, None, Payload::Copy(b"ab"), false).hole_new);
    assert!(
        !store.insert(10, None, Payload::Copy(b"ab"), false).hole_new,
        "a duplicate"
    );
    assert!(
        !store.insert(5, None, Payload::Copy(b"ab"), false).hole_new,
        "makes a hole smaller"
    );
    assert!(
        !store.insert(12, None, Payload::Copy(b"ab"), false).hole_new,
        "continues the span"
    );
    assert!(store.insert(20, None, Payload::Copy(b"ab"), false).hole_new);
    assert_eq!(spans(&store), [(5, 7), (10, 14), (20, 22)]);
}

#[test]
fn a_tag_is_told_apart_from_the_octets_behind_it() {
    let mut store = Reassembly::new(0);
    assert_eq!(
        store.insert(10, Some(77), Payload::Copy(b"xyz"), true).new_octets,
        11
    );
    assert_eq!(spans(&store), [(10, 21)]);
    assert_eq!(
        store.insert(0, Some(66), Payload::Copy(b"ab"), false).new_octets,
        10
    );
    assert_eq!(store.readable(), 21);
    assert_eq!(store.read(1), Some(Item::Tag { seq: 0, tag: 66 }));
    assert_eq!(
        store.read(9),
        Some(Item::Data {
            seq: 8,
            bytes: Bytes::from_static(b"ab"),
            eom: false
        })
    );
    assert_eq!(store.read(9), Some(Item::Tag { seq: 10, tag: 77 }));
    assert_eq!(
        store.read(9),
        Some(Item::Data {
            seq: 18,
            bytes: Bytes::from_static(b"xyz"),
            eom: true
        })
    );
    assert_eq!(store.read(9), None);
}

#[test]
fn half_a_tag_neither_stops_nor_shifts_the_stream() {
    let mut store = Reassembly::new(0);
    store.insert(0, None, Payload::Copy(&[9; 3]), false);
    assert_eq!(
        store
            .insert(0, Some(0x0102_0304_0506_0708), Payload::Copy(b"z"), false)
            .new_octets,
        6
    );
    assert_eq!(drain(&mut store).0, [9, 9, 9, 4, 5, 6, 7, 8, b'z']);
    store.insert(12, None, Payload::Copy(b"m"), false);
    assert_eq!(
        store
            .insert(10, Some(0x0102_0304_0506_0708), Payload::Copy(b"n"), true)
            .new_octets,
        8
    );
    store.insert(9, None, Payload::Copy(b"l"), false);
    assert_eq!(
        drain(&mut store),
        (vec![b'l', 1, 2, b'm', 4, 5, 6, 7, 8, b'n'], vec![19])
    );
}

#[test]
fn pieces_behind_holes_are_limited_but_what_is_in_order_is_always_taken() {
    let mut store = Reassembly::new(0);
    store.set_piece_limit(3);
    for slot in [2u64, 4, 6] {
        assert_eq!(store.insert(slot, None, Payload::Copy(b"x"), false).dropped, 0);
    }
    let refused = store.insert(8, None, Payload::Copy(b"xy"), false);
    assert_eq!(
        refused,
        Inserted {
            dropped: 2,
            ..Inserted::default()
        }
    );
    assert_eq!((store.highest(), store.span_count()), (7, 3));
    let filled = store.insert(0, None, Payload::Copy(b"abcdefgh"), true);
    assert_eq!((filled.new_octets, filled.advanced, filled.dropped), (5, true, 0));
    assert_eq!(drain(&mut store), (b"abxdxfxh".to_vec(), vec![8]));
}

#[test]
fn a_go_back_n_reader_keeps_nothing_out_of_order() {
    let mut store = Reassembly::new(0);
    let early = store.insert_in_order_only(4, Some(1), Payload::Copy(b"ef"), true);
    assert_eq!(
        early,
        Inserted {
            hole_new: true,
            dropped: 10,
            ..Inserted::default()
        }
    );
    assert!(!store.has_holes());
    assert_eq!(store.highest(), 0);
    assert_eq!(
        store
            .insert_in_order_only(0, None, Payload::Copy(b"abcd"), false)
            .new_octets,
        4
    );
    assert_eq!(
        store
            .insert_in_order_only(2, None, Payload::Copy(b"cdef"), true)
            .new_octets,
        2
    );
    assert_eq!(drain(&mut store), (b"abcdef".to_vec(), vec![6]));
}

#[test]
fn an_unreliable_stream_arrives_as_it_comes_with_gaps() {
    let mut store = Reassembly::new(0);
    store.insert_unreliable(0, None, Payload::Copy(b"ab"), true);
    let jump = store.insert_unreliable(5, None, Payload::Copy(b"fg"), true);
    assert_eq!(
        jump,
        Inserted {
            new_octets: 2,
            advanced: true,
            hole_new: true,
            dropped: 0
        }
    );
    assert_eq!(
        store.insert_unreliable(2, None, Payload::Copy(b"cde"), false),
        Inserted::default(),
        "too late"
    );
    assert_eq!(
        store
            .insert_unreliable(6, None, Payload::Copy(b"gh"), false)
            .new_octets,
        1
    );
    store.skip_to(4);
    assert_eq!(store.next(), 8);
    store.skip_to(10);
    store.skip_to(12);
    assert_eq!(
        (
            store.next(),
            store.highest(),
            store.readable(),
            store.stored_octets()
        ),
        (12, 12, 12, 5)
    );
    let mut items = Vec::new();
    while let Some(item) = store.read(99) {
        items.push(item);
    }
    let octets = |seq, octets, eom| Item::Data {
        seq,
        bytes: Bytes::from_static(octets),
        eom,
    };
    let expected = [
        octets(0, b"ab", true),
        Item::Gap { seq: 2, len: 3 },
        octets(5, b"fg", true),
        octets(7, b"h", false),
        Item::Gap { seq: 8, len: 4 },
    ];
    assert_eq!(items, expected);
}

#[test]
fn passing_over_a_hole_delivers_what_waits_behind_it() {
    let mut store = Reassembly::new(0);
    store.insert(4, None, Payload::Copy(b"ef"), true);
    store.insert(8, None, Payload::Copy(b"ij"), false);
    // The skip alone takes the segment's octets into order.
    let inserted = store.insert_unreliable(5, None, Payload::Copy(b"f"), true);
    assert_eq!(
        (inserted.new_octets, inserted.advanced, store.next()),
        (0, true, 6)
    );
    store.skip_to(9);
    assert_eq!(store.next(), 10);
    assert_eq!(store.read(9), Some(Item::Gap { seq: 0, len: 4 }));
    assert_eq!(drain(&mut store), (b"efij".to_vec(), vec![6]));
    assert_eq!(store.stored_octets(), 0);
}

#[test]
fn a_reader_that_gave_up_counts_everything_as_delivered() {
    let mut store = Reassembly::new(0);
    store.insert(0, None, Payload::Copy(b"abc"), true);
    store.insert(5, None, Payload::Copy(b"f"), false);
    store.discard_all();
    assert_eq!((store.delivered(), store.readable(), store.read(9)), (3, 0, None));
    assert_eq!(spans(&store), [(5, 6)]);
    store.insert(3, None, Payload::Copy(b"de"), false);
    store.discard_all();
    assert_eq!((store.delivered(), store.stored_octets()), (6, 0));
}

#[test]
fn what_is_behind_a_hole_is_forgotten_alone() {
    let mut store = Reassembly::new(0);
    store.insert(0, None, Payload::Copy(b"abc"), true);
    store.insert(5, None, Payload::Copy(b"f"), false);
    store.forget_pieces();
    assert_eq!(
        (store.readable(), store.stored_octets(), store.highest()),
        (3, 3, 3)
    );
    assert_eq!(spans(&store), []);
    assert!(store.read(9).is_some());
    assert!(store.is_empty());
}

#[test]
fn empty_and_impossible_segments_change_nothing() {
    let mut store = Reassembly::new(5);
    for (seq, tag, data) in [
        (5, None, &b""[..]),
        (u64::MAX, None, b"ab"),
        (u64::MAX - 7, Some(1), b"a"),
    ] {
        assert_eq!(
            store.insert(seq, tag, Payload::Copy(data), true),
            Inserted::default()
        );
        assert_eq!(
            store.insert_unreliable(seq, tag, Payload::Copy(data), true),
            Inserted::default()
        );
        assert_eq!(
            store
                .insert_in_order_only(seq, tag, Payload::Copy(data), true)
                .new_octets,
            0
        );
    }
    assert_eq!((store.next(), store.highest(), store.readable()), (5, 5, 0));
}

#[path = "reassembly_model_tests.rs"]
mod model;
