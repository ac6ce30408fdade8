//! Terms of a group: what is written is read, and nothing twice.

use std::vec;

use proptest::prelude::*;

use super::*;
use crate::{ExtendedTraffic, GroupBuckets, Traffic};

fn fec() -> impl Strategy<Value = FecAgreement> {
    (any::<u8>(), any::<[u16; 3]>(), any::<u64>()).prop_map(|(scheme, [k, pmax, symbol_len], origin)| {
        FecAgreement {
            scheme,
            k,
            pmax,
            symbol_len,
            origin,
        }
    })
}

proptest! {
    #[test]
    fn what_is_added_is_read(
        numbers in any::<[Option<u32>; 4]>(),
        fec in proptest::option::of(fec()),
        point in any::<Option<[u64; 3]>>(),
        name in proptest::option::of("\\PC{1,16}"),
        buckets in any::<Option<[u32; 2]>>(),
        pad in 0_usize..300,
    ) {
        let [size, feedback_rate, grtt_us, socket_buffer] = numbers;
        let point = point.map(|[group, at, live]| GroupPoint { group, at, live });
        let buckets = buckets.map(|[spread_us, flags]| GroupBuckets { spread_us, flags });
        let name = name.as_deref();
        let terms = GroupTerms { size, feedback_rate, grtt_us, fec, point, socket_buffer, name, buckets };
        let mut specifier = ExtendedTrafficBuilder::new(ExtendedTraffic::default());
        terms.add_to(&mut specifier).unwrap();
        specifier.tlv(&Tlv::EcntlMax(32)).unwrap().pad_to(pad);
        let mut octets = vec![0; specifier.encoded_len()];
        specifier.encode(&mut octets).unwrap();
        let (traffic, rest) = Traffic::take(&octets).unwrap();
        prop_assert!(rest.is_empty());
        let Traffic::Extended(extended) = traffic else { panic!("an extended one was written") };
        prop_assert_eq!(GroupTerms::read(extended.tlvs), Ok(terms));
    }
}

#[test]
fn none_is_said_twice() {
    let fec = FecAgreement {
        scheme: 1,
        k: 64,
        pmax: 64,
        symbol_len: 1416,
        origin: 0,
    };
    let point = GroupPoint {
        group: 1,
        at: 2,
        live: 3,
    };
    let all = [
        Tlv::GroupSize(1),
        Tlv::FbRate(2),
        Tlv::GrttUs(3),
        Tlv::Fec(fec),
        Tlv::Catchup(point),
        Tlv::SockBuf(4),
        Tlv::Name("five"),
        Tlv::Buckets(GroupBuckets::default()),
    ];
    for twice in all {
        let mut octets = [0; 256];
        let mut writer = crate::TlvWriter::new(&mut octets);
        for tlv in all.iter().chain([&twice]) {
            writer.tlv(tlv).unwrap();
        }
        let read = GroupTerms::read(writer.finish().unwrap());
        assert_eq!(read, Err(WireError::BadGroup), "{twice:?}");
    }
}

#[test]
fn codes_that_can_not_be() {
    let good = FecAgreement {
        scheme: 1,
        k: 192,
        pmax: 64,
        symbol_len: 1416,
        origin: 7,
    };
    assert_eq!(good.check(1440), Ok(()));
    assert_eq!(
        good.check(1439),
        Err(WireError::BadGroup),
        "16 before and 8 behind do not fit"
    );
    let bad = [
        FecAgreement { scheme: 0, ..good },
        FecAgreement { scheme: 3, ..good },
        FecAgreement { k: 0, ..good },
        FecAgreement { k: 193, ..good },
        FecAgreement { pmax: 0, ..good },
        FecAgreement {
            pmax: u16::MAX,
            ..good
        },
        FecAgreement {
            symbol_len: 0,
            ..good
        },
        FecAgreement {
            symbol_len: 1415,
            ..good
        },
        FecAgreement {
            symbol_len: u16::MAX,
            ..good
        },
    ];
    for agreement in bad {
        assert_eq!(agreement.check(1440), Err(WireError::BadGroup), "{agreement:?}");
    }
    let largest = FecAgreement {
        symbol_len: (1 << 15) - 2,
        ..good
    };
    assert_eq!(largest.check(u32::MAX), Ok(()));
    let beyond = FecAgreement {
        symbol_len: 1 << 15,
        ..good
    };
    assert_eq!(beyond.check(u32::MAX), Err(WireError::BadGroup));
    let words = FecAgreement {
        scheme: 2,
        k: u16::MAX,
        pmax: u16::MAX,
        ..good
    };
    assert_eq!(words.check(u32::MAX), Ok(()));
}
