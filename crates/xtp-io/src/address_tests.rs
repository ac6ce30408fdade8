//! Forms of addresses.

use std::net::{SocketAddr, SocketAddrV6};

use super::{canonical, for_family};

fn addr(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

#[test]
fn mapped_addresses_become_plain_and_others_stay() {
    assert_eq!(canonical(addr("[::ffff:192.0.2.1]:7")), addr("192.0.2.1:7"));
    assert_eq!(canonical(addr("192.0.2.1:7")), addr("192.0.2.1:7"));
    assert_eq!(canonical(addr("[2001:db8::1]:7")), addr("[2001:db8::1]:7"));
}

#[test]
fn scope_ids_are_kept_and_flow_labels_dropped() {
    let link_local = "fe80::1".parse().expect("an address");
    let labelled = SocketAddr::V6(SocketAddrV6::new(link_local, 7, 99, 3));
    let plain = SocketAddr::V6(SocketAddrV6::new(link_local, 7, 0, 3));
    assert_eq!(canonical(labelled), plain);
    assert_eq!(for_family(labelled, true), Some(plain));
}

#[test]
fn a_socket_gets_addresses_of_its_family() {
    let (four, six) = (addr("192.0.2.1:7"), addr("[2001:db8::1]:7"));
    assert_eq!(for_family(four, false), Some(four));
    assert_eq!(for_family(addr("[::ffff:192.0.2.1]:7"), false), Some(four));
    assert_eq!(for_family(four, true), Some(addr("[::ffff:192.0.2.1]:7")));
    assert_eq!(for_family(six, true), Some(six));
    assert_eq!(for_family(six, false), None);
}
