//! Arbitrary octets as a packet: parsing never panics, and what parses survives encoding and parsing again.
#![no_main]

use std::ops::Range;

use libfuzzer_sys::fuzz_target;
use xtp_wire::{Body, EncodeError, HEADER_LEN, Packet, seal};

/// Larger than any UDP datagram.
const LARGEST: usize = 1 << 16;
/// Where the header says how long the packet is.
const DLEN: Range<usize> = 12..16;

fuzz_target!(|octets: &[u8]| {
    if parse(octets) || octets.len() < HEADER_LEN {
        return;
    }
    // The fuzzer finds neither lengths nor checksums by itself: with the right ones it gets to the segments.
    let mut mended = octets.to_vec();
    let present = (octets.len() - HEADER_LEN) as u32;
    let claimed = u32::from_be_bytes([octets[12], octets[13], octets[14], octets[15]]);
    mended[DLEN].copy_from_slice(&claimed.min(present).to_be_bytes());
    seal(&mut mended, []);
    parse(&mended);
});

fn parse(octets: &[u8]) -> bool {
    let Ok(packet) = Packet::parse(octets) else {
        return false;
    };
    let mut encoded = vec![0; LARGEST];
    let length = match packet.encode(&mut encoded) {
        Ok(length) => length,
        // Segments of formats unknown here can be recognised but not written.
        Err(EncodeError::UnsupportedFormat) => return true,
        Err(EncodeError::BufferTooSmall) if octets.len() > LARGEST => return true,
        Err(error) => panic!("what was parsed cannot be encoded: {error}"),
    };
    let again = Packet::parse(&encoded[..length]).expect("what was encoded parses");
    let identity = |packet: &Packet<'_>| {
        let header = packet.header;
        (
            header.key,
            header.options,
            header.format,
            header.sort,
            header.sync,
            header.seq,
        )
    };
    assert_eq!(identity(&again), identity(&packet));
    if let Body::Diag(_) = packet.body {
        // Text that was no text is gone, and its padding with it.
        assert!(length <= octets.len());
    } else {
        assert_eq!(again.body, packet.body);
        assert_eq!(length, octets.len());
    }
    true
}
