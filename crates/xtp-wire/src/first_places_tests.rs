//! A FIRST made from another is the one that would have been written, and is told from others.

use super::*;
use crate::{Caps, ExtendedTraffic, ExtendedTrafficBuilder, Token};
use std::vec::Vec;

const TIME: u32 = 0x0102_0304;
const CLIENT: ClientId = ClientId {
    client: 77,
    n: 5,
    low: 3,
};

/// Address and specifier with these TLVs.
fn head(time: u32, tlvs: &[Tlv<'_>]) -> Vec<u8> {
    let address = Address::Ipv4 {
        domain: 0,
        dst: [10, 0, 0, 1],
        src: [0; 4],
        dst_port: 9,
        src_port: 0,
    };
    let mut builder = ExtendedTrafficBuilder::new(ExtendedTraffic {
        caps: Caps::XDATA,
        time,
        ..ExtendedTraffic::default()
    });
    for tlv in tlvs {
        builder.tlv(tlv).unwrap();
    }
    let mut octets = std::vec![0; 256];
    let before = address.encode(&mut octets).unwrap();
    let after = builder.encode(&mut octets[before..]).unwrap();
    octets.truncate(before + after);
    octets
}

/// TLVs before, between and after.
fn all(client: ClientId) -> [Tlv<'static>; 4] {
    [
        Tlv::Token(Token {
            epoch: 1,
            kind: 0,
            time: 5,
            mac: [7; 16],
        }),
        Tlv::Client(client),
        Tlv::Instance(9),
        Tlv::EcntlMax(4),
    ]
}

#[test]
fn one_made_from_another_is_the_one_that_would_have_been_written() {
    let later = ClientId {
        n: 6,
        low: 6,
        ..CLIENT
    };
    for tlvs in [&all(CLIENT)[..], &all(CLIENT)[1..2], &all(CLIENT)[..2]] {
        let known = head(TIME, tlvs);
        let places = FirstPlaces::of(&known).unwrap();
        assert_eq!(places.take(&known, &known), Some((TIME, CLIENT)));
        let mut made = known.clone();
        places.put(&mut made, 9, later);
        let changed: Vec<_> = tlvs
            .iter()
            .map(|tlv| match tlv {
                Tlv::Client(_) => Tlv::Client(later),
                other => *other,
            })
            .collect();
        assert_eq!(made, head(9, &changed));
        made.extend_from_slice(b"data");
        assert_eq!(places.take(&known, &made), Some((9, later)));
    }
}

#[test]
fn an_octet_elsewhere_makes_it_another() {
    let known = head(TIME, &all(CLIENT));
    let places = FirstPlaces::of(&known).unwrap();
    for at in 0..known.len() {
        let mut other = known.clone();
        other[at] ^= 1;
        let varies = places.time.contains(&at) || places.numbers.contains(&at);
        assert_eq!(places.take(&known, &other).is_some(), varies, "octet {at}");
    }
    assert_eq!(places.take(&known, &known[..known.len() - 1]), None, "shorter");
}

#[test]
fn what_states_no_client_or_two_has_no_places() {
    let twice = [Tlv::Client(CLIENT), Tlv::Client(CLIENT)];
    for tlvs in [&[][..], &[Tlv::Instance(9)], &twice] {
        assert_eq!(FirstPlaces::of(&head(TIME, tlvs)), None);
    }
    let mut longer = head(TIME, &all(CLIENT));
    longer.push(0);
    assert_eq!(FirstPlaces::of(&longer), None, "data");
    assert_eq!(FirstPlaces::of(&longer[..longer.len() - 2]), None, "cut off");
}

#[test]
fn too_short_a_payload_is_left_alone() {
    let known = head(TIME, &all(CLIENT));
    let places = FirstPlaces::of(&known).unwrap();
    let mut short = [5; 20];
    places.put(&mut short, 9, CLIENT);
    assert_eq!(short, [5; 20]);
}
