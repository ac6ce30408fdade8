//! Marks and housekeeping.

use super::*;

/// An IPv4 header with a right checksum.
fn header(traffic_class: u8, identification: u16) -> Vec<u8> {
    let mut header = vec![
        0x45,
        traffic_class,
        0,
        20,
        0,
        0,
        0,
        0,
        64,
        17,
        0,
        0,
        10,
        36,
        0,
        1,
        10,
        36,
        0,
        2,
    ];
    header[4..6].copy_from_slice(&identification.to_be_bytes());
    let checksum = !sum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// The one's complement sum, 0xffff over a header with a right checksum.
fn sum(header: &[u8]) -> u16 {
    let mut sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[test]
fn a_marked_header_has_a_right_checksum() {
    for identification in 0..=u16::MAX {
        for codepoint in [0b01, 0b10, 0b11] {
            let mut packet = header(0x10 | codepoint, identification);
            assert!(mark(&mut packet));
            assert_eq!(packet[1], 0x13);
            assert_eq!(sum(&packet), 0xffff, "{identification} {codepoint}");
        }
    }
}

#[test]
fn who_does_not_understand_marks_gets_none() {
    let mut packet = header(0x10, 7);
    let before = packet.clone();
    assert!(!mark(&mut packet));
    assert_eq!(packet, before);
    let mut v6 = vec![0; 40];
    v6[0] = 0x6f;
    v6[1] = 0xcf;
    assert!(!mark(&mut v6));
    assert_eq!(v6[1], 0xcf);
    for mut short in [vec![], vec![0x45; 19], vec![0x60; 39], vec![0x15; 40]] {
        assert!(!mark(&mut short));
    }
}

#[test]
fn ipv6_is_marked_where_its_traffic_class_ends() {
    for codepoint in [0x10, 0x20, 0x30] {
        let mut packet = vec![0; 40];
        packet[0] = 0x60;
        packet[1] = 0xc5 & 0xcf | codepoint;
        assert!(mark(&mut packet));
        assert_eq!(packet[..2], [0x60, 0xf5]);
    }
}

#[test]
fn housekeeping_goes_to_routers_only() {
    let to = |destination: [u8; 16]| {
        let mut packet = vec![0; 48];
        packet[0] = 0x60;
        packet[24..40].copy_from_slice(&destination);
        packet
    };
    let group = |last: u8| {
        let mut group = [0; 16];
        (group[0], group[1], group[15]) = (0xff, 0x02, last);
        group
    };
    assert!(is_housekeeping(&to(group(0x16))));
    assert!(is_housekeeping(&to(group(0x02))));
    assert!(
        !is_housekeeping(&to(group(0x01))),
        "all nodes: a program may send there"
    );
    let mut unicast = group(0x16);
    unicast[0] = 0xfd;
    assert!(!is_housekeeping(&to(unicast)));
    let mut solicited = group(0x02);
    solicited[11] = 1;
    assert!(!is_housekeeping(&to(solicited)));
    assert!(!is_housekeeping(&[0x60; 20]));
    assert!(!is_housekeeping(&[]));
    let mut v4 = to(group(0x16));
    v4[0] = 0x45;
    assert!(!is_housekeeping(&v4));
}
