//! The reference packets cut, lengthened and flipped.

mod common;

use common::vectors;
use xtp_wire::*;

#[test]
fn every_truncation_is_noticed() {
    for (name, octets) in vectors() {
        for length in 0..octets.len() {
            let cut = Packet::parse(&octets[..length]);
            assert_eq!(cut, Err(WireError::Truncated), "{name} cut to {length}");
        }
    }
}

#[test]
fn a_tail_is_padding_and_changes_nothing() {
    for (name, octets) in vectors() {
        let packet = Packet::parse(&octets).unwrap();
        for count in [1, 2, 7, 100] {
            let longer = [&octets[..], &vec![0x5a; count]].concat();
            let padded = Packet::parse(&longer).unwrap();
            assert_eq!(
                padded,
                Packet {
                    padding: count,
                    ..packet
                },
                "{name}"
            );
            let mut out = vec![0xaa; longer.len()];
            assert_eq!(padded.encode(&mut out), Ok(longer.len()), "{name}");
            assert_eq!(out[..octets.len()], octets, "{name}");
            assert!(
                out[octets.len()..].iter().all(|octet| *octet == 0),
                "{name}: padding is zero"
            );
        }
    }
}

#[test]
fn every_flipped_bit_of_a_header_is_noticed() {
    for (name, octets) in vectors() {
        for bit in 0..HEADER_LEN * 8 {
            let mut flipped = octets.clone();
            flipped[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(Packet::parse(&flipped).is_err(), "{name} bit {bit}");
        }
    }
}

#[test]
fn every_flipped_bit_of_a_payload_is_noticed_where_it_is_covered() {
    for (name, octets) in vectors() {
        let covered = !Header::parse(&octets).unwrap().options.contains(Options::NOCHECK);
        for bit in HEADER_LEN * 8..octets.len() * 8 {
            let mut flipped = octets.clone();
            flipped[bit / 8] ^= 0x80 >> (bit % 8);
            let parsed = Packet::parse(&flipped);
            if covered {
                assert_eq!(parsed, Err(WireError::BadChecksum), "{name} bit {bit}");
            } else {
                assert!(parsed.is_ok(), "{name} bit {bit}");
            }
        }
    }
}

#[test]
fn shortened_payloads_with_a_right_header_do_not_parse_to_the_same() {
    for (name, octets) in vectors() {
        let whole = Packet::parse(&octets).unwrap().body;
        for length in HEADER_LEN..octets.len() {
            let mut cut = octets[..length].to_vec();
            let dlen = u32::try_from(length - HEADER_LEN).unwrap();
            cut[12..16].copy_from_slice(&dlen.to_be_bytes());
            seal(&mut cut, []);
            match Packet::parse(&cut) {
                Err(WireError::BadLength | WireError::BadAddress | WireError::BadTraffic) => {}
                Err(error) => panic!("{name} cut to {length}: {error}"),
                Ok(packet) => {
                    let open_ended = packet.body.data().is_some() || matches!(packet.body, Body::Diag(_));
                    assert!(
                        open_ended,
                        "{name} cut to {length}: only data and text may be shorter"
                    );
                    assert_ne!(packet.body, whole, "{name} cut to {length}");
                }
            }
        }
    }
}

#[test]
fn encoding_into_less_room_is_an_error() {
    for (name, octets) in vectors() {
        let packet = Packet::parse(&octets).unwrap();
        for length in 0..octets.len() {
            let mut out = vec![0; length];
            assert_eq!(
                packet.encode(&mut out),
                Err(EncodeError::BufferTooSmall),
                "{name} into {length}"
            );
            if length < packet.body.encoded_len() {
                assert_eq!(
                    packet.body.encode(&mut out),
                    Err(EncodeError::BufferTooSmall),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn header_only_checksums_are_accepted_on_every_format() {
    for (name, octets) in vectors() {
        let packet = Packet::parse(&octets).unwrap();
        let mut header = packet.header;
        header.options |= Options::NOCHECK;
        let mut out = vec![0; octets.len()];
        Packet { header, ..packet }.encode(&mut out).unwrap();
        let parsed = Packet::parse(&out).unwrap();
        assert_eq!(parsed.body, packet.body, "{name}");
        assert!(parsed.header.options.contains(Options::NOCHECK), "{name}");
    }
}
