//! Octets that come twice, differently (§4.5).

use crate::host::{Host, cntl, data, first, parse};
use xtp_wire::{Options, service};

fn read_after(packets: &[(u64, &[u8])]) -> Vec<u8> {
    let mut host = Host::new();
    host.give(&first(service::STREAM, 7, 0, Options::empty(), b"ab"));
    for (number, (seq, octets)) in packets.iter().enumerate() {
        host.give(&data(8 + number as u32, *seq, Options::empty(), octets));
    }
    let id = host.accepted()[0];
    host.read(id)
}

#[test]
fn the_first_copy_of_an_octet_counts() {
    assert_eq!(read_after(&[(0, b"XYcd"), (1, b"ZZZef")]), b"abcdef", "in order");
    assert_eq!(
        read_after(&[(4, b"ef"), (2, b"cdXY"), (6, b"gh")]),
        b"abcdefgh",
        "behind a hole"
    );
    assert_eq!(
        read_after(&[(4, b"ef"), (8, b"ij"), (3, b"dXXghXXkl"), (2, b"c")]),
        b"abcdefghijkl",
        "over two holes at once"
    );
}

/// The end of a message is known by the packet that brought the octet first.
#[test]
fn a_copy_does_not_end_a_message_afterwards() {
    let mut host = Host::new();
    host.give(&first(service::STREAM, 7, 0, Options::empty(), b"ab"));
    host.give(&data(8, 0, Options::EOM, b"ab"));
    host.give(&data(9, 2, Options::EOM, b"cd"));
    let id = host.accepted()[0];
    let read = host.engine.read(host.now, id, 100);
    let Ok(xtp_engine::Read::Data { bytes, eom, .. }) = read else {
        panic!("{read:?}")
    };
    assert_eq!((&bytes[..], eom), (&b"abcd"[..], true));
}

/// Positions are not negative: what begins before 0 is dropped, with all it asks for.
#[test]
fn octets_before_the_first_position_are_dropped() {
    let mut host = Host::new();
    host.give(&first(service::STREAM, 7, 0, Options::empty(), b"ab"));
    let ask = Options::SREQ | Options::DREQ;
    assert!(host.give(&data(8, u64::MAX - 3, ask, b"0123456789")).is_empty());
    let id = host.accepted()[0];
    assert_eq!(host.read(id), b"ab");
    assert_eq!(host.engine.context(id).expect("open").stats().implausible, 1);
}

/// A control packet says how far its sender has come. What it cannot have sent is not believed: a reader of an unreliable
/// stream would pass over all of it.
#[test]
fn a_control_packet_that_claims_too_much_is_dropped() {
    let mut host = Host::new();
    let open = Options::NOERR | Options::SREQ;
    let sent = host.give(&first(service::STREAM, 7, 0, open, b"ab"));
    let echo = parse(&sent[0]).header.sync;
    for (number, seq) in [1 << 40, u64::MAX - 1, u64::MAX].into_iter().enumerate() {
        let ask = open | Options::DREQ;
        let far = cntl(8 + number as u32, seq, ask, 0, 1_000, echo);
        assert!(host.give(&far).is_empty(), "{seq}");
    }
    let sent = host.give(&cntl(20, 5, open, 0, 1_000, echo));
    let status = parse(&sent[0]);
    assert_eq!(status.body.control().map(|control| control.rseq), Some(5));
}
