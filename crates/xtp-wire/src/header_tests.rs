//! Places of the fields, and headers that are none.

use super::*;

const HEADER: Header = Header {
    key: Key::returned(0x0102_0304_0506_0708),
    options: Options::SREQ.union(Options::EOM),
    format: Format::Xcntl,
    dlen: 0x1112_1314,
    check: 0x2122,
    sort: 0x3132,
    sync: 0x4142_4344,
    seq: 0x5152_5354_5556_5758,
};

const OCTETS: [u8; HEADER_LEN] = [
    0x81, 2, 3, 4, 5, 6, 7, 8, 0, 0x44, 0, 0x31, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x31, 0x32, 0x41, 0x42,
    0x43, 0x44, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
];

#[test]
fn every_field_in_its_place() {
    let mut out = [0; HEADER_LEN];
    HEADER.encode(&mut out);
    assert_eq!(out, OCTETS);
    assert_eq!(Header::parse(&out), Ok(HEADER));
    assert_eq!(
        Header::parse(&[&out[..], b"and more"].concat()),
        Ok(HEADER),
        "what follows is not looked at"
    );
}

#[test]
fn every_shorter_one_is_truncated() {
    for length in 0..HEADER_LEN {
        assert_eq!(Header::parse(&OCTETS[..length]), Err(WireError::Truncated));
    }
}

#[test]
fn every_command_octet() {
    for command in 0..=u8::MAX {
        let mut octets = OCTETS;
        octets[11] = command;
        let expected = if command >> 5 == 1 {
            Format::parsable(command & 31).map(|format| Header { format, ..HEADER })
        } else {
            Err(WireError::Version)
        };
        assert_eq!(Header::parse(&octets), expected, "{command:#x}");
    }
}

#[test]
fn reserved_option_bits_are_ignored() {
    let mut octets = OCTETS;
    octets[8] |= 0x80;
    octets[10] |= 0xff;
    assert_eq!(Header::parse(&octets), Ok(HEADER));
}

#[test]
fn headers_of_a_run_are_those_sealed_one_by_one() {
    for (sync, seq, dlen, sort) in [
        (1, 0, 1_440, 0),
        (u32::MAX - 3, u64::MAX - 5_000, 1_440, 0x3132),
        (0xfffe, 0xffff_fffe, 1, 0xffff),
        (0, 0, 0, 0),
    ] {
        let mut header = Header {
            options: Options::NOCHECK,
            format: Format::Data,
            sync,
            seq,
            dlen,
            sort,
            ..HEADER
        };
        let mut heads = [[0xaa; HEADER_LEN]; 300];
        header.encode_run(&mut heads);
        for (index, head) in heads.iter().enumerate() {
            let mut expected = [0; HEADER_LEN];
            header.encode(&mut expected);
            crate::seal(&mut expected, []);
            assert_eq!(*head, expected, "number {index} from {sync} and {seq}");
            header.sync = header.sync.wrapping_add(1);
            header.seq = header.seq.wrapping_add(u64::from(dlen));
        }
    }
}
