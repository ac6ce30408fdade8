//! Records of a catch-up, whole and in pieces.

use std::vec::Vec;

use proptest::prelude::*;

use super::*;

#[test]
fn a_range_without_octets_is_none() {
    assert_eq!(MissingRange::new(5, 5), None);
    assert_eq!(MissingRange::new(6, 5), None);
    let whole = MissingRange::new(0, u64::MAX).unwrap();
    assert_eq!(whole.len(), u64::MAX);
    assert_eq!(MissingRange::parse(whole.encode()), Ok(whole));
    assert_eq!(MissingRange::parse([7; RANGE_LEN]), Err(WireError::BadGroup));
}

#[test]
fn a_bad_record_does_not_shift_those_behind_it() {
    let good = MissingRange::new(10, 4096).unwrap();
    let stream = [[0; RANGE_LEN], good.encode()].concat();
    let (mut reader, mut left) = (RangeReader::new(), &stream[..]);
    assert_eq!(reader.next(&mut left), Err(WireError::BadGroup));
    assert_eq!(reader.next(&mut left), Ok(Some(good)));
    assert_eq!(reader.next(&mut left), Ok(None));
    assert!(reader.is_between_records());
}

proptest! {
    /// However the stream is cut, the same records come out, and what is left over is known.
    #[test]
    fn pieces_of_any_size(
        ranges in prop::collection::vec((any::<u64>(), 1..u64::MAX), 0..8),
        cuts in prop::collection::vec(0_usize..40, 0..20),
        extra in 0_usize..RANGE_LEN,
    ) {
        let ranges: Vec<MissingRange> =
            ranges.into_iter().filter_map(|(from, length)| MissingRange::new(from, from.saturating_add(length))).collect();
        let mut stream: Vec<u8> = ranges.iter().flat_map(|range| range.encode()).collect();
        stream.resize(stream.len() + extra, 0);
        let (mut reader, mut found, mut rest) = (RangeReader::new(), Vec::new(), &stream[..]);
        for cut in cuts.into_iter().chain([usize::MAX]) {
            let (mut piece, after) = rest.split_at(cut.min(rest.len()));
            rest = after;
            while let Some(range) = reader.next(&mut piece).unwrap() {
                found.push(range);
            }
            prop_assert!(piece.is_empty());
        }
        prop_assert_eq!(found, ranges);
        prop_assert_eq!(reader.is_between_records(), extra == 0);
    }
}
