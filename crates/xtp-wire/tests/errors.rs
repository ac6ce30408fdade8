//! Every error, from octets or values that deserve it.

use std::collections::BTreeSet;

use xtp_wire::*;

const HEADER: Header = Header {
    key: Key::own(1),
    options: Options::empty(),
    format: Format::Data,
    dlen: 0,
    check: 0,
    sort: 0,
    sync: 1,
    seq: 0,
};

/// A packet of this format with any payload, its header right.
fn raw(format: u8, payload: &[u8]) -> Vec<u8> {
    with_options(Options::empty(), format, payload)
}

fn with_options(options: Options, format: u8, payload: &[u8]) -> Vec<u8> {
    let mut head = [0; HEADER_LEN];
    Header {
        options,
        dlen: u32::try_from(payload.len()).unwrap(),
        ..HEADER
    }
    .encode(&mut head);
    head[11] = 0x20 | format;
    let mut packet = [&head[..], payload].concat();
    seal(&mut packet, []);
    packet
}

fn address() -> Vec<u8> {
    vec![0, 8, 0, 0, 0, 0, 0, 0]
}

fn first(address: &[u8], traffic: &[u8]) -> Vec<u8> {
    raw(2, &[address, traffic].concat())
}

/// One packet for each error of parsing.
fn bad_packets() -> Vec<(WireError, Vec<u8>)> {
    let mut wrong_sum = raw(0, b"x");
    wrong_sum[32] ^= 1;
    let mut other_version = raw(0, b"x");
    other_version[11] = 0x40;
    let traffic = [0, 8, 4, 0, 0, 0, 0, 0];
    let mut key_with_return_bit = [0; 40];
    key_with_return_bit[24] = 0x80;
    key_with_return_bit[32..].copy_from_slice(&traffic);
    let mut empty_span = [0; 40];
    empty_span[23] = 1;
    vec![
        (WireError::Truncated, raw(0, b"x")[..32].to_vec()),
        (WireError::Version, other_version),
        (WireError::UnknownFormat(4), raw(4, b"")),
        (WireError::ObsoleteFormat, raw(6, b"")),
        (WireError::Sealed, raw(30, b"")),
        (WireError::BadChecksum, wrong_sum),
        (WireError::BadLength, raw(1, &[0; 21])),
        (WireError::BadSpans, raw(3, &empty_span)),
        (WireError::BadAddress, first(&[0, 12, 0, 0, 0, 0, 0, 0], &traffic)),
        (
            WireError::BadTraffic,
            first(&address(), &[0, 7, 4, 0, 0, 0, 0, 0]),
        ),
        (WireError::BadKey, raw(5, &key_with_return_bit)),
        (WireError::BadPath, raw(16, &[0; 16])),
        (WireError::BadGroup, raw(20, &[0; 24])),
    ]
}

#[test]
fn every_error_has_its_packet() {
    for (error, packet) in bad_packets() {
        assert_eq!(Packet::parse(&packet), Err(error));
    }
}

#[test]
fn unknown_segment_formats_are_seen_by_the_check_of_first() {
    let check = |packet: &[u8]| match Packet::parse(packet).unwrap().body {
        Body::First(first) => first.check_formats(),
        other => panic!("not a FIRST: {other:?}"),
    };
    let (other_address, other_traffic) = ([0, 8, 0, 3, 0, 0, 0, 0], [0, 8, 4, 9, 0, 0, 0, 0]);
    let traffic = [0, 8, 4, 0, 0, 0, 0, 0];
    assert_eq!(check(&first(&address(), &traffic)), Ok(()));
    assert_eq!(
        check(&first(&other_address, &traffic)),
        Err(WireError::BadAddressFormat)
    );
    assert_eq!(
        check(&first(&address(), &other_traffic)),
        Err(WireError::BadTrafficFormat)
    );
    assert_eq!(
        check(&first(&other_address, &other_traffic)),
        Err(WireError::BadAddressFormat)
    );
}

#[test]
fn errors_of_segments_name_their_diagnostic() {
    let answered = [
        (WireError::BadAddressFormat, 3),
        (WireError::BadAddress, 4),
        (WireError::BadTrafficFormat, 5),
        (WireError::BadTraffic, 7),
    ];
    for (error, val) in answered {
        assert_eq!(error.diag_value().map(u32::from), Some(val));
    }
    for (error, _) in bad_packets() {
        let segment = matches!(error, WireError::BadAddress | WireError::BadTraffic);
        assert_eq!(error.diag_value().is_some(), segment, "{error:?}");
    }
}

#[test]
fn every_error_says_something_of_its_own() {
    let formats = [WireError::BadAddressFormat, WireError::BadTrafficFormat];
    let parsing = bad_packets().into_iter().map(|(error, _)| error).chain(formats);
    let encoding = [
        EncodeError::BufferTooSmall,
        EncodeError::TooLong,
        EncodeError::UnsupportedFormat,
        EncodeError::Invalid,
        EncodeError::TooManyTlvs,
    ];
    let texts: BTreeSet<String> = parsing
        .map(|error| error.to_string())
        .chain(encoding.map(|error| error.to_string()))
        .collect();
    assert_eq!(texts.len(), 15 + 5);
}

#[test]
fn octets_too_many_or_too_few_in_every_format() {
    let lengths = [
        (1, 20, true),
        (3, 24, true),
        (5, 40, false),
        (7, 48, false),
        (8, 8, false),
        (16, 16, false),
        (17, 48, true),
        (18, 24, true),
        (19, 24, false),
        (20, 25, false),
        (21, 32, true),
    ];
    for (format, length, only) in lengths {
        let short = Packet::parse(&raw(format, &vec![0; length - 1])).map(|_| ());
        assert!(short.is_err(), "{format} one octet short");
        if only {
            assert!(Packet::parse(&raw(format, &vec![0; length])).is_ok(), "{format}");
            let long = Packet::parse(&raw(format, &vec![0; length + 1])).map(|_| ());
            assert_eq!(long, Err(WireError::BadLength), "{format} one octet over");
        }
    }
}

#[test]
fn tags_need_their_eight_octets() {
    for (format, before) in [(0, 0), (19, XDATA_LEN)] {
        let short = with_options(Options::BTAG, format, &vec![0; before + 7]);
        assert_eq!(Packet::parse(&short), Err(WireError::BadLength));
        let exact = with_options(Options::BTAG, format, &vec![0; before + 8]);
        let data = *Packet::parse(&exact).unwrap().body.data().unwrap();
        assert_eq!(
            data,
            DataSegment {
                tag: Some(0),
                data: &[]
            }
        );
    }
    assert_eq!(
        Packet::parse(&raw(0, b"")).unwrap().body,
        Body::Data(DataSegment::default())
    );
}

#[test]
fn counts_that_do_not_match_the_octets() {
    let mut ecntl = [0; 24];
    ecntl[20..].fill(0xff);
    assert_eq!(Packet::parse(&raw(3, &ecntl)), Err(WireError::BadLength));
    let mut xcntl = [0; 48];
    xcntl[20..22].fill(0xff);
    assert_eq!(Packet::parse(&raw(17, &xcntl)), Err(WireError::BadLength));
    let mut gnack = [0; 32];
    gnack[21] = 1;
    assert_eq!(Packet::parse(&raw(21, &gnack)), Err(WireError::BadLength));
    let mut xcntl = [0; 52];
    xcntl[23] = 16;
    assert_eq!(
        Packet::parse(&raw(17, &xcntl)),
        Err(WireError::BadLength),
        "delivered needs eight octets"
    );
    xcntl[23] = 4;
    assert_eq!(
        Packet::parse(&raw(17, &xcntl)),
        Err(WireError::BadLength),
        "a poll needs 24"
    );
}

#[test]
fn values_no_receiver_takes_are_not_written() {
    let mut out = [0; 256];
    let mut encode = |body| {
        Packet {
            header: HEADER,
            body,
            padding: 0,
        }
        .encode(&mut out)
    };
    let (control, traffic) = (Control::default(), Traffic::None { service: 4 });
    let xkey = 1 << 63;
    assert_eq!(
        encode(Body::Tcntl {
            control,
            xkey,
            traffic
        }),
        Err(EncodeError::Invalid)
    );
    let spans = [Span::new(3, 4)];
    let spans = Spans::new(0, &spans).unwrap();
    let beyond = Control { rseq: 3, ..control };
    assert_eq!(
        encode(Body::Xcntl(Xcntl {
            control: beyond,
            spans,
            ..Default::default()
        })),
        Err(EncodeError::Invalid)
    );
    assert_eq!(
        encode(Body::Ecntl {
            control: beyond,
            spans
        }),
        Err(EncodeError::Invalid)
    );
    let parity = Parity {
        k: 1,
        row: 0,
        symbol_len: 4,
        scheme: 1,
        flags: 0,
        end: 4,
        symbol: &[0; 11],
    };
    assert_eq!(encode(Body::Parity(parity)), Err(EncodeError::Invalid));
    for (k, row, scheme) in [(0, 0, 1), (1, 255, 1), (255, 1, 1), (0, 0, 2)] {
        let row = Parity {
            k,
            row,
            scheme,
            symbol: &[0; 12],
            ..parity
        };
        assert_eq!(encode(Body::Parity(row)), Err(EncodeError::Invalid));
    }
    let address = Address::Other { domain: 0, format: 9 };
    let jcntl = Body::Jcntl {
        control,
        xkey: 1,
        address,
        traffic,
    };
    assert_eq!(encode(jcntl), Err(EncodeError::UnsupportedFormat));
}
