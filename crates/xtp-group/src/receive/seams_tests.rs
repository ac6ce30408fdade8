//! Which of two symbols is computed first does not matter.

use super::*;

fn plain(position: u64, octets: &'static [u8]) -> DecodedSegment {
    DecodedSegment {
        position,
        tag: None,
        octets: Bytes::from_static(octets),
        eom: false,
    }
}

fn tagged() -> DecodedSegment {
    DecodedSegment {
        position: 97,
        tag: Some(0x0102_0304_0506_0708),
        octets: Bytes::from_static(b"rest"),
        eom: false,
    }
}

const HALF: &[u8] = &[1, 2, 3];
const REST: &[u8] = b"\x04\x05\x06\x07\x08rest";

#[test]
fn the_first_half_first() {
    let (mut seams, mut out) = (Seams::default(), Vec::new());
    let half = Some(Bytes::from_static(HALF));
    seams.take((50, 100), vec![plain(50, b"before")], half, true, &mut out);
    assert_eq!(out, [plain(50, b"before")]);
    seams.take((100, 150), vec![plain(100, REST)], None, false, &mut out);
    assert_eq!(out[1..], [tagged()]);
    assert!(seams.is_empty() && seams.halves.is_empty());
}

#[test]
fn the_second_half_first() {
    let (mut seams, mut out) = (Seams::default(), Vec::new());
    seams.take((100, 150), vec![plain(100, REST)], None, false, &mut out);
    assert_eq!(out, [], "it may be the rest of a tag");
    let half = Some(Bytes::from_static(HALF));
    seams.take((50, 100), vec![plain(50, b"before")], half, true, &mut out);
    assert_eq!(out, [plain(50, b"before"), tagged()]);
    assert!(seams.is_empty());
}

#[test]
fn no_tag_at_all() {
    let (mut seams, mut out) = (Seams::default(), Vec::new());
    seams.take((100, 150), vec![plain(100, REST)], None, false, &mut out);
    seams.look(|_| false, &mut out);
    assert_eq!(out, []);
    seams.look(|border| border == 100, &mut out);
    assert_eq!(out, [plain(100, REST)], "the octet in front of it came otherwise");
}

#[test]
fn half_a_tag_whose_rest_came_otherwise_is_forgotten() {
    let (mut seams, mut out) = (Seams::default(), Vec::new());
    let half = Some(Bytes::from_static(HALF));
    seams.take((50, 100), vec![], half, true, &mut out);
    seams.release(99);
    assert_eq!(seams.halves.len(), 1);
    seams.release(105);
    assert!(seams.halves.is_empty());
}
