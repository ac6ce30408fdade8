//! The packets of groups: as bodies, and as what they are between the parties.

use super::*;

/// Key of the receiver, and the transmitter's key for it.
const R: u64 = 0x1111_2222_3333_4444;
const T_R: u64 = 0x2222_3333_4444_5555;

const GROUP: Address = Address::Ipv4 {
    domain: 0,
    dst: [239, 1, 2, 3],
    src: [192, 0, 2, 1],
    dst_port: service_numbers::FILES,
    src_port: 40_000,
};

const TERMS: GroupTerms<'static> = GroupTerms {
    size: Some(10),
    feedback_rate: Some(2000),
    grtt_us: Some(1500),
    fec: Some(FecAgreement {
        scheme: 1,
        k: 64,
        pmax: 64,
        symbol_len: 1416,
        origin: 0,
    }),
    point: None,
    socket_buffer: None,
    name: None,
    buckets: None,
};

fn of(key: u64, options: Options, sync: u32, seq: u64) -> GroupHeader {
    GroupHeader {
        key,
        sync,
        seq,
        options,
    }
}

/// The vector is `packet`, and what `classify` says of it is `said`.
#[track_caller]
fn is<'a, S: core::fmt::Debug + PartialEq>(
    name: &str,
    packet: Packet<'a>,
    classify: impl Fn(&Packet<'a>) -> Result<S, WireError>,
    said: S,
) {
    assert_eq!(classify(&packet), Ok(said), "{name}");
    let header = Header {
        check: 0xdead,
        ..packet.header
    };
    same(name, header, packet.body);
}

/// Specifier of a group with these terms, filled to `length` octets if that is more than it needs.
fn specifier<'a>(
    service: u8,
    offered: Caps,
    terms: &GroupTerms<'_>,
    length: usize,
    out: &'a mut [u8],
) -> Traffic<'a> {
    let fixed = extended(service, 1440, caps() | offered, TIME, Tlvs::EMPTY);
    let mut builder = ExtendedTrafficBuilder::new(fixed);
    terms.add_to(&mut builder).unwrap();
    builder.pad_to(length);
    let written = builder.encode(out).unwrap() - EXTENDED_TRAFFIC_LEN;
    let tlvs = Tlvs::new(&out[EXTENDED_TRAFFIC_LEN..][..written]).unwrap();
    assert_eq!(GroupTerms::read(tlvs), Ok(*terms));
    Traffic::Extended(ExtendedTraffic { tlvs, ..fixed })
}

fn both() -> Caps {
    Caps::FEC | Caps::CATCHUP
}

#[test]
fn first_of_a_group() {
    let fec = FecAgreement {
        scheme: 1,
        k: 4,
        pmax: 4,
        symbol_len: 16,
        origin: 0,
    };
    assert_eq!(fec.check(1168), Ok(()));
    let mut buffer = [0; 24];
    let mut writer = TlvWriter::new(&mut buffer);
    writer.tlv(&Tlv::Fec(fec)).unwrap();
    let tlvs = writer.finish().unwrap();
    let found: Vec<_> = tlvs.iter().collect();
    assert_eq!(found, [Tlv::Fec(fec), Tlv::Pad(0)], "padded to eight");

    let specifier = extended(service::MULTICAST_RELIABLE, 1168, caps() | Caps::FEC, TIME, tlvs);
    let body = first(GROUP, Traffic::Extended(specifier), b"");
    same(
        "V25",
        header(Key::own(K), Options::MULTI | Options::SREQ, 1, 0),
        body,
    );
}

#[test]
fn announcement() {
    let mut room = [0; 256];
    let traffic = specifier(service::MULTICAST_RELIABLE, both(), &TERMS, 208, &mut room);
    let first = First {
        address: GROUP,
        traffic,
        data: DataSegment::default(),
    };
    let said = ToGroup::Announcement(first);
    let packet = said.packet(of(K, Options::SREQ, 15, 58));
    assert_eq!(packet.encoded_len(), 256);
    is("V26", packet, ToGroup::of, said);
}

#[test]
fn poll_of_a_slice() {
    let said = ToGroup::Poll(GroupPoll {
        modulus: 16,
        remainder: 5,
        size: 10_000,
        grtt_us: 1500,
        feedback_rate: 2000,
        hold_us: 250_000,
    });
    is(
        "V24",
        said.packet(of(K, Options::empty(), 14, 58)),
        ToGroup::of,
        said,
    );
}

#[test]
fn joining() {
    let (mut room, mut more) = ([0; 256], [0; 256]);
    let buffer = GroupTerms {
        socket_buffer: Some(4_194_304),
        ..GroupTerms::default()
    };
    let join = ToTransmitter::Join {
        control: control(0, 1_048_576, 15),
        xkey: R,
        address: GROUP,
        traffic: specifier(service::MULTICAST_RELIABLE, both(), &buffer, 0, &mut room),
    };
    is(
        "V27",
        join.packet(of(K, Options::empty(), 1, 0)),
        ToTransmitter::of,
        join,
    );

    let point = GroupPoint {
        group: K,
        at: 0,
        live: 90_624,
    };
    let terms = GroupTerms {
        point: Some(point),
        ..TERMS
    };
    let answer = ToMember::Answer {
        control: control(0, 0, 1),
        xkey: T_R,
        address: GROUP,
        traffic: specifier(service::MULTICAST_RELIABLE, both(), &terms, 0, &mut more),
    };
    is(
        "V28",
        answer.packet(of(R, Options::empty(), 1, 58)),
        ToMember::of,
        answer,
    );
}

#[test]
fn needs_and_what_is_done_about_them() {
    let blocks = [GnackBlock::new(0, 1, 4), GnackBlock::new(2, 3, 64)];
    let gnack = Gnack::answer(control(0, 65_536, 13), 420, 23_437, &blocks);
    assert_eq!(gnack.iter().collect::<Vec<_>>(), [(0, 1, 4), (2, 3, 64)]);
    let need = ToTransmitter::Need(gnack);
    is(
        "V20",
        need.packet(of(T_R, Options::empty(), 2, 0)),
        ToTransmitter::of,
        need,
    );

    let blocks = [GnackBlock::new(0, 2, 64), GnackBlock::new(3, 1, 64)];
    let rows = ToGroup::Rows(&blocks);
    is(
        "V29",
        rows.packet(of(K, Options::empty(), 16, 90_624)),
        ToGroup::of,
        rows,
    );
}

#[test]
fn parity_rows() {
    let row_0 = [0x46e6_027d_a4a3_479f, 0x1370_c135_49fb_87d8];
    let row_1 = [0x3b94_6ba9_bc96_69aa, 0x679d_597e_82ad_51a9];
    let rows = [
        ("V18", 12, 0, 0, row_0, 0x01fe_00ba_0000_0000),
        ("V19", 13, 1, Parity::LAST, row_1, 0x02e3_0066_0000_0000),
        ("V31", 17, 0, 0, row_0, 0x98fe_000f_7fbb_0000),
    ];
    for (name, sync, row, flags, [left, right], descriptor) in rows {
        let symbol: Vec<u8> = [left, right, descriptor]
            .into_iter()
            .flat_map(u64::to_be_bytes)
            .collect();
        let said = ToGroup::Parity(Parity {
            k: 4,
            row,
            symbol_len: 16,
            scheme: Parity::SCHEME_BYTES,
            flags,
            end: 58,
            symbol: &symbol,
        });
        is(
            name,
            said.packet(of(K, Options::empty(), sync, 0)),
            ToGroup::of,
            said,
        );
    }
}

#[test]
fn catch_up() {
    let mut room = [0; 256];
    let point = GroupPoint {
        group: K,
        at: T_R,
        live: 0,
    };
    let terms = GroupTerms {
        point: Some(point),
        ..GroupTerms::default()
    };
    let traffic = specifier(service::STREAM, Caps::CATCHUP, &terms, 0, &mut room);
    let range = MissingRange::new(0, 90_624).unwrap();
    let records = range.encode();
    let body = first(GROUP, traffic, &records);
    same("V30", header(Key::own(X), Options::SREQ, 1, 0), body);
    let mut octets = &records[..];
    assert_eq!(RangeReader::new().next(&mut octets), Ok(Some(range)));
}

#[test]
fn end_of_a_group() {
    let end = ToGroup::End;
    is(
        "V32",
        end.packet(of(K, Options::WCLOSE, 18, 58)),
        ToGroup::of,
        end,
    );
}
