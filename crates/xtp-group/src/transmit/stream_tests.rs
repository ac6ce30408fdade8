//! Tests of how a stream is cut and coded.

use super::*;
use crate::Decoder;
use xtp_wire::FecAgreement;

const L: u16 = 16;

fn stream() -> GroupStream {
    let agreement = FecAgreement {
        scheme: 1,
        k: 4,
        pmax: 4,
        symbol_len: L,
        origin: 0,
    };
    let layout = BlockLayout::new(&agreement, 1_440, 1 << 20).expect("sound");
    GroupStream::new(1_000, L.into(), Some(layout))
}

/// Cuts all that is there; the packets as (seq, length, tag, eom).
fn cut_all(stream: &mut GroupStream) -> Vec<(u64, u64, Option<u64>, bool)> {
    let mut all = Vec::new();
    while let Some(portion) = stream.portion(stream.nxt, u64::MAX) {
        all.push((portion.seq, portion.len, portion.tag, portion.eom));
        stream.nxt = portion.end();
    }
    all
}

#[test]
fn no_packet_crosses_a_symbol() {
    let mut stream = stream();
    stream.write(Bytes::from_static(&[1; 10]), true).expect("open");
    stream.write(Bytes::from_static(&[2; 40]), false).expect("open");
    let packets = cut_all(&mut stream);
    assert_eq!(
        packets,
        [
            (0, 10, None, true),
            (10, 6, None, false),
            (16, 16, None, false),
            (32, 16, None, false),
            (48, 2, None, false),
        ]
    );
}

#[test]
fn the_limit_holds_and_never_splits_a_tag() {
    let mut stream = stream();
    stream.tag(5).expect("open");
    stream.write(Bytes::from_static(&[1; 20]), false).expect("open");
    assert!(stream.portion(0, 7).is_none() && !stream.has_more(7));
    assert!(stream.has_more(8));
    let portion = stream.portion(0, 12).expect("room for the tag and four octets");
    assert_eq!((portion.len, portion.tag, portion.eom), (12, Some(5), false));
}

/// What is kept is whole blocks, and a tag may lie across the border of two: nobody begins with the rest of one.
#[test]
fn who_begins_with_what_is_kept_does_not_begin_within_a_tag() {
    for before in 0..=10 {
        let mut stream = stream();
        let data = Bytes::from(vec![1; 4 * usize::from(L) - before]);
        stream.write(data, false).expect("open");
        stream.tag(5).expect("open");
        stream.write(Bytes::from_static(&[1; 90]), false).expect("open");
        cut_all(&mut stream);
        let border = 4 * u64::from(L);
        stream.release(border);
        let within = (1..8).contains(&before);
        let first = if within {
            border - before as u64 + 8
        } else {
            border
        };
        assert_eq!(
            (stream.lowest(), stream.first_whole()),
            (border, first),
            "{before}"
        );
        let begin = if within { 2 * border } else { border };
        assert_eq!(stream.first_begin(), begin, "{before}");
        let portion = stream.portion(first, u64::MAX).expect("kept");
        assert_eq!(portion.tag, (before == 0).then_some(5), "{before}");
    }
}

/// A range that somebody fetches may end within a tag.
#[test]
fn a_tag_that_begins_in_a_range_is_whole() {
    let mut stream = stream();
    stream.write(Bytes::from_static(&[1; 13]), false).expect("open");
    stream.tag(5).expect("open");
    stream.write(Bytes::from_static(&[1; 20]), false).expect("open");
    cut_all(&mut stream);
    let portion = stream.stretch(0, 16).expect("octets");
    assert_eq!((portion.len, portion.tag), (13, None));
    let portion = stream.stretch(13, 16).expect("a tag");
    assert_eq!((portion.len, portion.tag), (8, Some(5)));
}

#[test]
fn room_is_what_was_not_sent_and_more_than_that_is_not_taken() {
    let mut stream = stream();
    assert_eq!(stream.write(Bytes::from(vec![0; 1_500]), true), Ok(1_000));
    assert!(!stream.has_room_again());
    assert_eq!(stream.write(Bytes::from(vec![0; 1]), false), Ok(0));
    stream.nxt = 600;
    assert!(stream.has_room_again());
    assert!(!stream.has_room_again(), "said once");
    stream.close();
    assert_eq!(stream.write(Bytes::new(), false), Err(GroupError::WriterClosed));
}

#[test]
fn a_lost_symbol_comes_back_with_its_marks() {
    let mut stream = stream();
    stream
        .write(Bytes::from_static(b"0123456789"), true)
        .expect("open");
    stream.tag(0x0102_0304_0506_0708).expect("open");
    // The tag has six octets in the first symbol and two in the second.
    stream
        .write(Bytes::from_static(b"abcdefghijklmnopqrstuvwxyz"), true)
        .expect("open");
    stream.close();
    cut_all(&mut stream);
    assert!(stream.is_sent() && stream.is_finished(0) && !stream.is_finished(1));
    assert_eq!(stream.extent(0), (3, 44));
    let sources = stream.sources(0);
    let marks: Vec<Vec<SymbolMark>> = sources
        .iter()
        .map(|source| source.descriptor.marks().to_vec())
        .collect();
    assert_eq!(
        marks,
        [
            vec![SymbolMark::End(10), SymbolMark::Tag(10)],
            vec![],
            vec![SymbolMark::End(12)]
        ]
    );
    assert!(sources[2].descriptor.is_last() && !sources[1].descriptor.is_last());
    assert_eq!(&sources[0].octets[..], b"0123456789\x01\x02\x03\x04\x05\x06");
    assert_eq!(&sources[1].octets[..4], b"\x07\x08ab");
    let symbols: Vec<_> = sources.iter().map(SourceSymbol::symbol).collect();
    let mut decoder = Decoder::new(3, L.into());
    for row in 0..3 {
        let mut coded = vec![0; stream.coded_len()];
        crate::encode_row(row, L.into(), &symbols, &mut coded);
        decoder.row(row, &coded);
    }
    assert_eq!(decoder.finish(), Some(vec![0, 1, 2]));
    assert_eq!(&decoder.coded(1).expect("solved")[..4], b"\x07\x08ab");
}

#[test]
fn more_marks_than_fit_are_said_to_be_there() {
    let mut stream = stream();
    for _ in 0..4 {
        stream.write(Bytes::from_static(b"12"), true).expect("open");
    }
    stream.close();
    cut_all(&mut stream);
    assert!(stream.sources(0)[0].is_overfull());
}

#[test]
fn whole_blocks_are_kept() {
    let mut stream = stream();
    stream.write(Bytes::from(vec![0; 300]), false).expect("open");
    cut_all(&mut stream);
    stream.release(100);
    assert_eq!(stream.lowest(), 64);
    assert!(!stream.is_finished(0) && stream.is_finished(1));
    assert!(stream.portion(64, u64::MAX).is_some() && stream.portion(63, u64::MAX).is_none());
}
