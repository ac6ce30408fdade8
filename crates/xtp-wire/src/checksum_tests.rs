//! The sum against a slow one, over any pieces.

use super::*;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

/// Word by word, as the definition says.
fn slow(octets: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for word in octets.chunks(2) {
        sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn fast<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> u16 {
    let mut sum = Checksum::new();
    pieces.into_iter().for_each(|piece| sum.add(piece));
    sum.finish()
}

#[test]
fn of_nothing_and_of_extremes() {
    assert_eq!(fast([]), 0xffff);
    assert_eq!(fast([&[0; 7][..]]), 0xffff);
    // Miri takes a thousand times as long.
    let longest = if cfg!(miri) { 1_507 } else { 65_507 };
    for length in [1, 2, 3, 4, 31, 32, longest] {
        let full = vec![0xff; length];
        assert_eq!(fast([&full[..]]), slow(&full), "{length}");
    }
    assert_eq!(fast([&[0x12, 0x34][..]]), !0x1234);
    assert_eq!(fast([&[0x12][..], &[0x34][..]]), !0x1234);
}

#[test]
fn folding_never_loses_a_carry() {
    for sum in [
        0,
        0xffff,
        0x1_0000,
        0xffff_ffff,
        0x1_0000_0000,
        u64::MAX,
        u64::MAX - 1,
        0xffff_0001_ffff,
    ] {
        let folded = fold(sum);
        assert_eq!(u64::from(folded) % 0xffff, sum % 0xffff, "{sum:#x}");
        assert_eq!(folded == 0, sum == 0, "{sum:#x}");
    }
}

/// A header with this length and options; the rest is noise.
fn header(options: u8, dlen: u8) -> [u8; HEADER_LEN] {
    let mut header: [u8; HEADER_LEN] = core::array::from_fn(|at| (at * 37) as u8);
    header[OPTIONS_OFFSET] = options;
    header[DLEN_OFFSET..DLEN_OFFSET + 4].copy_from_slice(&[0, 0, 0, dlen]);
    header
}

fn sealed_check(mut packet: Vec<u8>, payload: &[&[u8]]) -> Vec<u8> {
    seal(&mut packet, payload.iter().copied());
    packet
}

#[test]
fn nocheck_leaves_the_payload_alone() {
    let packet = sealed_check([&header(NOCHECK_OCTET, 5)[..], b"ab"].concat(), &[b"cde"]);
    let other = sealed_check([&header(NOCHECK_OCTET, 5)[..], b"xy"].concat(), &[b"zzz"]);
    assert_eq!(packet[..HEADER_LEN], other[..HEADER_LEN]);
    assert!(verifies(packet.first_chunk().unwrap(), b""));
}

#[test]
fn padding_is_not_covered() {
    let packet = sealed_check([&header(0, 3)[..], b"ab"].concat(), &[b"c??", b"???"]);
    assert!(verifies(packet.first_chunk().unwrap(), b"abc"));
    let beside = sealed_check([&header(0, 3)[..], b"abc?????"].concat(), &[]);
    assert_eq!(packet[..HEADER_LEN], beside[..HEADER_LEN]);
}

#[test]
#[should_panic(expected = "begins with its header")]
fn a_packet_without_a_whole_header_cannot_be_sealed() {
    seal(&mut [0; HEADER_LEN - 1], []);
}

proptest! {
    #[test]
    fn pieces_make_no_difference(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 0..8)) {
        let whole = pieces.concat();
        prop_assert_eq!(fast(pieces.iter().map(Vec::as_slice)), slow(&whole));
    }

    #[test]
    fn a_sealed_packet_verifies_and_a_changed_one_does_not(
        first in prop::collection::vec(any::<u8>(), 0..40),
        second in prop::collection::vec(any::<u8>(), 0..40),
        bit in 0_usize..8,
        place in any::<prop::sample::Index>(),
    ) {
        let dlen = u8::try_from(first.len() + second.len()).unwrap();
        let packet = sealed_check([&header(0, dlen)[..], &first].concat(), &[&second]);
        let mut whole = [&packet[..], &second].concat();
        let ok = |whole: &[u8]| verifies(whole.first_chunk().unwrap(), &whole[HEADER_LEN..]);
        prop_assert!(ok(&whole));
        let at = place.index(whole.len());
        whole[at] ^= 1 << bit;
        prop_assert!(!ok(&whole));
    }
}
