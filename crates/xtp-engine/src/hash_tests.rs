//! Addresses that are one source, hashes that differ by key.

use core::hash::BuildHasher;
use core::net::SocketAddr;

use super::{KeyedState, Source, address_octets};

fn source(text: &str) -> Source {
    text.parse::<SocketAddr>().expect("an address").into()
}

#[test]
fn both_spellings_of_an_ipv4_address_are_one_source() {
    assert_eq!(source("192.0.2.1:7"), source("[::ffff:192.0.2.1]:7"));
    assert_ne!(source("192.0.2.1:7"), source("192.0.2.1:8"));
    assert_ne!(source("[fe80::1%1]:7"), source("[fe80::1%2]:7"));
    assert_eq!(
        address_octets("192.0.2.1".parse().expect("an address"))[10..],
        [0xff, 0xff, 192, 0, 2, 1]
    );
}

#[test]
fn the_flow_label_is_no_part_of_a_source() {
    let SocketAddr::V6(plain) = "[2001:db8::1]:7".parse().expect("an address") else {
        panic!("IPv6")
    };
    let mut labelled = plain;
    labelled.set_flowinfo(5);
    assert_eq!(
        Source::from(SocketAddr::V6(plain)),
        Source::from(SocketAddr::V6(labelled))
    );
}

#[test]
fn the_key_changes_every_hash() {
    let (one, two) = (KeyedState::new([1; 16]), KeyedState::new([2; 16]));
    let at = source("192.0.2.1:7");
    assert_eq!(one.hash_one(at), KeyedState::new([1; 16]).hash_one(at));
    assert_ne!(one.hash_one(at), two.hash_one(at));
    assert_ne!(one.hash_one(at), one.hash_one(source("192.0.2.1:8")));
    assert_ne!(one.hash_one(1_u64), two.hash_one(1_u64));
}
