//! Packets of groups that lie: numbers no sender can mean, and lengths that do not fit.

use xtp_wire::*;

/// A packet of this format with any payload, its header right.
fn raw(format: Format, payload: &[u8]) -> Vec<u8> {
    let mut head = [0; HEADER_LEN];
    Header {
        key: Key::own(1),
        options: Options::MULTI,
        format,
        dlen: u32::try_from(payload.len()).unwrap(),
        check: 0,
        sort: 0,
        sync: 1,
        seq: 0,
    }
    .encode(&mut head);
    let mut packet = [&head[..], payload].concat();
    seal(&mut packet, []);
    packet
}

fn gnack(flags: u16, blocks: &[(u32, u16, u16)]) -> Vec<u8> {
    let mut payload = vec![0; 20];
    payload.extend(u16::try_from(blocks.len()).unwrap().to_be_bytes());
    payload.extend(flags.to_be_bytes());
    payload.extend([0; 8]);
    for (block, need, total) in blocks {
        payload.extend(block.to_be_bytes());
        payload.extend(need.to_be_bytes());
        payload.extend(total.to_be_bytes());
    }
    payload
}

fn refused(format: Format, payload: &[u8]) -> Option<WireError> {
    Packet::parse(&raw(format, payload)).err()
}

#[test]
fn a_need_is_of_something_and_of_no_more_than_there_is() {
    let bad = Some(WireError::BadGroup);
    let takes = |flags, blocks: &[_]| refused(Format::Gnack, &gnack(flags, blocks));
    assert_eq!(takes(0, &[(0, 64, 64), (1, 1, 1)]), None);
    assert_eq!(takes(0, &[]), None, "nothing is missing");
    assert_eq!(takes(0, &[(0, 0, 64)]), bad);
    assert_eq!(takes(0, &[(0, 1, 0)]), bad, "a block without symbols");
    assert_eq!(takes(1, &[(0, 1, 0)]), bad, "also when announced");
    assert_eq!(takes(0, &[(0, 65, 64)]), bad, "more than the block has");
    assert_eq!(takes(2, &[(0, u16::MAX, 64)]), bad);
    assert_eq!(takes(1, &[(0, 65, 64)]), None, "rows may be more than symbols");
}

#[test]
fn a_block_is_named_once_and_in_order() {
    let bad = Some(WireError::BadGroup);
    let takes = |blocks: &[_]| refused(Format::Gnack, &gnack(0, blocks));
    assert_eq!(takes(&[(1, 1, 4), (0, 1, 4)]), bad);
    assert_eq!(takes(&[(1, 1, 4), (1, 1, 4)]), bad);
    let many = |count| (0..count).map(|block| (block, 1, 4)).collect::<Vec<_>>();
    assert_eq!(takes(&many(64)), None);
    assert_eq!(takes(&many(65)), bad);
    assert_eq!(takes(&many(8000)), bad, "a datagram full of them");
}

#[test]
fn counts_and_octets_agree() {
    let mut payload = gnack(0, &[(0, 1, 4), (1, 1, 4)]);
    for count in [0_u16, 1, 3, u16::MAX] {
        payload[20..22].copy_from_slice(&count.to_be_bytes());
        assert_eq!(
            refused(Format::Gnack, &payload),
            Some(WireError::BadLength),
            "{count}"
        );
    }
    for length in 0..payload.len() {
        let cut = refused(Format::Gnack, &payload[..length]);
        assert_eq!(cut, Some(WireError::BadLength), "cut to {length}");
    }
}

/// k', row, L, scheme, flags, end, then so many octets of symbol.
fn parity(k: u16, row: u16, symbol_len: u16, scheme: u8, octets: usize) -> Vec<u8> {
    let mut payload: Vec<u8> = [k, row, symbol_len]
        .iter()
        .flat_map(|word| word.to_be_bytes())
        .collect();
    payload.extend([scheme, 0]);
    payload.extend([0; 8]);
    payload.resize(PARITY_LEN + octets, 7);
    payload
}

#[test]
fn rows_that_no_code_has() {
    let bad = Some(WireError::BadGroup);
    let takes = |k, row, symbol_len, scheme| {
        let octets = usize::from(symbol_len) + DESCRIPTOR_LEN;
        refused(Format::Parity, &parity(k, row, symbol_len, scheme, octets))
    };
    assert_eq!(takes(4, 0, 16, 1), None);
    assert_eq!(takes(0, 0, 16, 1), bad, "a block without symbols");
    assert_eq!(takes(4, 0, 0, 1), bad, "symbols without octets");
    assert_eq!(takes(192, 63, 16, 1), None, "the last row beside 192 symbols");
    assert_eq!(takes(192, 64, 16, 1), bad, "its number is a symbol's");
    assert_eq!(takes(255, 0, 16, 1), None);
    assert_eq!(takes(256, 0, 16, 1), bad);
    assert_eq!(takes(u16::MAX, u16::MAX, 16, 1), bad);
    assert_eq!(
        takes(u16::MAX, u16::MAX, 16, 2),
        None,
        "the wide code counts further"
    );
}

#[test]
fn a_symbol_is_as_long_as_it_says() {
    for octets in [0, 1, 23, 25, 1000] {
        let length = refused(Format::Parity, &parity(4, 0, 16, 1, octets));
        assert_eq!(length, Some(WireError::BadLength), "{octets}");
    }
    let longest = parity(4, 0, u16::MAX, 1, 100);
    assert_eq!(refused(Format::Parity, &longest), Some(WireError::BadLength));
}

#[test]
fn a_poll_asks_somebody() {
    let mut payload = [0; XCNTL_LEN + POLL_LEN];
    payload[23] = 4;
    assert_eq!(
        refused(Format::Xcntl, &payload),
        Some(WireError::BadGroup),
        "modulus 0"
    );
    payload[XCNTL_LEN + 1] = 1;
    assert_eq!(refused(Format::Xcntl, &payload), None);
    payload[XCNTL_LEN + 3] = 1;
    assert_eq!(
        refused(Format::Xcntl, &payload),
        Some(WireError::BadGroup),
        "slice 1 of 1"
    );
    for length in XCNTL_LEN..payload.len() {
        let cut = refused(Format::Xcntl, &payload[..length]);
        assert_eq!(cut, Some(WireError::BadLength), "cut to {length}");
    }
}

#[test]
fn a_join_has_both_segments_and_nothing_behind_them() {
    let key = [0, 0, 0, 0, 0, 0, 0, 5];
    let address = [0, 8, 0, 0, 0, 0, 0, 0];
    let traffic = [0, 8, 6, 0, 0, 0, 0, 0];
    let join = [&[0; 24][..], &key, &address, &traffic].concat();
    assert_eq!(refused(Format::Jcntl, &join), None);
    for length in 0..join.len() {
        assert!(
            refused(Format::Jcntl, &join[..length]).is_some(),
            "cut to {length}"
        );
    }
    let longer = [&join[..], &[0]].concat();
    assert_eq!(refused(Format::Jcntl, &longer), Some(WireError::BadLength));
    let mut returned = join;
    returned[24] = 0x80;
    assert_eq!(refused(Format::Jcntl, &returned), Some(WireError::BadKey));
}
