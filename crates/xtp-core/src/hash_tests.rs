//! Addresses that are one source, hashes that differ by key.

use core::hash::{BuildHasher, Hasher};
use core::net::SocketAddr;

use super::{KeyedState, UdpSource, address_octets};

fn source(text: &str) -> UdpSource {
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
        UdpSource::from(SocketAddr::V6(plain)),
        UdpSource::from(SocketAddr::V6(labelled))
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

/// What a table does with hashes: low bits choose a place, high bits tell neighbours apart.
#[test]
fn neighbouring_addresses_and_serial_numbers_spread() {
    let state = KeyedState::new(*b"0123456789abcdef");
    let spread = |hashes: &dyn Fn(u64) -> u64| {
        let mut low = std::collections::HashSet::new();
        let mut high = std::collections::HashSet::new();
        for n in 0..4_096 {
            low.insert(hashes(n) & 0xffff);
            high.insert(hashes(n) >> 48);
        }
        (low.len(), high.len())
    };
    // 4 096 balls in 65 536 urns hit some 3 970 of them.
    let numbers = spread(&|n| state.hash_one(n));
    let shifted = spread(&|n| state.hash_one(n << 48));
    let ports = spread(&|n| state.hash_one(source(&format!("192.0.2.1:{n}"))));
    let hosts = spread(&|n| state.hash_one(source(&format!("10.0.{}.{}:7", n >> 8, n & 255))));
    let pairs = spread(&|n| state.hash_one((source("192.0.2.1:7"), n)));
    for (low, high) in [numbers, shifted, ports, hosts, pairs] {
        assert!(low > 3_900 && high > 3_900, "{low} {high}");
    }
}

#[test]
fn octets_that_end_in_zeros_differ() {
    let state = KeyedState::new([3; 16]);
    let hash = |octets: &[u8]| {
        let mut hasher = state.build_hasher();
        hasher.write(octets);
        hasher.finish()
    };
    assert_ne!(hash(&[1]), hash(&[1, 0]));
    assert_ne!(hash(&[0; 8]), hash(&[0; 9]));
    assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
}
