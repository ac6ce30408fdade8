//! The short parser accepts exactly what the general one calls an XDATA without padding.

use super::{XdataHead, parse_plain};
use crate::{Body, Control, DataSegment, Format, Header, Key, Options, Packet};

/// Which bits are flipped: all, but Miri takes a thousand times as long.
const EVERY: usize = if cfg!(miri) { 29 } else { 1 };

fn packet<'a>(options: Options, tag: Option<u64>, data: &'a [u8], padding: usize) -> Packet<'a> {
    Packet {
        header: Header {
            key: Key::returned(77),
            options,
            format: Format::Xdata,
            dlen: 0,
            check: 0,
            sort: 3,
            sync: 9,
            seq: 1_000,
        },
        body: Body::Xdata {
            control: Control {
                rseq: 5,
                alloc: 500,
                echo: 8,
            },
            delay_us: 12,
            data: DataSegment { tag, data },
        },
        padding,
    }
}

#[test]
fn both_parsers_agree_on_every_kind_and_every_flipped_bit() {
    let cases = [
        (Options::EOM, None, 0, true),
        (Options::EOM | Options::NOCHECK, None, 0, true),
        (Options::empty(), None, 0, true),
        (Options::EOM, Some(4), 0, true),
        (Options::EOM, None, 3, false),
    ];
    for (options, tag, padding, accepted) in cases {
        let mut octets = [0; 256];
        let len = packet(options, tag, b"hello", padding)
            .encode(&mut octets)
            .unwrap();
        assert_eq!(
            XdataHead::parse(&octets[..len]).is_some(),
            accepted,
            "{options:?}"
        );
        for bit in (0..len * 8).step_by(EVERY) {
            let mut broken = octets;
            broken[bit / 8] ^= 1 << (bit % 8);
            let Some((short, segment)) = XdataHead::parse(&broken[..len]) else {
                continue;
            };
            let long = Packet::parse(&broken[..len]).unwrap();
            assert_eq!(long.header, short.header());
            let Body::Xdata {
                control,
                delay_us,
                data,
            } = long.body
            else {
                panic!("{long:?}")
            };
            assert_eq!(
                (control, delay_us, data),
                (short.control(), short.delay_us(), segment)
            );
        }
        for cut in 0..len - padding {
            assert!(XdataHead::parse(&octets[..cut]).is_none());
        }
    }
}

#[test]
fn plain_data_is_what_the_general_parser_calls_a_packet_of_data_alone() {
    let cases = [
        (Options::EOM, None, 0, true),
        (Options::NOCHECK, None, 0, true),
        (Options::EOM, Some(4), 0, false),
        (Options::EOM, None, 3, false),
    ];
    for (options, tag, padding, accepted) in cases {
        let mut packet = packet(options, None, b"", padding);
        packet.header.format = Format::Data;
        packet.body = Body::Data(DataSegment { tag, data: b"hello" });
        let mut octets = [0; 256];
        let len = packet.encode(&mut octets).unwrap();
        assert_eq!(parse_plain(&octets[..len]).is_some(), accepted, "{options:?}");
        for bit in (0..len * 8).step_by(EVERY) {
            let mut broken = octets;
            broken[bit / 8] ^= 1 << (bit % 8);
            let Some((header, data)) = parse_plain(&broken[..len]) else {
                continue;
            };
            let long = Packet::parse(&broken[..len]).unwrap();
            assert_eq!(long.header, header);
            assert_eq!(long.body, Body::Data(DataSegment { tag: None, data }));
        }
    }
    let mut octets = [0; 256];
    let len = packet(Options::EOM, None, b"hello", 0)
        .encode(&mut octets)
        .unwrap();
    assert!(parse_plain(&octets[..len]).is_none());
}
