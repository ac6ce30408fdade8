//! Address segments, right and wrong.

use super::*;
use std::vec::Vec;

fn segment(length: u16, format: u8, octets: usize) -> Vec<u8> {
    let mut segment = std::vec![0; octets];
    segment[..2].copy_from_slice(&length.to_be_bytes());
    segment[2] = 6;
    segment[3] = format;
    segment
}

#[test]
fn every_format_round_trips() {
    let (dst_port, src_port) = (21, 40_000);
    let all = [
        (Address::Null { domain: 3 }, 8, None),
        (
            Address::Ipv4 {
                domain: 6,
                dst: [1, 2, 3, 4],
                src: [5, 6, 7, 8],
                dst_port,
                src_port,
            },
            16,
            Some(21),
        ),
        (
            Address::Ipv6 {
                domain: 17,
                dst: [1; 16],
                src: [2; 16],
                dst_port,
                src_port,
            },
            40,
            Some(21),
        ),
    ];
    for (address, length, port) in all {
        let mut out = [0xaa; 48];
        assert_eq!(address.encode(&mut out), Ok(length));
        assert_eq!(address.encoded_len(), length);
        assert_eq!(Address::take(&out), Ok((address, &out[length..])));
        assert_eq!(address.port(), port);
        assert_eq!(
            address.encode(&mut out[..length - 1]),
            Err(EncodeError::BufferTooSmall)
        );
    }
}

#[test]
fn lengths_that_do_not_fit_the_format() {
    let bad = [
        (0, 0, 16),
        (4, 0, 16),
        (16, 0, 16),
        (8, 1, 16),
        (24, 1, 24),
        (16, 6, 16),
        (48, 6, 48),
    ];
    for (length, format, octets) in bad {
        let segment = segment(length, format, octets);
        assert_eq!(
            Address::take(&segment),
            Err(WireError::BadAddress),
            "{length} {format}"
        );
    }
}

#[test]
fn lengths_that_fit_nothing() {
    for length in [0, 1, 7, 9, 12, 15, 17, u16::MAX] {
        let segment = segment(length, 200, 64);
        assert_eq!(Address::take(&segment), Err(WireError::BadAddress), "{length}");
    }
    for octets in 4..16 {
        assert_eq!(
            Address::take(&segment(16, 1, octets)),
            Err(WireError::BadAddress),
            "{octets}"
        );
    }
    assert_eq!(Address::take(&[0, 8, 0]), Err(WireError::BadAddress));
}

#[test]
fn other_formats_are_known_by_number_only() {
    let segment = segment(24, 2, 30);
    let (address, rest) = Address::take(&segment).unwrap();
    assert_eq!(
        (address, rest.len()),
        (Address::Other { domain: 6, format: 2 }, 6)
    );
    assert_eq!((address.port(), address.domain(), address.format()), (None, 6, 2));
    assert_eq!(
        (address.encoded_len(), address.encode(&mut [0; 64])),
        (0, Err(EncodeError::UnsupportedFormat))
    );
}
