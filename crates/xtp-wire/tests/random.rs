//! Octets and values that nobody chose.

mod common;

use std::collections::BTreeSet;

use proptest::prelude::*;
use xtp_wire::*;

/// Parsed once, written, parsed again: the same. What reserved places held is lost, nothing else.
fn settles(octets: &[u8]) -> Result<bool, TestCaseError> {
    let Ok(packet) = Packet::parse(octets) else {
        return Ok(false);
    };
    let mut out = vec![0xaa; octets.len()];
    let encoded = packet.encode(&mut out);
    if encoded == Err(EncodeError::UnsupportedFormat) {
        return Ok(true);
    }
    if let Body::Diag(_) = packet.body {
        prop_assert!(encoded.unwrap() <= octets.len(), "text that was no text is gone");
        return Ok(true);
    }
    prop_assert_eq!(encoded, Ok(octets.len()));
    let again = Packet::parse(&out).unwrap();
    prop_assert_eq!(
        Packet {
            header: Header {
                check: packet.header.check,
                ..again.header
            },
            ..again
        },
        packet
    );
    let mut third = vec![0xaa; octets.len()];
    prop_assert_eq!(again.encode(&mut third), Ok(octets.len()));
    prop_assert_eq!(third, out);
    Ok(true)
}

/// Turns any octets into a datagram whose header is in order.
fn put_in_order(octets: &mut [u8], format: u8, padding: usize) {
    let Some(dlen) = octets.len().checked_sub(HEADER_LEN) else {
        return;
    };
    octets[11] = 0x20 | (format & 31);
    let dlen = u32::try_from(dlen - padding.min(dlen)).unwrap();
    octets[12..16].copy_from_slice(&dlen.to_be_bytes());
    seal(octets, []);
}

fn octets() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![3 => 0_u8..4, 1 => any::<u8>()], 0..200)
}

fn control() -> impl Strategy<Value = Control> {
    (any::<u64>(), any::<u64>(), any::<u32>()).prop_map(|(rseq, alloc, echo)| Control { rseq, alloc, echo })
}

fn header() -> impl Strategy<Value = Header> {
    let fields = (
        any::<u64>(),
        any::<u32>(),
        any::<u16>(),
        any::<u32>(),
        any::<u64>(),
    );
    fields.prop_map(|(key, options, sort, sync, seq)| Header {
        key: Key::from_wire(key),
        options: Options::from_bits_truncate(options),
        format: Format::Data,
        dlen: 0,
        check: 0,
        sort,
        sync,
        seq,
    })
}

/// Spans beyond `rseq` from gaps and lengths.
fn spans(rseq: u64, steps: &[(u16, u16)]) -> Vec<Span> {
    let mut end = rseq;
    steps
        .iter()
        .map(|(gap, length)| {
            let left = end + 1 + u64::from(*gap);
            end = left + 1 + u64::from(*length);
            Span::new(left, end)
        })
        .collect()
}

/// The body survives its packet.
fn survives(header: Header, body: Body<'_>, padding: usize) -> Result<(), TestCaseError> {
    let packet = Packet {
        header,
        body,
        padding,
    };
    let mut out = vec![0xaa; packet.encoded_len()];
    prop_assert_eq!(packet.encode(&mut out), Ok(packet.encoded_len()));
    let parsed = Packet::parse(&out).unwrap();
    prop_assert_eq!(parsed.body, body);
    prop_assert_eq!(parsed.padding, padding);
    prop_assert_eq!((parsed.header.key, parsed.header.sort), (header.key, header.sort));
    prop_assert_eq!((parsed.header.sync, parsed.header.seq), (header.sync, header.seq));
    prop_assert_eq!(
        parsed.header.options - Options::BTAG,
        header.options - Options::BTAG
    );
    prop_assert_eq!(parsed.body.control(), body.control());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_octets(octets in prop::collection::vec(any::<u8>(), 0..300)) {
        settles(&octets)?;
    }

    #[test]
    fn any_payload_behind_a_header_in_order(mut octets in octets(), format in 0_u8..32, padding in 0_usize..4) {
        put_in_order(&mut octets, format, padding);
        settles(&octets)?;
    }

    #[test]
    fn changed_vectors_with_a_right_checksum(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let all = common::vectors();
        let (_, mut octets) = all[which.index(all.len())].clone();
        for (place, value) in changes {
            let at = place.index(octets.len());
            octets[at] = value;
        }
        let dlen = usize::try_from(u32::from_be_bytes(octets[12..16].try_into().unwrap())).unwrap();
        if dlen <= octets.len() - HEADER_LEN {
            seal(&mut octets, []);
        }
        settles(&octets)?;
    }

    #[test]
    fn any_data(header in header(), tag in any::<Option<u64>>(), data in octets(), padding in 0_usize..9) {
        let data = DataSegment { tag, data: &data };
        survives(header, Body::Data(data), padding)?;
        let xdata = Body::Xdata { control: Control::default(), delay_us: header.sync, data };
        survives(header, xdata, padding)?;
        let traffic = Traffic::None { service: 4 };
        survives(header, Body::First(First { address: Address::Null { domain: 1 }, traffic, data }), padding)?;
    }

    #[test]
    fn any_status(
        header in header(),
        mut control in control(),
        steps in prop::collection::vec(any::<(u16, u16)>(), 0..20),
        delivered in any::<Option<u64>>(),
        poll in any::<Option<(u16, u16, [u32; 4])>>(),
        counts in any::<[u32; 4]>(),
    ) {
        survives(header, Body::Cntl(control), 0)?;
        control.rseq >>= 1;
        let spans = spans(control.rseq, &steps);
        let spans = Spans::new(control.rseq, &spans).unwrap();
        survives(header, Body::Ecntl { control, spans }, 0)?;
        let [delay_us, ect0, ect1, ce] = counts;
        let mut flags = XcntlFlags::from_bits_truncate(header.sort);
        flags.set(XcntlFlags::DELIVERED, delivered.is_some());
        flags.set(XcntlFlags::POLL, poll.is_some());
        let poll = poll.map(|(a, b, [size, grtt_us, feedback_rate, hold_us])| GroupPoll {
            modulus: (a % 97).max(b % 97) + 1,
            remainder: (a % 97).min(b % 97),
            size,
            grtt_us,
            feedback_rate,
            hold_us,
        });
        let rxrate = header.seq;
        let xcntl = Xcntl { control, flags, delay_us, ect0, ect1, ce, rxrate, spans, delivered, poll };
        survives(header, Body::Xcntl(xcntl), 0)?;
    }

    #[test]
    fn any_small_packet(
        header in header(),
        number in any::<u32>(),
        nonce in any::<u64>(),
        mac in any::<[u8; 16]>(),
        text in ".{0,40}",
    ) {
        let kind = if number % 2 == 0 { PathKind::Challenge } else { PathKind::Response };
        survives(header, Body::Path(Path { kind, size: number, nonce }), 0)?;
        let probe = Header { dlen: number % 2000, ..header };
        survives(probe, Body::Path(Path { kind, size: number, nonce }), 0)?;
        survives(header, Body::Cookie(Token { epoch: mac[0], kind: mac[1], time: number, mac }), 0)?;
        survives(header, Body::Diag(Diag { code: number, val: header.sync, text: &text }), 0)?;
    }

    #[test]
    fn any_group_packet(
        header in header(),
        control in control(),
        blocks in prop::collection::btree_map(any::<u32>(), (1..=u16::MAX, any::<u16>()), 0..=MAX_GNACK_BLOCKS),
        symbol in octets(),
    ) {
        let blocks: Vec<GnackBlock> =
            blocks.into_iter().map(|(b, (total, need))| GnackBlock::new(b, need % total.max(2) + u16::from(need % total.max(2) == 0), total)).collect();
        let (flags, delay_us, rxrate) = (GnackFlags::from_bits_truncate(header.sort), header.sync, header.sync >> 3);
        survives(header, Body::Gnack(Gnack { control, flags, delay_us, rxrate, blocks: &blocks }), 0)?;
        let symbol = [&[7], &symbol[..], &[0; DESCRIPTOR_LEN]].concat();
        let symbol_len = u16::try_from(symbol.len() - DESCRIPTOR_LEN).unwrap();
        let (row, end) = (header.sort, header.seq);
        let parity = Parity { k: 4, row, symbol_len, scheme: 2, flags: 3, end, symbol: &symbol };
        survives(header, Body::Parity(parity), 0)?;
        survives(header, Body::Parity(Parity { row: row % 252, scheme: 1, ..parity }), 0)?;
    }
}

/// The starting points of the changed vectors reach every format: a test that only ever saw errors would
/// prove nothing.
#[test]
fn vectors_lead_into_every_format() {
    let mut formats = BTreeSet::new();
    for (name, octets) in common::vectors() {
        assert!(matches!(settles(&octets), Ok(true)), "{name}");
        formats.insert(octets[11] & 31);
    }
    let parsable = |value: &u8| {
        !matches!(
            Format::from_wire(*value),
            None | Some(Format::Join | Format::Sealed)
        )
    };
    assert_eq!(formats, (0..32).filter(parsable).collect());
}
