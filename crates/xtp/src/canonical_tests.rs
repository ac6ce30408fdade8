//! Forms of addresses, and what becomes of them.

use super::*;

fn address(text: &str) -> SocketAddr {
    text.parse().expect(text)
}

#[test]
fn peers_are_what_answers_come_from() {
    for (named, canonical) in [
        ("192.0.2.1:7", "192.0.2.1:7"),
        ("127.0.0.1:7", "127.0.0.1:7"),
        ("0.0.0.0:7", "127.0.0.1:7"),
        ("[::]:7", "[::1]:7"),
        ("[::1]:7", "[::1]:7"),
        ("[::ffff:127.0.0.1]:7", "127.0.0.1:7"),
        ("[::ffff:192.0.2.1]:7", "192.0.2.1:7"),
        ("[::ffff:0.0.0.0]:7", "127.0.0.1:7"),
        ("[2001:db8::1]:7", "[2001:db8::1]:7"),
        ("[2001:db8::1%5]:7", "[2001:db8::1]:7"),
        ("[::1%1]:7", "[::1]:7"),
        ("[fd00::1%3]:7", "[fd00::1]:7"),
        ("[fe80::1%5]:7", "[fe80::1%5]:7"),
    ] {
        let found = peer(address(named), 0).expect(named);
        assert_eq!(found, address(canonical), "{named}");
        // What is canonical stays as it is.
        assert_eq!(peer(found, 9).expect(canonical), found, "{named}");
    }
}

#[test]
fn flow_labels_are_no_part_of_a_peer() {
    let labelled = std::net::SocketAddrV6::new("2001:db8::1".parse().unwrap(), 7, 0x1234, 0);
    assert_eq!(peer(labelled.into(), 0).unwrap(), address("[2001:db8::1]:7"));
}

#[test]
fn a_socket_with_a_link_knows_it() {
    assert_eq!(peer(address("[fe80::1]:7"), 4).unwrap(), address("[fe80::1%4]:7"));
    assert_eq!(
        peer(address("[fe80::1%5]:7"), 4).unwrap(),
        address("[fe80::1%5]:7")
    );
    assert_eq!(scope_of(address("[fe80::1%5]:7")), 5);
    assert_eq!(scope_of(address("[::1]:7")), 0);
    assert_eq!(scope_of(address("127.0.0.1:7")), 0);
}

#[test]
fn what_cannot_answer_is_refused() {
    for (named, part) in [
        ("127.0.0.1:0", "port 0"),
        ("[::1]:0", "port 0"),
        ("0.0.0.0:0", "port 0"),
        ("239.1.2.3:7", "multicast"),
        ("224.0.0.1:7", "multicast"),
        ("[ff02::1]:7", "multicast"),
        ("[ff02::1%2]:7", "multicast"),
        ("[::ffff:239.1.2.3]:7", "multicast"),
        ("[fe80::1]:7", "link-local"),
    ] {
        let error = peer(address(named), 0).expect_err(named);
        assert!(matches!(error, Error::Address { .. }), "{named}: {error}");
        assert!(error.to_string().contains(part), "{named}: {error}");
        assert!(error.is_certainly_not_executed(), "{named}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_error_names_the_interfaces_there_are() {
    let error = peer(address("[fe80::1]:7"), 0)
        .expect_err("no interface")
        .to_string();
    for link in addresses::links() {
        assert!(error.contains(&link.name), "{error}");
    }
}

#[test]
fn sockets_are_bound_to_addresses_of_hosts() {
    for (named, canonical) in [
        ("0.0.0.0:0", "0.0.0.0:0"),
        ("[::]:7", "[::]:7"),
        ("[::ffff:127.0.0.1]:0", "127.0.0.1:0"),
        ("[::1%1]:0", "[::1]:0"),
        ("[fe80::1%5]:7", "[fe80::1%5]:7"),
    ] {
        assert_eq!(local(address(named)).expect(named), address(canonical), "{named}");
    }
    for named in [
        "239.1.2.3:7",
        "[ff02::1]:7",
        "[::ffff:239.1.2.3]:7",
        "[fe80::1]:7",
    ] {
        assert!(local(address(named)).is_err(), "{named}");
    }
}

#[test]
fn lists_of_receivers_are_lists_of_peers() {
    let mut interface = Interface::Route;
    let list = ["[::ffff:10.0.0.1]:7", "0.0.0.0:8", "[::]:9"].map(address);
    let expected = ["10.0.0.1:7", "127.0.0.1:8", "[::1]:9"].map(address);
    let found = target(Target::Each(list.to_vec()), 0, &mut interface).expect("a list");
    assert_eq!(found, Target::Each(expected.to_vec()));
    for wrong in ["10.0.0.1:0", "239.1.2.3:7", "[fe80::1]:7"] {
        let list = vec![address("10.0.0.2:7"), address(wrong)];
        assert!(target(Target::Each(list), 0, &mut interface).is_err(), "{wrong}");
    }
}

#[test]
fn groups_have_their_own_form() {
    let of = |named: &str, mut interface: Interface| {
        let found = target(Target::from(address(named)), 0, &mut interface).expect(named);
        (found, interface)
    };
    let eth0 = || Interface::Name("eth0".into());
    for (named, given, canonical, expected) in [
        ("239.1.2.3:7", Interface::Route, "239.1.2.3:7", Interface::Route),
        (
            "[::ffff:239.1.2.3]:7",
            Interface::Route,
            "239.1.2.3:7",
            Interface::Route,
        ),
        (
            "[ff15::1%5]:7",
            Interface::Route,
            "[ff15::1]:7",
            Interface::Index(5),
        ),
        ("[ff02::1%5]:7", eth0(), "[ff02::1]:7", eth0()),
        (
            "239.1.2.3:7",
            Interface::Address("::ffff:10.0.0.9".parse().unwrap()),
            "239.1.2.3:7",
            Interface::Address("10.0.0.9".parse().unwrap()),
        ),
    ] {
        let (found, interface) = of(named, given);
        assert_eq!(found, Target::Group(address(canonical)), "{named}");
        assert_eq!(interface, expected, "{named}");
    }
    assert!(group(address("239.1.2.3:0"), &mut Interface::Route).is_err());
}

#[test]
fn sources_of_groups_are_hosts() {
    let ip = |text: &str| text.parse::<IpAddr>().expect(text);
    assert_eq!(source(ip("::ffff:10.0.0.1")).unwrap(), ip("10.0.0.1"));
    for wrong in ["0.0.0.0", "::", "239.1.2.3", "::ffff:0.0.0.0"] {
        assert!(source(ip(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn members_are_named_by_one_text() {
    let mut list = ["::ffff:10.0.0.1", "0:0:0:0:0:0:0:1", "10.0.0.2", "name"].map(String::from);
    required(&mut list);
    assert_eq!(list, ["10.0.0.1", "::1", "10.0.0.2", "name"]);
}
