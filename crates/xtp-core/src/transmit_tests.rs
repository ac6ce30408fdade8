//! Runs in a batch: the same datagrams as if each had its own pieces, in as few trains.

use super::*;
use crate::frames::{Framed, testing::blocks, testing::frames};

const HEAD: usize = 4;

fn route(port: u16) -> Route {
    Route {
        dst: SocketAddr::from(([10, 0, 0, 1], port)),
        src: None,
        ecn: Ecn::Ect0,
        sort: None,
    }
}

/// Octets that differ from place to place.
fn octets(count: usize, seed: u8) -> Bytes {
    (0..count).map(|at| (at as u8).wrapping_mul(31) ^ seed).collect()
}

/// Pushes a run of `count` packets with `len` octets each that lie in pieces of `lengths`; what they should be.
fn push(out: &mut TransmitBatch, port: u16, count: usize, len: usize, lengths: &[usize]) -> Vec<Vec<u8>> {
    let heads_at = out.arena.len();
    let heads: Vec<u8> = octets(count * HEAD, 9).to_vec();
    out.arena.extend_from_slice(&heads);
    let mut payload: SmallVec<[Bytes; 4]> = lengths
        .iter()
        .enumerate()
        .map(|(index, &length)| octets(length, index as u8))
        .collect();
    let all = payload.concat();
    assert!(all.len() >= count * len);
    out.push_run(route(port), heads_at, count, len, &mut payload);
    heads
        .chunks(HEAD)
        .zip(all.chunks(len))
        .map(|(head, data)| [head, data].concat())
        .collect()
}

fn datagrams(out: &TransmitBatch) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    out.for_each_datagram(|_, datagram| found.push(datagram.to_vec()));
    found
}

#[test]
fn packets_of_a_run_are_told_apart_wherever_their_payload_lies() {
    for lengths in [
        &[3_000][..],
        &[1, 2_999],
        &[100, 100, 2_800],
        &[1_500, 1_500],
        &[999, 1, 2_000],
    ] {
        let mut out = TransmitBatch::new();
        let expected = push(&mut out, 1, 30, 100, lengths);
        assert_eq!(datagrams(&out), expected, "pieces of {lengths:?}");
        assert_eq!(
            (out.trains.len(), out.trains[0].count, out.pieces.len()),
            (1, 30, 1)
        );
    }
}

#[test]
fn a_train_takes_as_many_as_segmentation_offload() {
    let mut out = TransmitBatch::new();
    let mut expected = push(&mut out, 1, 100, 10, &[1_000]);
    let counts = |out: &TransmitBatch| out.trains.iter().map(|train| train.count).collect::<Vec<_>>();
    assert_eq!(counts(&out), [64, 36]);
    // The next run to the same peer goes on where this one ended, one to another does not.
    expected.extend(push(&mut out, 1, 30, 10, &[300]));
    assert_eq!(counts(&out), [64, 64, 2]);
    expected.extend(push(&mut out, 2, 3, 10, &[30]));
    assert_eq!(counts(&out), [64, 64, 2, 3]);
    assert_eq!(datagrams(&out), expected);
    let totals: usize = out.trains.iter().map(|train| train.total).sum();
    assert_eq!(totals, expected.concat().len());
}

#[test]
fn a_train_takes_as_many_octets_as_one_datagram() {
    let mut out = TransmitBatch::new();
    let expected = push(&mut out, 1, 90, 1_440, &[100_000, 29_600]);
    assert_eq!(
        out.trains.iter().map(|train| train.count).collect::<Vec<_>>(),
        [45, 45]
    );
    assert!(out.trains.iter().all(|train| train.total <= MAX_TRAIN));
    assert_eq!(datagrams(&out), expected);
    let mut out = TransmitBatch::new();
    let expected = push(&mut out, 1, 3, 60_000, &[180_000]);
    assert_eq!(out.trains.len(), 3, "one long datagram a train");
    assert_eq!(datagrams(&out), expected);
}

#[test]
fn a_shorter_run_ends_a_train_with_its_first_packet() {
    let mut out = TransmitBatch::new();
    let mut expected = push(&mut out, 1, 3, 100, &[300]);
    expected.extend(push(&mut out, 1, 3, 50, &[150]));
    assert_eq!(
        out.trains.iter().map(|train| train.count).collect::<Vec<_>>(),
        [4, 2]
    );
    assert_eq!(datagrams(&out), expected);
}

#[test]
fn a_run_stays_what_it_was_behind_another_batch() {
    let (mut out, mut other) = (TransmitBatch::new(), TransmitBatch::new());
    let mut expected = push(&mut out, 1, 5, 100, &[250, 250]);
    expected.extend(push(&mut other, 2, 5, 100, &[130, 370]));
    out.append(&mut other);
    assert!(other.is_empty());
    assert_eq!(datagrams(&out), expected);
}

#[test]
fn a_run_has_no_octets_in_one_place() {
    let mut out = TransmitBatch::new();
    push(&mut out, 1, 2, 10, &[20]);
    assert!(out.octets(&out.pieces[0]).is_empty());
    let mut parts = Vec::new();
    out.for_each_part(&out.pieces[0], |part| parts.push(part.len()));
    assert_eq!(parts, [HEAD, 10, HEAD, 10]);
}

/// Pushes a run of `count` frames of 100 octets from number `from` on, and one more as a packet of its own.
fn push_framed(out: &mut TransmitBatch, count: usize, from: usize) -> Vec<Vec<u8>> {
    push_blocks(out, usize::MAX, count, from)
}

/// As [`push_framed`], with no more than `block` frames together.
fn push_blocks(out: &mut TransmitBatch, block: usize, count: usize, from: usize) -> Vec<Vec<u8>> {
    let all = octets((from + count + 1) * 100 + 30, 7);
    let frames: Arc<dyn Frames> = blocks(HEAD, 100, block, &all);
    let heads = octets((count + 1) * HEAD, 9);
    let (run, last) = heads.split_at(count * HEAD);
    let heads_at = out.arena.len();
    out.arena.extend_from_slice(run);
    out.push_framed(route(1), heads_at, count, (&frames, from), true);
    let last_at = out.arena.len();
    out.arena.extend_from_slice(last);
    let mut payload = SmallVec::new();
    Framed::new(frames).share((from + count) * 100..(from + count + 1) * 100, &mut payload);
    out.push(route(1), false, last_at, &payload);
    out.join_framed();
    heads
        .chunks(HEAD)
        .zip(all[from * 100..].chunks(100))
        .map(|(head, data)| [head, data].concat())
        .collect()
}

#[test]
fn frames_make_trains_of_their_own_which_the_last_packet_joins() {
    let mut out = TransmitBatch::new();
    let mut expected = push(&mut out, 1, 3, 100, &[300]);
    expected.extend(push_framed(&mut out, 9, 2));
    assert_eq!(datagrams(&out), expected);
    let [plain, framed] = &out.trains[..] else {
        panic!("{:?}", out.trains);
    };
    assert_eq!(
        (plain.count, framed.count, framed.total),
        (3, 10, 10 * (100 + HEAD))
    );
    let [_, Piece::Framed(run)] = &out.pieces[..] else {
        panic!("{:?}", out.pieces);
    };
    assert_eq!((run.first, run.count), (2, 10));
    let mut shown = Vec::new();
    let heads = &out.arena[run.heads()];
    out.framed[run.of].with_heads(run.first, heads, &mut |octets| {
        shown = octets.to_vec();
        false
    });
    assert_eq!(shown, expected[3..].concat(), "as it lies");
}

#[test]
fn frames_beyond_a_train_begin_another_and_survive_a_move() {
    let mut first = TransmitBatch::new();
    let mut expected = push_framed(&mut first, 150, 0);
    let mut second = TransmitBatch::new();
    expected.extend(push_framed(&mut second, 70, 1));
    first.append(&mut second);
    assert_eq!(datagrams(&first), expected);
    let counts: Vec<usize> = first.trains.iter().map(|train| train.count).collect();
    assert_eq!(counts, [64, 64, 23, 64, 7]);
    assert!(first.pieces.iter().all(|piece| matches!(piece, Piece::Framed(_))));
    first.clear();
    assert!(first.framed.is_empty());
}

#[test]
fn a_short_last_frame_joins_although_it_was_copied() {
    let mut out = TransmitBatch::new();
    let all = octets(230, 7);
    let (frames, heads) = (frames(HEAD, 100, &all), octets(3 * HEAD, 9));
    out.arena.extend_from_slice(&heads[..2 * HEAD]);
    out.push_framed(route(1), 0, 2, (&frames, 0), true);
    out.arena.extend_from_slice(&heads[2 * HEAD..]);
    out.arena.extend_from_slice(&all[200..]);
    out.push(route(1), false, 2 * HEAD, &[]);
    out.join_framed();
    let [Piece::Framed(run)] = &out.pieces[..] else {
        panic!("{:?}", out.pieces);
    };
    assert_eq!((run.count, out.arena[run.heads()].len()), (3, 3 * HEAD));
    let last = [&heads[2 * HEAD..], &all[200..]].concat();
    assert_eq!(datagrams(&out).last(), Some(&last));
    // Behind the last frame nothing joins, not even a header alone.
    let at = out.arena.len();
    out.arena.extend_from_slice(&heads[..HEAD]);
    out.push(route(1), false, at, &[]);
    out.join_framed();
    assert_eq!(datagrams(&out).len(), 4);
}

#[test]
fn what_is_not_the_next_frame_does_not_join() {
    let mut out = TransmitBatch::new();
    let mut expected = push_framed(&mut out, 2, 0);
    // The right length, but from elsewhere.
    let (head, data) = (octets(HEAD, 5), octets(100, 5));
    let at = out.arena.len();
    out.arena.extend_from_slice(&head);
    out.push(route(1), false, at, std::slice::from_ref(&data));
    out.join_framed();
    expected.push([head, data].concat());
    assert_eq!(datagrams(&out), expected);
    assert_eq!((out.trains.len(), out.pieces.len()), (1, 3));
}

#[test]
fn trains_of_frames_never_cross_blocks() {
    for block in [1, 2, 3, 44, 64, 65, 300] {
        for (count, from) in [
            (1, 0),
            (2, 1),
            (3, 2),
            (43, 0),
            (44, 0),
            (130, 43),
            (200, 7),
            (90, 299),
        ] {
            let mut out = TransmitBatch::new();
            let expected = push_blocks(&mut out, block, count, from);
            assert_eq!(datagrams(&out), expected, "{block}: {count} from {from}");
            let mut next = from;
            for train in &out.trains {
                let pieces = &out.pieces[train.pieces.clone()];
                let [Piece::Framed(run)] = pieces else {
                    // The last packet, which begins a block, where it could not join.
                    assert!((from + count).is_multiple_of(block) || block == 65 || train.count == 1);
                    assert_eq!((next, train.count), (from + count, 1), "{pieces:?}");
                    next += 1;
                    continue;
                };
                assert_eq!((run.first, run.count), (next, train.count));
                assert!(run.first % block + run.count <= block, "{block}: {run:?}");
                let shown = out.framed[run.of].with_heads(run.first, &out.arena[run.heads()], &mut |_| false);
                assert!(shown && run.retained);
                next += run.count;
            }
            assert_eq!(next, from + count + 1, "{block}: {count} from {from}");
        }
    }
}

#[test]
fn the_last_frame_joins_within_its_block_only() {
    for (count, trains) in [(42, &[43][..]), (43, &[44]), (44, &[44, 1]), (45, &[44, 2])] {
        let mut out = TransmitBatch::new();
        push_blocks(&mut out, 44, count, 0);
        let counts: Vec<usize> = out.trains.iter().map(|train| train.count).collect();
        assert_eq!(counts, trains, "{count}");
        let joined = matches!(out.pieces.last(), Some(Piece::Framed(_)));
        assert_eq!(joined, count != 44, "{count}");
    }
}

#[test]
fn nobody_boards_a_train_that_ends_a_block() {
    for (count, boards) in [(7, true), (8, false), (16, false), (17, true)] {
        let mut out = TransmitBatch::new();
        let frames: Arc<dyn Frames> = blocks(HEAD, 100, 8, &octets(10_000, 7));
        out.arena.extend_from_slice(&octets(count * HEAD, 9));
        out.push_framed(route(1), 0, count, (&frames, 0), true);
        let before = out.trains.len();
        push(&mut out, 1, 1, 100, &[100]);
        assert_eq!(out.trains.len() == before, boards, "{count}");
    }
}

/// Pushes a datagram that is copied: `len` octets at the end of the arena.
fn push_copied(out: &mut TransmitBatch, port: u16, len: usize) -> Vec<u8> {
    let (at, data) = (out.arena.len(), octets(len, len as u8));
    out.arena.extend_from_slice(&data);
    out.push(route(port), false, at, &[]);
    data.to_vec()
}

#[test]
fn datagrams_side_by_side_are_one_piece_of_their_train() {
    let mut out = TransmitBatch::new();
    let mut expected: Vec<_> = [700, 700, 650].map(|len| push_copied(&mut out, 1, len)).into();
    assert_eq!((out.trains.len(), out.pieces.len()), (1, 1));
    // A train of its own, whose last datagram lies elsewhere.
    expected.push(push_copied(&mut out, 2, 20 + HEAD));
    let (at, data) = (out.arena.len(), octets(20, 3));
    out.arena.extend_from_slice(&[7; HEAD]);
    out.push(route(2), false, at, std::slice::from_ref(&data));
    expected.push([&[7; HEAD], &data[..]].concat());
    expected.push(push_copied(&mut out, 2, 20 + HEAD));
    assert_eq!((out.trains.len(), out.trains[1].count), (2, 3));
    assert_eq!(out.trains[1].pieces, 1..5);
    assert_eq!(datagrams(&out), expected);
}

#[test]
fn messages_to_one_peer_share_a_train_wherever_their_data_lies() {
    for copied in [true, false] {
        let (mut out, mut expected) = (TransmitBatch::new(), Vec::new());
        for (port, len) in [(1, 64), (1, 64), (2, 64), (2, 65), (2, 10), (2, 10)] {
            let (at, data) = (out.arena.len(), octets(len, len as u8));
            out.arena.extend_from_slice(&[7; HEAD]);
            out.push_message(route(port), at, &data, copied);
            expected.push([&[7; HEAD], &data[..]].concat());
        }
        let counts: Vec<usize> = out.trains.iter().map(|train| train.count).collect();
        assert_eq!(
            counts,
            [2, 1, 2, 1],
            "a shorter one is the last, a longer one begins another"
        );
        assert_eq!(datagrams(&out), expected);
    }
}
