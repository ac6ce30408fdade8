//! Which lists are spans.

use super::*;
use std::vec::Vec;

fn spans(rseq: u64, list: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, WireError> {
    let list: Vec<Span> = list
        .iter()
        .map(|(left, right)| Span::new(*left, *right))
        .collect();
    Ok(Spans::new(rseq, &list)?.iter().collect())
}

#[test]
fn in_order_with_gaps_between() {
    assert_eq!(spans(10, &[]), Ok(Vec::new()));
    assert_eq!(
        spans(10, &[(11, 12), (13, 20)]),
        Ok(Vec::from([(11, 12), (13, 20)]))
    );
    assert_eq!(spans(0, &[(1, u64::MAX)]), Ok(Vec::from([(1, u64::MAX)])));
}

#[test]
fn anything_else_is_refused() {
    let bad: [(&str, &[(u64, u64)]); 7] = [
        ("left is rseq", &[(10, 12)]),
        ("left before rseq", &[(9, 12)]),
        ("empty", &[(11, 11)]),
        ("backwards", &[(12, 11)]),
        ("adjacent", &[(11, 12), (12, 13)]),
        ("overlapping", &[(11, 13), (12, 14)]),
        ("unordered", &[(15, 16), (12, 13)]),
    ];
    for (what, list) in bad {
        assert_eq!(spans(10, list), Err(WireError::BadSpans), "{what}");
    }
}

#[test]
fn ecntl_wants_its_own_rseq() {
    let list = [Span::new(5, 9)];
    let spans = Spans::new(0, &list).unwrap();
    let mut out = [0; 40];
    let control = |rseq| Control {
        rseq,
        ..Default::default()
    };
    assert_eq!(spans.encode_ecntl(control(4), &mut out), Ok(40));
    assert_eq!(
        spans.encode_ecntl(control(5), &mut out),
        Err(EncodeError::Invalid)
    );
    assert_eq!(
        spans.encode_ecntl(control(4), &mut out[..39]),
        Err(EncodeError::BufferTooSmall)
    );
    assert_eq!(
        (spans.len(), spans.is_empty(), Spans::EMPTY.is_empty()),
        (1, false, true)
    );
}

#[test]
fn a_count_beyond_the_octets_is_a_bad_length() {
    assert_eq!(Spans::take(0, 1, &[0; 15]), Err(WireError::BadLength));
    assert_eq!(Spans::take(0, usize::MAX, &[0; 32]), Err(WireError::BadLength));
}
