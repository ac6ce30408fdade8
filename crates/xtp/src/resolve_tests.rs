//! Names and orders of addresses.

use super::*;

#[test]
fn literal_addresses_need_no_resolver() {
    let four = resolve("127.0.0.1", 9).expect("an address");
    assert_eq!(four, ["127.0.0.1:9".parse().expect("an address")]);
    for text in ["::1", "[::1]"] {
        let six = resolve(text, 9).expect("an address");
        assert_eq!(six, ["[::1]:9".parse().expect("an address")]);
    }
}

#[test]
fn mapped_addresses_are_ipv4() {
    for text in ["::ffff:127.0.0.1", "[::ffff:7f00:1]"] {
        let found = resolve(text, 9).expect("an address");
        assert_eq!(found, ["127.0.0.1:9".parse().expect("an address")], "{text}");
    }
}

#[test]
fn a_wrong_interface_is_told() {
    for (text, part) in [
        ("fe80::1%no-such", "no interface no-such"),
        ("fe80::1%25no-such", "no interface no-such"),
        ("[fe80::1%]", "no interface"),
        ("fe80::1%0", "no interface 0"),
        ("::1%lo", "not link-local"),
        ("127.0.0.1%lo", "behind a link-local IPv6 address only"),
        ("name%lo", "behind a link-local IPv6 address only"),
    ] {
        let error = resolve(text, 9).expect_err(text);
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{text}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn interfaces_are_named_or_numbered() {
    for link in crate::addresses::links() {
        let expected: SocketAddr = SocketAddrV6::new("fe80::1".parse().unwrap(), 9, 0, link.index).into();
        for text in [
            format!("fe80::1%{}", link.name),
            format!("fe80::1%{}", link.index),
            format!("[fe80::1%25{}]", link.name),
        ] {
            assert_eq!(resolve(&text, 9).expect("an address"), [expected], "{text}");
        }
    }
}

#[test]
fn nonsense_names_itself_in_the_error() {
    let error = resolve("no such name.invalid", 9).expect_err("a space is in no name");
    assert!(error.is_unreachable());
    assert!(error.to_string().contains("no such name.invalid"), "{error}");
}

#[test]
fn families_take_turns_beginning_with_the_resolvers_choice() {
    let parse = |text: &str| text.parse::<SocketAddr>().expect("an address");
    let found = [
        "[::1]:1",
        "[::2]:1",
        "[::1]:1",
        "[::3]:1",
        "10.0.0.1:1",
        "10.0.0.2:1",
    ]
    .map(parse);
    let ordered = interleave(found.to_vec());
    let expected = ["[::1]:1", "10.0.0.1:1", "[::2]:1", "10.0.0.2:1", "[::3]:1"].map(parse);
    assert_eq!(ordered, expected);
    assert_eq!(interleave(Vec::new()), []);
}

fn several(list: &[&str]) -> Result<Destinations> {
    let parsed: Vec<SocketAddr> = list.iter().map(|text| text.parse().expect(text)).collect();
    Destinations::of_name(&&parsed[..], 0)
}

#[test]
fn one_address_in_several_forms_is_one() {
    for list in [
        &["127.0.0.1:7"][..],
        &["127.0.0.1:7", "127.0.0.1:7"],
        &["127.0.0.1:7", "[::ffff:127.0.0.1]:7", "0.0.0.0:7"],
        &["127.0.0.1:7", "239.1.2.3:7", "127.0.0.1:0"],
    ] {
        let expected = Destinations::One("127.0.0.1:7".parse().expect("an address"));
        assert_eq!(several(list).expect("usable"), expected, "{list:?}");
    }
}

#[test]
fn what_nothing_can_be_sent_to_is_left_out() {
    assert!(matches!(several(&[]), Err(Error::Resolve { .. })));
    assert!(matches!(several(&["239.1.2.3:7"]), Err(Error::Address { .. })));
    assert!(matches!(
        several(&["239.1.2.3:7", "[::1]:0"]),
        Err(Error::Address { .. })
    ));
}

#[test]
fn the_number_of_addresses_has_a_limit() {
    let list: Vec<String> = (1..100).map(|port| format!("[fd00::{port}]:7")).collect();
    let mut list: Vec<&str> = list.iter().map(String::as_str).collect();
    list.push("10.0.0.1:7");
    let Destinations::Several(found) = several(&list).expect("usable") else {
        panic!("one");
    };
    assert_eq!(found.len(), MOST_ADDRESSES);
    // The other family is among them, however many there are before it.
    assert_eq!(found[1], "10.0.0.1:7".parse().expect("an address"));
}

/// Whatever type a name has, it is told as it was written.
#[test]
fn errors_tell_the_name() {
    fn told(name: &(impl ToSocketAddrs + Debug)) -> String {
        match Destinations::of_name(name, 0) {
            Err(Error::Resolve { name, .. }) => name,
            other => panic!("{name:?}: {other:?}"),
        }
    }
    // Without a port nothing is looked up.
    assert_eq!(told(&"server.example"), "server.example");
    assert_eq!(told(&String::from("server.example:x")), "server.example:x");
    assert_eq!(told(&&[][..]), "[]");
    assert_eq!(shown(&("server.example", 7)), "server.example:7");
    assert_eq!(shown(&"[::1]:7"), "[::1]:7");
}
