//! Cutting a train, against plain concatenation.

use std::io::{ErrorKind, IoSlice};

use super::{EcnCodepoint, PieceCursor, SendTrain};

fn train<'a>(segment: usize, pieces: &'a [IoSlice<'a>]) -> SendTrain<'a> {
    SendTrain::new("127.0.0.1:9".parse().expect("an address"), segment, pieces)
}

fn joined(pieces: &[IoSlice<'_>]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.to_vec()).collect()
}

/// Lists of pieces of 0 to 4 octets whose lengths are the digits of `code` to base 5.
fn piece_lengths(mut code: usize, count: usize) -> Vec<usize> {
    (0..count)
        .map(|_| {
            let digit = code % 5;
            code /= 5;
            digit
        })
        .collect()
}

#[test]
fn every_cut_of_every_short_list_of_pieces_is_the_concatenation() {
    let memory: Vec<u8> = (0..20).collect();
    // Miri takes a thousand times as long.
    for code in (0..625).step_by(if cfg!(miri) { 89 } else { 1 }) {
        let mut rest = memory.as_slice();
        let mut pieces = Vec::new();
        for length in piece_lengths(code, 4) {
            let (piece, left) = rest.split_at(length);
            pieces.push(IoSlice::new(piece));
            rest = left;
        }
        let whole = joined(&pieces);
        for start in 0..=whole.len() {
            for end in start..=whole.len() {
                let mut cursor = PieceCursor::at(&pieces, start);
                let mut out = [IoSlice::new(&[]); 4];
                let used = cursor
                    .take(end - start, &mut out)
                    .expect("as many entries as pieces");
                assert_eq!(
                    joined(&out[..used]),
                    whole[start..end],
                    "{pieces:?} {start}..{end}"
                );
                assert!(out[..used].iter().all(|piece| !piece.is_empty()));
                let used = cursor.take(whole.len() - end, &mut out).expect("the rest");
                assert_eq!(
                    joined(&out[..used]),
                    whole[end..],
                    "{pieces:?} after {start}..{end}"
                );
            }
        }
    }
}

#[test]
fn a_cursor_stays_where_it_is_when_the_entries_do_not_suffice() {
    let pieces = [IoSlice::new(b"ab"), IoSlice::new(b"cd"), IoSlice::new(b"ef")];
    let mut cursor = PieceCursor::at(&pieces, 1);
    let mut two = [IoSlice::new(&[]); 2];
    assert_eq!(cursor.take(4, &mut two), None);
    assert_eq!(cursor.take(3, &mut two), Some(2));
    assert_eq!(joined(&two), b"bcd");
    assert_eq!(cursor.take(3, &mut two), None, "more octets than there are");
}

#[test]
fn segments_are_counted_and_measured_with_a_short_last_one() {
    let octets = [0; 25];
    let pieces = [IoSlice::new(&octets)];
    let train = train(10, &pieces);
    assert_eq!(train.segments(), 3);
    let lengths: Vec<_> = (0..4).map(|segment| train.octets_of(segment, 1)).collect();
    assert_eq!(lengths, [10, 10, 5, 0]);
    assert_eq!(train.octets_of(1, 2), 15);
    assert_eq!(train.octets_of(usize::MAX / 2, 1), 0);
}

#[test]
fn contradictory_trains_are_refused() {
    let pieces = [IoSlice::new(b"octets")];
    let good = train(3, &pieces);
    assert!(good.check().is_ok());
    let bad = [
        SendTrain { segment: 0, ..good },
        SendTrain { total: 5, ..good },
        SendTrain { total: 0, ..good },
        SendTrain {
            total: 0,
            pieces: &[],
            ..good
        },
    ];
    for train in bad {
        let error = train.check().expect_err("contradictory");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{train:?}");
    }
    assert_eq!(bad[0].segments(), 0);
}

#[test]
fn ecn_bits_are_those_of_the_header() {
    for (ecn, bits) in [
        (EcnCodepoint::NotEct, 0),
        (EcnCodepoint::Ect1, 1),
        (EcnCodepoint::Ect0, 2),
        (EcnCodepoint::Ce, 3),
    ] {
        assert_eq!(ecn.bits(), bits);
        assert_eq!(EcnCodepoint::from_bits(bits), ecn);
        assert_eq!(
            EcnCodepoint::from_bits(0xfc | bits),
            ecn,
            "the other six bits are no concern of ECN"
        );
    }
}
