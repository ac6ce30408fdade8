//! One wrong number is enough, and right ones pass.

use super::*;
use xtp_wire::{DataSegment, Format, Header, Key};

const LAST: TimeWait = TimeWait {
    key: Key::own(1),
    own: 1,
    options: Options::END,
    sort: 0,
    rseq: 1_000,
    alloc: 1_000,
    seq: 500,
    echo: Some(9),
    sync: 70,
};

fn header(options: Options, seq: u64) -> Header {
    Header {
        key: Key::own(1),
        options,
        format: Format::Cntl,
        dlen: 0,
        check: 0,
        sort: 0,
        sync: 9,
        seq,
    }
}

fn allows(options: Options, seq: u64, body: Body<'_>) -> bool {
    LAST.allow(&Packet {
        header: header(options, seq),
        body,
        padding: 0,
    })
}

fn status(rseq: u64, alloc: u64, echo: u32) -> bool {
    allows(Options::empty(), 1_000, Body::Cntl(Control { rseq, alloc, echo }))
}

#[test]
fn status_of_the_association_is_possible() {
    assert!(status(500, 500, 70));
    assert!(status(0, 1 << 20, 1));
}

#[test]
fn one_wrong_number_is_enough() {
    assert!(!status(501, 501, 70), "octets that were never sent");
    assert!(!status(500, 499, 70), "alloc below rseq");
    assert!(!status(0, MAX_GRANT + 1, 70), "a grant larger than any");
    assert!(!status(500, 500, 71), "an echo of what was never sent");
    assert!(
        !status(500, 500, 70_u32.wrapping_sub(ECHO_AGE)),
        "an echo of long ago"
    );
    let spans = |right: u64| {
        let mut octets = [0; 16];
        octets[..8].copy_from_slice(&450_u64.to_be_bytes());
        octets[8..].copy_from_slice(&right.to_be_bytes());
        octets
    };
    for (right, possible) in [(500, true), (501, false)] {
        let octets = spans(right);
        let mut packet = [0; 32 + 24 + 16];
        let ecntl = ecntl(&mut packet, &octets);
        let parsed = Packet::parse(ecntl).expect("well-formed");
        assert_eq!(LAST.allow(&parsed), possible, "a span up to {right}");
    }
}

/// ECNTL with rseq 400, alloc 500, echo 70 and one span.
fn ecntl<'a>(packet: &'a mut [u8; 72], span: &[u8; 16]) -> &'a [u8] {
    let head = Header {
        format: Format::Ecntl,
        dlen: 40,
        ..header(Options::empty(), 1_000)
    };
    let mut octets = [0; 32];
    head.encode(&mut octets);
    packet[..32].copy_from_slice(&octets);
    packet[32..40].copy_from_slice(&400_u64.to_be_bytes());
    packet[40..48].copy_from_slice(&500_u64.to_be_bytes());
    packet[48..52].copy_from_slice(&70_u32.to_be_bytes());
    packet[52..56].copy_from_slice(&1_u32.to_be_bytes());
    packet[56..].copy_from_slice(span);
    xtp_wire::seal(packet, core::iter::empty());
    packet
}

#[test]
fn echo_0_is_for_an_end_that_was_never_answered() {
    let zero = Body::Cntl(Control {
        rseq: 0,
        alloc: 0,
        echo: 0,
    });
    assert!(allows(Options::END, 0, zero));
    assert!(!allows(Options::empty(), 0, zero));
}

#[test]
fn data_lies_near_what_was_received() {
    let data = |seq| {
        let body = Body::Data(DataSegment {
            tag: None,
            data: &[1; 10],
        });
        allows(Options::empty(), seq, body)
    };
    assert!(data(990) && data(0) && data(1_000 + (1 << 20)));
    assert!(!data(1_000 + WIDE));
    assert!(!data(u64::MAX - 5), "positions do not wrap");
}
