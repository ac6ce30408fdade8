//! Every type of TLV, right and wrong.

use super::*;
use std::vec;
use std::vec::Vec;

fn one_of_each() -> [Tlv<'static>; 20] {
    [
        Tlv::Pad(5),
        Tlv::Token(Token {
            epoch: 1,
            kind: Token::SOURCE,
            time: 2,
            mac: [3; 16],
        }),
        Tlv::CtrlPort(4),
        Tlv::DataPorts(&[0, 5, 0, 6, 1, 0]),
        Tlv::GroupKey(7),
        Tlv::GroupSize(8),
        Tlv::Nonce([9; 16]),
        Tlv::PskId(10),
        Tlv::AppBuf(11),
        Tlv::SockBuf(12),
        Tlv::EcntlMax(13),
        Tlv::Client(ClientId {
            client: 14,
            n: 15,
            low: 16,
        }),
        Tlv::Fec(FecAgreement {
            scheme: 1,
            k: 17,
            pmax: 18,
            symbol_len: 19,
            origin: 20,
        }),
        Tlv::Catchup(GroupPoint {
            group: 21,
            at: 22,
            live: GroupPoint::NEVER,
        }),
        Tlv::FbRate(23),
        Tlv::GrttUs(24),
        Tlv::Instance(1_790_000_000_000),
        Tlv::Unknown {
            kind: 17,
            value: b"odd",
        },
        Tlv::Name("Grünau"),
        Tlv::Buckets(GroupBuckets {
            spread_us: 2_000,
            flags: GroupBuckets::DAMPING,
        }),
    ]
}

#[test]
fn every_type_round_trips() {
    for (kind, tlv) in (0..).zip(one_of_each()) {
        let mut out = [0xaa; 64];
        let length = tlv.encode(&mut out).unwrap();
        assert_eq!((tlv.kind(), tlv.encoded_len()), (kind, length));
        assert_eq!(length % 4, 0);
        assert_eq!(usize::from(u16::from_be_bytes([out[2], out[3]])), tlv.value_len());
        assert_eq!(next(&out), Some((tlv, &out[length..])));
        assert_eq!(
            tlv.encode(&mut out[..length - 1]),
            Err(EncodeError::BufferTooSmall)
        );
    }
}

#[test]
fn known_types_have_their_length_and_no_other() {
    for tlv in one_of_each() {
        for length in 0..40 {
            let value = vec![0; length];
            let fits = match tlv {
                Tlv::Pad(_) | Tlv::Unknown { .. } => true,
                Tlv::DataPorts(_) => length % 2 == 0,
                Tlv::Name(_) => length > 0,
                _ => length == tlv.value_len(),
            };
            assert_eq!(
                Tlv::read(tlv.kind(), &value).is_some(),
                fits,
                "{tlv:?} of {length}"
            );
        }
    }
}

#[test]
fn names_are_short_and_utf8() {
    let longest = "n".repeat(MAX_NAME_LEN);
    assert_eq!(Tlv::read(18, longest.as_bytes()), Some(Tlv::Name(&longest)));
    let longer = "n".repeat(MAX_NAME_LEN + 1);
    assert_eq!(Tlv::read(18, longer.as_bytes()), None);
    assert_eq!(Tlv::read(18, b"M\xfcnchen"), None, "Latin-1");
    let mut out = [0; 128];
    for name in ["", &longer] {
        assert_eq!(Tlv::Name(name).encode(&mut out), Err(EncodeError::Invalid));
    }
    assert_eq!(Tlv::Name(&longest).encode(&mut out), Ok(68));
}

#[test]
fn values_no_receiver_takes_are_not_written() {
    let mut out = vec![0; 70_000];
    assert_eq!(
        Tlv::DataPorts(&[1, 2, 3]).encode(&mut out),
        Err(EncodeError::Invalid)
    );
    assert_eq!(
        Tlv::Unknown {
            kind: 1,
            value: &[0; 23]
        }
        .encode(&mut out),
        Err(EncodeError::Invalid)
    );
    let long = vec![0; 65_536];
    assert_eq!(
        Tlv::Unknown {
            kind: 99,
            value: &long
        }
        .encode(&mut out),
        Err(EncodeError::TooLong)
    );
    assert_eq!(
        Tlv::Unknown {
            kind: 99,
            value: &long[1..]
        }
        .encode(&mut out),
        Ok(65_540)
    );
}

#[test]
fn lists_that_end_in_the_middle_of_a_tlv() {
    assert_eq!(Tlvs::new(&[]), Some(Tlvs::EMPTY));
    assert_eq!(Tlvs::new(&[0; 4]), None, "no multiple of eight");
    assert_eq!(
        Tlvs::new(&[0, 99, 0, 5, 1, 2, 3, 4]),
        None,
        "value beyond the end"
    );
    assert_eq!(Tlvs::new(&[0, 0, 0, 0, 0, 8, 0, 4]), None, "no value at all");
    assert_eq!(
        Tlvs::new(&[0, 10, 0, 4, 1, 2, 3, 4]),
        None,
        "known type of the wrong length"
    );
    let octets = [0, 10, 0, 2, 1, 2, 0xff, 0xff];
    let tlvs = Tlvs::new(&octets).unwrap();
    assert_eq!(
        tlvs.into_iter().collect::<Vec<_>>(),
        [Tlv::EcntlMax(0x0102)],
        "padding is not looked at"
    );
    assert_eq!(tlvs.octets(), octets);
}

#[test]
fn ports_of_a_list() {
    let ports = |tlv: Tlv<'_>| tlv.ports().collect::<Vec<_>>();
    assert_eq!(ports(Tlv::DataPorts(&[0, 5, 1, 0])), [5, 256]);
    assert_eq!(ports(Tlv::CtrlPort(9)), []);
}
