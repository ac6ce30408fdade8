//! Traffic specifiers, right and wrong.

use super::*;
use crate::{Tlv, TlvWriter};
use std::vec::Vec;

fn segment(length: u16, format: u8, octets: usize) -> Vec<u8> {
    let mut segment = std::vec![0; octets];
    segment[..2].copy_from_slice(&length.to_be_bytes());
    segment[2] = 4;
    segment[3] = format;
    segment
}

#[test]
fn every_format_round_trips() {
    let mut buffer = [0; 16];
    let mut writer = TlvWriter::new(&mut buffer);
    writer.tlv(&Tlv::GroupSize(9)).unwrap();
    let extended = ExtendedTraffic {
        service: 4,
        maxdata: 1440,
        inrate: 1 << 40,
        outrate: 1 << 41,
        inburst: 3,
        outburst: 4,
        credit: 1 << 42,
        caps: Caps::FEC | Caps::XDATA,
        time: 6,
        tlvs: writer.finish().unwrap(),
    };
    let basic = BasicTraffic {
        service: 4,
        maxdata: 1,
        inrate: 2,
        inburst: 3,
        outrate: 4,
        outburst: 5,
    };
    let all = [
        (Traffic::None { service: 4 }, 8),
        (Traffic::Basic(basic), 24),
        (
            Traffic::Extended(ExtendedTraffic {
                tlvs: Tlvs::EMPTY,
                ..extended
            }),
            48,
        ),
        (Traffic::Extended(extended), 56),
    ];
    for (traffic, length) in all {
        let mut out = [0xaa; 60];
        assert_eq!(traffic.encode(&mut out), Ok(length));
        assert_eq!((traffic.encoded_len(), traffic.service()), (length, 4));
        assert_eq!(Traffic::take(&out), Ok((traffic, &out[length..])));
        assert_eq!(
            traffic.encode(&mut out[..length - 1]),
            Err(EncodeError::BufferTooSmall)
        );
    }
}

#[test]
fn the_order_of_the_basic_fields() {
    let octets: Vec<u8> = [24_u32 << 16 | 4 << 8 | 1, 1, 2, 3, 4, 5]
        .iter()
        .flat_map(|w| w.to_be_bytes())
        .collect();
    let basic = BasicTraffic {
        service: 4,
        maxdata: 1,
        inrate: 2,
        inburst: 3,
        outrate: 4,
        outburst: 5,
    };
    assert_eq!(Traffic::take(&octets), Ok((Traffic::Basic(basic), &[][..])));
}

#[test]
fn lengths_that_do_not_fit_the_format() {
    let bad = [
        (0, 0),
        (4, 0),
        (16, 0),
        (8, 1),
        (20, 1),
        (32, 1),
        (8, 0x80),
        (40, 0x80),
        (52, 0x80),
        (0, 9),
        (3, 9),
    ];
    for (length, format) in bad {
        assert_eq!(
            Traffic::take(&segment(length, format, 64)),
            Err(WireError::BadTraffic),
            "{length} {format}"
        );
    }
    for (length, format) in [(8, 0), (24, 1), (48, 0x80), (24, 9)] {
        assert!(
            Traffic::take(&segment(length, format, length.into())).is_ok(),
            "{length} {format}"
        );
        let short = segment(length, format, usize::from(length) - 1);
        assert_eq!(
            Traffic::take(&short),
            Err(WireError::BadTraffic),
            "{length} {format} cut"
        );
    }
    assert_eq!(Traffic::take(&[0, 8, 0]), Err(WireError::BadTraffic));
}

#[test]
fn other_formats_are_known_by_number_only() {
    let segment = segment(12, 0x81, 20);
    let (traffic, rest) = Traffic::take(&segment).unwrap();
    assert_eq!(
        (traffic, rest.len()),
        (
            Traffic::Unknown {
                service: 4,
                tformat: 0x81
            },
            8
        )
    );
    assert_eq!((traffic.service(), traffic.encoded_len()), (4, 0));
    assert_eq!(traffic.encode(&mut [0; 64]), Err(EncodeError::UnsupportedFormat));
}

#[test]
fn unknown_capabilities_are_ignored() {
    let mut octets = segment(48, 0x80, 48);
    octets[40..44].fill(0xff);
    let Ok((Traffic::Extended(extended), _)) = Traffic::take(&octets) else {
        panic!("an extended specifier")
    };
    assert_eq!((extended.caps, extended.caps.bits()), (Caps::all(), 2047));
}

#[test]
fn a_specifier_longer_than_its_length_field() {
    let octets = std::vec![0; 65_536 - EXTENDED_TRAFFIC_LEN];
    let extended = ExtendedTraffic {
        tlvs: Tlvs::new(&octets).unwrap(),
        ..Default::default()
    };
    assert_eq!(
        extended.encode(&mut std::vec![0; 65_600]),
        Err(EncodeError::TooLong)
    );
    let extended = ExtendedTraffic {
        tlvs: Tlvs::new(&octets[8..]).unwrap(),
        ..extended
    };
    assert_eq!(extended.encode(&mut std::vec![0; 65_600]), Ok(65_528));
}
