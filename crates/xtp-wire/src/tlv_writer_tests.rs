//! Padding of specifiers.

use super::*;
use crate::Traffic;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

#[test]
fn an_odd_number_of_words_gets_one_more() {
    let mut out = [0; 16];
    let mut writer = TlvWriter::new(&mut out);
    writer.tlv(&Tlv::Pad(0)).unwrap();
    assert_eq!(writer.finish().map(|tlvs| tlvs.octets().len()), Ok(8));
    assert_eq!(TlvWriter::new(&mut []).finish(), Ok(Tlvs::EMPTY));
    let mut short = [0; 7];
    let mut writer = TlvWriter::new(&mut short);
    writer.tlv(&Tlv::Pad(0)).unwrap();
    assert_eq!(writer.finish(), Err(EncodeError::BufferTooSmall));
}

#[test]
fn wishes_that_cannot_be_met() {
    let mut builder = ExtendedTrafficBuilder::new(ExtendedTraffic::default());
    for (wish, length) in [
        (0, 48),
        (48, 48),
        (51, 48),
        (52, 56),
        (53, 56),
        (56, 56),
        (57, 64),
        (64, 64),
    ] {
        builder.pad_to(wish);
        assert_eq!(builder.encoded_len(), length, "{wish}");
        assert_eq!(builder.encode(&mut [0; 64]), Ok(length), "{wish}");
    }
    for wish in [65_529, 70_000, usize::MAX] {
        builder.pad_to(wish);
        assert_eq!(
            builder.encode(&mut vec![0; 80_000]),
            Err(EncodeError::TooLong),
            "{wish}"
        );
    }
    builder.pad_to(65_528);
    assert_eq!(builder.encode(&mut vec![0; 65_528]), Ok(65_528));
    assert_eq!(
        builder.encode(&mut vec![0; 65_527]),
        Err(EncodeError::BufferTooSmall)
    );
}

#[test]
fn room_for_one_of_each_type() {
    let mut builder = ExtendedTrafficBuilder::new(ExtendedTraffic::default());
    for _ in 0..MAX_TLVS {
        builder.tlv(&Tlv::Pad(0)).unwrap();
    }
    assert_eq!(
        builder.tlv(&Tlv::Pad(0)).map(|_| ()),
        Err(EncodeError::TooManyTlvs)
    );
    assert_eq!(builder.encoded_len(), 48 + 4 * MAX_TLVS);
}

proptest! {
    #[test]
    fn what_is_built_is_a_specifier(ports in prop::collection::vec(0_u16..9, 0..MAX_TLVS), wish in 0_usize..400) {
        let mut builder = ExtendedTrafficBuilder::new(ExtendedTraffic { maxdata: 7, ..Default::default() });
        for port in &ports {
            builder.tlv(&Tlv::CtrlPort(*port)).unwrap();
        }
        let contents = EXTENDED_TRAFFIC_LEN + 8 * ports.len();
        let mut out = [0xaa; 800];
        let length = builder.pad_to(wish).encode(&mut out).unwrap();
        let expected = if wish < contents + TLV_HEADER_LEN { contents } else { wish.next_multiple_of(8) };
        prop_assert_eq!((length, builder.encoded_len()), (expected, expected));
        let Ok((Traffic::Extended(parsed), _)) = Traffic::take(&out) else { panic!("an extended specifier") };
        let kept: Vec<u16> = parsed
            .tlvs
            .iter()
            .filter_map(|tlv| if let Tlv::CtrlPort(port) = tlv { Some(port) } else { None })
            .collect();
        prop_assert_eq!(kept, ports);
        let mut again = [0xaa; 800];
        prop_assert_eq!(parsed.encode(&mut again), Ok(length));
        prop_assert_eq!(out, again);
    }
}
