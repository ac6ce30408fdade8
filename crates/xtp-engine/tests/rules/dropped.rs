//! What is dropped, and what counts it (§1.12).

use crate::host::{Host, data, encode, first, parse, plain};
use xtp_wire::{Body, Control, HEADER_LEN, Options, service};

/// An open stream with three octets received.
fn open() -> Host {
    let mut host = Host::new();
    host.give(&first(service::STREAM, 7, 0, Options::SREQ, b"abc"));
    host
}

/// rseq as the host tells it when asked.
fn rseq(host: &mut Host, sync: u32) -> u64 {
    let sent = host.give(&data(sync, 3, Options::SREQ, b""));
    parse(&sent[0]).body.control().expect("status").rseq
}

/// Puts the right checksum over header and payload.
fn seal(octets: &mut [u8]) {
    octets[16..18].fill(0);
    xtp_wire::seal(octets, core::iter::empty());
}

#[test]
fn a_bad_checksum() {
    let mut host = open();
    let mut octets = encode(&data(8, 3, Options::SREQ, b"def"));
    octets[HEADER_LEN] ^= 1;
    assert!(host.give_octets(&octets).is_empty());
    assert_eq!(host.engine.stats().bad_checksum, 1);
    // Not even a FIRST is answered, whatever else is wrong with it.
    let mut octets = encode(&first(service::STREAM, 7, 0, Options::SREQ, b"abc"));
    octets[HEADER_LEN + 3] = 99;
    octets[0] ^= 1;
    assert!(host.give_octets(&octets).is_empty());
    assert_eq!(rseq(&mut host, 9), 3);
    assert_eq!(host.accepted().len(), 1);
}

#[test]
fn a_payload_that_is_not_covered_is_delivered_as_it_came() {
    let mut host = open();
    let mut octets = encode(&data(8, 3, Options::NOCHECK, b"def"));
    octets[HEADER_LEN] ^= 1;
    host.give_octets(&octets);
    let id = host.accepted()[0];
    assert_eq!(host.read(id), b"abceef");
}

#[test]
fn fewer_octets_than_dlen_says() {
    let mut host = open();
    let octets = encode(&data(8, 3, Options::SREQ, b"def"));
    for length in 0..octets.len() {
        assert!(host.give_octets(&octets[..length]).is_empty());
    }
    assert_eq!(host.engine.stats().malformed, octets.len() as u64);
    assert_eq!(rseq(&mut host, 9), 3);
}

#[test]
fn octets_behind_dlen_are_ignored() {
    let mut host = open();
    let mut octets = encode(&data(8, 3, Options::empty(), b"def"));
    octets.extend_from_slice(b"tail");
    host.give_octets(&octets);
    let id = host.accepted()[0];
    assert_eq!(host.read(id), b"abcdef");
}

/// BTAG promises eight octets; a tag and nothing behind it is whole.
#[test]
fn a_short_tag() {
    let mut host = open();
    for length in 0..8 {
        let mut octets = encode(&data(8, 3, Options::SREQ, &[0; 8][..length]));
        octets[9] |= 1;
        seal(&mut octets);
        assert!(host.give_octets(&octets).is_empty(), "{length}");
    }
    assert_eq!(host.engine.stats().malformed, 8);
    let mut tag = data(8, 3, Options::SREQ, b"");
    tag.body = Body::Data(xtp_wire::DataSegment {
        tag: Some(5),
        data: &[],
    });
    let sent = host.give(&tag);
    assert_eq!(parse(&sent[0]).body.control().expect("status").rseq, 11);
}

/// A format has the length of its segments and no other.
#[test]
fn a_length_that_is_not_the_formats() {
    let mut host = open();
    let control = Control {
        rseq: 0,
        alloc: 1_000,
        echo: 0,
    };
    let mut short = encode(&crate::host::packet(8, 3, Options::SREQ, Body::Cntl(control)));
    short.push(0);
    short[15] += 1;
    seal(&mut short);
    assert!(host.give_octets(&short).is_empty());
    let xdata = Body::Xdata {
        control,
        delay_us: 0,
        data: plain(b""),
    };
    let mut octets = encode(&crate::host::packet(8, 3, Options::SREQ, xdata));
    octets.truncate(HEADER_LEN + 23);
    octets[15] -= 1;
    seal(&mut octets);
    assert!(host.give_octets(&octets).is_empty());
    assert_eq!(host.engine.stats().malformed, 2);
}

/// Neither tag nor data: no octets, but its options count.
#[test]
fn data_without_data_still_speaks() {
    let mut host = open();
    assert_eq!(rseq(&mut host, 8), 3);
    host.give(&data(9, 3, Options::WCLOSE, b""));
    let id = host.accepted()[0];
    assert_eq!(host.read(id), b"abc");
    assert!(matches!(
        host.engine.read(host.now, id, 1),
        Ok(xtp_engine::Read::End)
    ));
}
