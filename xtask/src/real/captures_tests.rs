//! Reference packets and sums.

use std::collections::BTreeSet;

use super::*;

#[test]
fn the_reference_packets_are_read() {
    let vectors = vectors().expect("well-formed lines");
    let names: BTreeSet<&str> = vectors.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 32);
    assert_eq!(vectors.len(), 32);
    assert!(vectors.iter().all(|(_, octets)| octets.len() >= 32));
}

#[test]
fn a_checksum_makes_the_sum_come_out() {
    for octets in [
        &[0x12, 0x34, 0, 0, 0xff, 0xff][..],
        &[0xff, 0xff, 0, 0, 1],
        &[0; 8],
    ] {
        let mut whole = octets.to_vec();
        whole[2..4].copy_from_slice(&checksum(octets).to_be_bytes());
        assert_eq!(checksum(&whole), 0, "{octets:?}");
    }
}
