//! Slots, their order, and how joined datagrams are split.

use super::{LENT_FROM, LONE_ROUNDS, MAX_SLOTS, RecvBatch, RecvMeta, SPARSE_ROUNDS};
use crate::train::EcnCodepoint;

fn arrival(filled: usize, stride: Option<usize>) -> RecvMeta {
    let src = "192.0.2.1:7".parse().expect("an address");
    RecvMeta {
        src,
        dst: None,
        interface: None,
        ecn: EcnCodepoint::NotEct,
        filled,
        stride,
    }
}

fn fill(batch: &mut RecvBatch, slot: usize, octets: &[u8], stride: Option<usize>) {
    batch.writable(slot)[..octets.len()].copy_from_slice(octets);
    batch.fill(slot, arrival(octets.len(), stride));
}

fn contents(batch: &RecvBatch) -> Vec<(usize, Vec<u8>)> {
    batch
        .iter()
        .map(|datagram| (datagram.slab, datagram.data.to_vec()))
        .collect()
}

#[test]
fn joined_datagrams_are_split_and_empty_ones_kept() {
    let mut batch = RecvBatch::new(8, 16);
    while batch.prepare() < 4 {
        (0..batch.offered).for_each(|slot| fill(&mut batch, slot, b"x", None));
    }
    fill(&mut batch, 0, b"aabbc", Some(2));
    fill(&mut batch, 1, b"", None);
    fill(&mut batch, 2, b"ddee", Some(2));
    fill(&mut batch, 3, b"f", Some(0));
    let expected = [
        (0, "aa"),
        (0, "bb"),
        (0, "c"),
        (1, ""),
        (2, "dd"),
        (2, "ee"),
        (3, "f"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(slab, data)| (*slab, data.as_bytes().to_vec()))
        .collect();
    assert_eq!(contents(&batch), expected);
    assert_eq!((batch.len(), batch.octets()), (7, 10));
    assert!(!batch.is_empty());
}

#[test]
fn datagrams_joined_with_the_last_one_are_passed_over_and_no_others() {
    let mut batch = RecvBatch::new(8, 16);
    while batch.prepare() < 2 {
        (0..batch.offered).for_each(|slot| fill(&mut batch, slot, b"x", None));
    }
    fill(&mut batch, 0, b"aabbccd", Some(2));
    fill(&mut batch, 1, b"eef", Some(2));
    for (count, next) in [(0, "bb"), (1, "cc"), (2, "d"), (3, "ee"), (usize::MAX, "ee")] {
        let mut datagrams = batch.iter();
        datagrams.skip_joined(9);
        let first = datagrams.next().expect("a datagram");
        assert_eq!((first.data, first.joined), (&b"aa"[..], &b"aabbccd"[..]));
        datagrams.skip_joined(count);
        assert_eq!(datagrams.next().map(|found| found.data), Some(next.as_bytes()));
    }
}

#[test]
fn slots_left_out_are_skipped() {
    let mut batch = RecvBatch::new(2, LENT_FROM);
    offer_two(&mut batch);
    let second = [2; LENT_FROM];
    fill(&mut batch, 1, &second, None);
    assert_eq!(contents(&batch), [(1, second.to_vec())]);
    assert!(batch.slab_bytes(0).is_none());
    assert_eq!(batch.slab_bytes(1).expect("filled")[..], second);
    assert!(batch.slab_bytes(99).is_none());
}

#[test]
fn the_next_round_forgets_the_last() {
    let mut batch = RecvBatch::new(2, 16);
    batch.prepare();
    fill(&mut batch, 0, b"first", None);
    batch.prepare();
    assert!(batch.is_empty());
    assert_eq!(batch.iter().count(), 0);
    assert!(batch.slab_bytes(0).is_none());
}

#[test]
fn more_slots_are_offered_when_all_were_used_and_fewer_when_idle() {
    let mut batch = RecvBatch::new(16, 16);
    let mut offers = Vec::new();
    for _ in 0..11 {
        let offered = batch.prepare();
        offers.push(offered);
        (0..offered).for_each(|slot| fill(&mut batch, slot, b"x", None));
    }
    assert_eq!(offers, [1, 1, 1, 1, 2, 4, 8, 16, 16, 16, 16]);
    for _ in 0..100 {
        assert_eq!(batch.prepare(), 16, "nothing came, so nothing was learned");
    }
    let mut sparse = Vec::new();
    for _ in 0..6 * SPARSE_ROUNDS {
        sparse.push(batch.prepare());
        fill(&mut batch, 0, b"x", None);
    }
    sparse.dedup();
    assert_eq!(sparse[..5], [16, 8, 4, 2, 1]);
}

#[test]
fn no_more_is_taken_at_once_than_stays_in_the_cache() {
    let mut batch = RecvBatch::new(32, 65_535);
    let mut offers = Vec::new();
    for length in [1_400; 10].into_iter().chain([60_000; 4]) {
        let offered = batch.prepare();
        offers.push(offered);
        let octets = vec![0; length];
        (0..offered).for_each(|slot| fill(&mut batch, slot, &octets, None));
    }
    assert_eq!(offers, [1, 1, 1, 1, 2, 4, 8, 16, 32, 32, 32, 4, 4, 4]);
}

#[test]
fn lone_datagrams_are_offered_one_slot() {
    let mut batch = RecvBatch::new(16, 16);
    for _ in 0..5 {
        assert_eq!(batch.prepare(), 1);
        fill(&mut batch, 0, b"x", None);
        assert_eq!(batch.prepare(), 1, "an empty round lies between two answers");
    }
}

#[test]
fn an_answer_that_was_waited_for_is_no_burst() {
    let mut batch = RecvBatch::new(16, 16);
    for _ in 0..50 {
        assert_eq!(batch.prepare(), 1);
        batch.note_waited();
        fill(&mut batch, 0, b"x", None);
    }
    for _ in 0..LONE_ROUNDS - 1 {
        assert_eq!(batch.prepare(), 1);
        fill(&mut batch, 0, b"x", None);
    }
    assert_eq!(batch.prepare(), 1);
}

/// As many full rounds in a row as it takes.
fn offer_two(batch: &mut RecvBatch) {
    for _ in 0..LONE_ROUNDS {
        assert_eq!(batch.prepare(), 1);
        fill(batch, 0, b"x", None);
    }
    assert_eq!(batch.prepare(), 2);
}

#[test]
fn sizes_out_of_range_are_brought_into_it() {
    let mut none = RecvBatch::new(0, 0);
    assert_eq!((none.prepare(), none.slab_size()), (1, 1));
    let many = RecvBatch::new(usize::MAX, 1);
    assert_eq!(many.slots.len(), MAX_SLOTS);
}

#[test]
fn a_datagram_kept_as_bytes_survives_the_next_round() {
    for (length, slabs) in [(4, 1), (LENT_FROM - 1, 1), (LENT_FROM, 2)] {
        let mut batch = RecvBatch::new(1, LENT_FROM);
        batch.prepare();
        fill(&mut batch, 0, &vec![1; length], None);
        let kept = batch.iter().next().expect("one datagram").to_bytes();
        assert_eq!(batch.slab_bytes(0).is_some(), length == LENT_FROM);
        batch.prepare();
        fill(&mut batch, 0, &vec![2; length], None);
        assert_eq!(kept, vec![1; length]);
        assert_eq!(batch.slabs_allocated(), slabs);
    }
}
