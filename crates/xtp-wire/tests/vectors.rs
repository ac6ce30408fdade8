//! Every reference packet as a typed value: it parses to exactly that, and that encodes to exactly it.

mod common;
#[path = "vectors/groups.rs"]
mod groups;

use xtp_wire::*;

const K: u64 = 0x0123_4567_89ab_cdef;
const X: u64 = 0x7edc_ba98_7654_3210;
const TIME: u32 = 0x91a2_b3c4;
const COOKIE: Token = Token {
    epoch: 3,
    kind: Token::COOKIE,
    time: 0x0672_0a00,
    mac: 0x0b81_9c7d_450b_b000_d760_d1b1_76f3_cf73_u128.to_be_bytes(),
};

fn caps() -> Caps {
    Caps::XCNTL | Caps::PATH | Caps::COOKIE | Caps::PAD | Caps::XDATA
}

/// A header with what the body decides left at values that encoding has to replace.
fn header(key: Key, options: Options, sync: u32, seq: u64) -> Header {
    Header {
        key,
        options,
        format: Format::Path,
        dlen: 0,
        check: 0xdead,
        sort: 0,
        sync,
        seq,
    }
}

fn address(dst_port: u16) -> Address {
    Address::Ipv4 {
        domain: 0,
        dst: [192, 0, 2, 2],
        src: [192, 0, 2, 1],
        dst_port,
        src_port: 40_000,
    }
}

fn basic(service: u8, maxdata: u32) -> Traffic<'static> {
    Traffic::Basic(BasicTraffic {
        service,
        maxdata,
        ..Default::default()
    })
}

fn extended(service: u8, maxdata: u32, caps: Caps, time: u32, tlvs: Tlvs<'_>) -> ExtendedTraffic<'_> {
    ExtendedTraffic {
        service,
        maxdata,
        inburst: 92_160,
        outburst: 92_160,
        credit: 1_048_576,
        caps,
        time,
        tlvs,
        ..Default::default()
    }
}

fn first<'a>(address: Address, traffic: Traffic<'a>, data: &'a [u8]) -> Body<'a> {
    Body::First(First {
        address,
        traffic,
        data: DataSegment { tag: None, data },
    })
}

const fn control(rseq: u64, alloc: u64, echo: u32) -> Control {
    Control { rseq, alloc, echo }
}

/// The vector `name` is `packet`, in both directions.
#[track_caller]
fn same(name: &str, header: Header, body: Body<'_>) {
    let (_, octets) = common::vectors()
        .into_iter()
        .find(|(found, _)| *found == name)
        .expect("a vector");
    let packet = Packet {
        header,
        body,
        padding: 0,
    };

    let mut out = [0xaa; 512];
    let length = packet.encode(&mut out).expect("the buffer is large enough");
    assert_eq!(out[..length], octets, "{name} encodes");
    assert_eq!(length, packet.encoded_len(), "{name} knows its length");
    assert_eq!(out[length], 0xaa, "{name} stays inside its length");

    let parsed = Packet::parse(&octets).expect("a vector parses");
    assert_eq!(parsed.body, body, "{name} parses");
    assert_eq!(parsed.padding, 0, "{name} has no padding");
    let expected = Header {
        format: body.format(),
        dlen: u32::try_from(octets.len() - HEADER_LEN).unwrap(),
        check: u16::from_be_bytes([octets[16], octets[17]]),
        ..header
    };
    assert_eq!(parsed.header, expected, "{name} has this header");
}

#[test]
fn first_in_the_old_formats() {
    let datagram =
        Options::NOERR | Options::NOFLOW | Options::RCLOSE | Options::WCLOSE | Options::EOM | Options::END;
    let body = first(
        address(service_numbers::ECHO),
        basic(service::DATAGRAM, 1440),
        b"hello",
    );
    same("V1", header(Key::own(K), datagram, 1, 0), body);

    let acknowledged = Options::SREQ | Options::RCLOSE | Options::WCLOSE | Options::EOM;
    let body = first(
        address(service_numbers::ECHO),
        basic(service::ACKNOWLEDGED, 1440),
        b"hello",
    );
    same("V2", header(Key::own(K), acknowledged, 1, 0), body);

    let host = |last: u128| u128::to_be_bytes(0x2001_0db8_0000_0000_0000_0000_0000_0000 + last);
    let ipv6 = Address::Ipv6 {
        domain: 0,
        dst: host(2),
        src: host(1),
        dst_port: 7,
        src_port: 40_000,
    };
    let body = first(
        ipv6,
        Traffic::None {
            service: service::STREAM,
        },
        b"",
    );
    same("V11", header(Key::own(K), Options::SREQ, 1, 0), body);

    let options = Options::SREQ | Options::EOM | Options::WCLOSE;
    let traffic = Traffic::None {
        service: service::TRANSACTION,
    };
    let body = first(Address::Null { domain: 0 }, traffic, b"request bytes!");
    same("V12", header(Key::own(K), options, 0xffff_fffe, 0), body);
}

#[test]
fn first_with_extended_specifiers() {
    let old_caps = Caps::XCNTL | Caps::PATH | Caps::COOKIE | Caps::PAD;
    let specifier = extended(service::STREAM, 1440, old_caps, 0x6720_a000, Tlvs::EMPTY);
    let body = first(address(7), Traffic::Extended(specifier), b"");
    same("V13", header(Key::own(K), Options::SREQ, 1, 0), body);

    let specifier = extended(service::ACKNOWLEDGED, 1440, caps(), TIME, Tlvs::EMPTY);
    let body = first(address(7), Traffic::Extended(specifier), b"hello");
    let options = Options::DREQ | Options::RCLOSE | Options::WCLOSE | Options::EOM;
    same("V22", header(Key::own(K), options, 1, 0), body);
}

#[test]
fn first_that_answers_a_cookie() {
    let mut buffer = [0; 200];
    let client = ClientId {
        client: 0x0807_0605_0403_0201,
        n: 42,
        low: 40,
    };
    let mut writer = TlvWriter::new(&mut buffer);
    let pad = Tlv::Pad(200 - 48 - 2 * 28 - 4);
    writer
        .tlv(&Tlv::Token(COOKIE))
        .unwrap()
        .tlv(&Tlv::Client(client))
        .unwrap()
        .tlv(&pad)
        .unwrap();
    let tlvs = writer.finish().unwrap();
    assert_eq!(
        tlvs.iter().collect::<Vec<_>>(),
        [Tlv::Token(COOKIE), Tlv::Client(client), pad]
    );

    let specifier = extended(service::TRANSACTION, 1168, caps(), TIME, tlvs);
    let body = first(
        address(service_numbers::CALL),
        Traffic::Extended(specifier),
        b"request!",
    );
    same(
        "V21",
        header(Key::own(K), Options::WCLOSE | Options::EOM, 2, 0),
        body,
    );

    // The same specifier by wish for its length instead of by hand.
    let fixed = ExtendedTraffic {
        tlvs: Tlvs::EMPTY,
        ..specifier
    };
    let mut builder = ExtendedTrafficBuilder::new(fixed);
    builder
        .tlv(&Tlv::Token(COOKIE))
        .unwrap()
        .tlv(&Tlv::Client(client))
        .unwrap()
        .pad_to(200);
    let (mut built, mut direct) = ([0; 256], [0; 256]);
    assert_eq!(
        (builder.encoded_len(), builder.encode(&mut built)),
        (200, Ok(200))
    );
    assert_eq!(specifier.encode(&mut direct), Ok(200));
    assert_eq!(built, direct);
}

#[test]
fn data_packets() {
    let body = Body::Data(DataSegment {
        tag: None,
        data: &[b'x'; 16],
    });
    same(
        "V5",
        header(
            Key::returned(X),
            Options::NOCHECK | Options::SREQ | Options::EOM,
            2,
            1168,
        ),
        body,
    );

    let tagged = DataSegment {
        tag: Some(0xfeed_face),
        data: b"abc",
    };
    assert_eq!(tagged.sequence_len(), 11);
    let sorted = Header {
        sort: 5,
        ..header(Key::returned(X), Options::BTAG | Options::SORT, 3, 1184)
    };
    same("V6", sorted, Body::Data(tagged));

    let data = DataSegment {
        tag: None,
        data: b"pong",
    };
    let body = Body::Xdata {
        control: control(1500, 1_050_076, 0x2a),
        delay_us: 37,
        data,
    };
    same("V16", header(Key::returned(X), Options::EOM, 11, 1187), body);
}

#[test]
fn control_packets() {
    let closing = Options::RCLOSE | Options::WCLOSE | Options::END;
    same(
        "V3",
        header(Key::returned(K), closing, 1, 0),
        Body::Cntl(control(5, 5, 1)),
    );
    same(
        "V10",
        header(Key::returned(X), closing, 5, 1187),
        Body::Cntl(control(300, 300, 9)),
    );

    let traffic = basic(service::STREAM, 1440);
    let body = Body::Tcntl {
        control: control(1168, 65_536, 1),
        xkey: X,
        traffic,
    };
    same("V4", header(Key::returned(K), Options::empty(), 1, 0), body);

    let spans = [Span::new(2000, 3000), Span::new(4000, 4500)];
    let spans = Spans::new(1000, &spans).unwrap();
    let body = Body::Ecntl {
        control: control(1000, 66_536, 7),
        spans,
    };
    same("V7", header(Key::returned(K), Options::empty(), 4, 0), body);

    let traffic = basic(service::MULTICAST_RELIABLE, 1168);
    let body = Body::Jcntl {
        control: control(0, 65_536, 1),
        xkey: X,
        address: address(7),
        traffic,
    };
    same("V8", header(Key::returned(K), Options::MULTI, 1, 0), body);
}

#[test]
fn extended_status() {
    let spans = [Span::new(2880, 4320)];
    let with_span = Xcntl {
        control: control(1440, 1_048_576, 42),
        delay_us: 150,
        ect0: 20,
        ect1: 0,
        ce: 1,
        spans: Spans::new(1440, &spans).unwrap(),
        ..Default::default()
    };
    same(
        "V14",
        header(Key::returned(K), Options::empty(), 9, 0),
        Body::Xcntl(with_span),
    );

    let delivered = Xcntl {
        control: control(4096, 69_632, 17),
        flags: XcntlFlags::DREQ_OR_UNSOLICITED | XcntlFlags::DELIVERED,
        delay_us: DELAY_NONE,
        delivered: Some(4096),
        ..Default::default()
    };
    same(
        "V23",
        header(Key::returned(K), Options::empty(), 10, 0),
        Body::Xcntl(delivered),
    );
}

#[test]
fn packets_of_their_own_kind() {
    let diag = Diag::new(DiagCode::ContextRefused, DiagValue::NoListener, "no listener");
    same(
        "V9",
        header(Key::returned(K), Options::END, 1, 0),
        Body::Diag(diag),
    );

    let challenge = Path {
        kind: PathKind::Challenge,
        size: 64,
        nonce: 0x1122_3344_5566_7788,
    };
    same(
        "V15",
        header(Key::returned(X), Options::empty(), 10, 1187),
        Body::Path(challenge),
    );

    same(
        "V17",
        header(Key::returned(K), Options::empty(), 0, 0),
        Body::Cookie(COOKIE),
    );
}

#[test]
fn no_vector_is_left_out() {
    let names: Vec<_> = common::vectors().into_iter().map(|(name, _)| name).collect();
    let wanted: Vec<_> = (1..=32).map(|number| format!("V{number}")).collect();
    assert_eq!(names, wanted);
    let source = [include_str!("vectors.rs"), include_str!("vectors/groups.rs")].concat();
    for name in names {
        assert!(
            source.contains(&format!("\"{name}\",")),
            "{name} has a typed value"
        );
    }
}
