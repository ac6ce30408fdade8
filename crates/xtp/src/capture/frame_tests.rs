//! Headers of captured frames, octet by octet.

use super::*;

fn addr(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// Sums a header including its checksum field: all ones if that is right.
fn verifies(total: u64) -> bool {
    fold(total) == u16::MAX
}

#[test]
fn ipv4_protocol_36() {
    let mut frame = Vec::new();
    let pieces: [&[u8]; 2] = [b"abc", b"de"];
    assert!(build(
        Framing::Protocol36,
        addr("10.0.0.1:5"),
        addr("10.0.0.2:6"),
        &pieces,
        0x1234,
        &mut frame
    ));
    assert_eq!(frame.len(), 25);
    assert_eq!(frame[..2], [0x45, 0]);
    assert_eq!(frame[2..4], 25u16.to_be_bytes());
    assert_eq!(frame[4..6], [0x12, 0x34]);
    assert_eq!(frame[9], 36);
    assert_eq!(frame[12..20], [10, 0, 0, 1, 10, 0, 0, 2]);
    assert!(verifies(sum(&frame[..20])));
    assert_eq!(frame[20..], *b"abcde");
}

#[test]
fn ipv4_udp_with_a_good_checksum() {
    let mut frame = Vec::new();
    let pieces: [&[u8]; 2] = [b"odd", b"even"];
    assert!(build(
        Framing::Udp,
        addr("10.0.0.1:5000"),
        addr("10.0.0.2:36036"),
        &pieces,
        1,
        &mut frame
    ));
    assert_eq!(frame.len(), 20 + 8 + 7);
    assert_eq!(frame[9], 17);
    assert_eq!(frame[20..26], [0x13, 0x88, 0x8c, 0xc4, 0, 15]);
    let pseudo = sum(&frame[12..20]) + 17 + 15;
    assert!(verifies(pseudo + sum(&frame[20..])));
}

#[test]
fn ipv6_both_ways() {
    for (framing, protocol, header) in [(Framing::Protocol36, 36, 40), (Framing::Udp, 17, 48)] {
        let mut frame = Vec::new();
        assert!(build(
            framing,
            addr("[fe80::1]:5"),
            addr("[fe80::2]:6"),
            &[b"abcd"],
            1,
            &mut frame
        ));
        assert_eq!(frame.len(), header + 4);
        assert_eq!(frame[0] >> 4, 6);
        assert_eq!(
            frame[4..6],
            u16::try_from(header - 40 + 4).expect("small").to_be_bytes()
        );
        assert_eq!(frame[6], protocol);
        if framing == Framing::Udp {
            let pseudo = sum(&frame[8..40]) + 17 + 12;
            assert!(verifies(pseudo + sum(&frame[40..])));
        }
    }
}

#[test]
fn mixed_families_and_giants_are_left_out() {
    let mut frame = Vec::new();
    assert!(!build(
        Framing::Udp,
        addr("10.0.0.1:5"),
        addr("[::1]:6"),
        &[b"x"],
        1,
        &mut frame
    ));
    let giant = vec![0; 65_516];
    assert!(!build(
        Framing::Protocol36,
        addr("10.0.0.1:5"),
        addr("10.0.0.2:6"),
        &[&giant],
        1,
        &mut frame
    ));
    assert!(frame.is_empty());
}
