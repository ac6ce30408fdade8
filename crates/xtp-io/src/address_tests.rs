//! Forms of addresses, and which are this host's own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6, UdpSocket};

use super::{canonical, for_family, is_local};

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

#[test]
fn loopback_and_this_host_are_local() {
    for text in [
        "127.0.0.1",
        "127.9.8.7",
        "::1",
        "::ffff:127.0.0.1",
        "0.0.0.0",
        "::",
    ] {
        assert!(is_local(text.parse().expect("an address")), "{text}");
    }
}

#[test]
fn documentation_multicast_and_broadcast_addresses_are_not_local() {
    for text in [
        "203.0.113.77",
        "2001:db8:7::77",
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
    ] {
        assert!(!is_local(text.parse().expect("an address")), "{text}");
    }
}

#[test]
fn the_address_this_host_would_send_from_is_local() {
    // Connecting a UDP socket asks the routes and sends nothing.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a socket");
    let own = match socket
        .connect("203.0.113.77:9")
        .and_then(|()| socket.local_addr())
    {
        Ok(own) => own.ip(),
        // A host without a network has its loopback address only.
        Err(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    assert!(is_local(own), "{own}");
}
