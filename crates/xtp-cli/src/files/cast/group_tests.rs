//! Groups as people write them.

use super::*;

fn plain() -> CastCommon {
    CastCommon {
        ttl: 1,
        interface: None,
        source: None,
    }
}

fn group(text: &str) -> Option<Group> {
    Group::parse(text, &plain()).ok()
}

#[test]
fn groups_as_they_are_written() {
    for (text, address, interface) in [
        ("239.1.2.3", "239.1.2.3:36036", None),
        ("239.1.2.3:5000", "239.1.2.3:5000", None),
        ("239.1.2.3:5000%eth0", "239.1.2.3:5000", Some("eth0")),
        ("239.1.2.3%eth0", "239.1.2.3:36036", Some("eth0")),
        ("ff15::1", "[ff15::1]:36036", None),
        ("ff15::1%eth0", "[ff15::1]:36036", Some("eth0")),
        ("[ff15::1]", "[ff15::1]:36036", None),
        ("[ff15::1]:5000", "[ff15::1]:5000", None),
        ("[ff15::1]:5000%eth0", "[ff15::1]:5000", Some("eth0")),
        ("[ff15::1%eth0]:5000", "[ff15::1]:5000", Some("eth0")),
        ("[ff15::1]%eth0", "[ff15::1]:36036", Some("eth0")),
        ("[ff15::1%eth0]", "[ff15::1]:36036", Some("eth0")),
        ("::ffff:239.1.2.3", "239.1.2.3:36036", None),
        ("[::ffff:239.1.2.3]:5000", "239.1.2.3:5000", None),
    ] {
        let found = group(text).expect(text);
        assert_eq!(found.target, Target::Group(address.parse().unwrap()), "{text}");
        let expected = interface.map_or(Interface::Route, |name| Interface::Name(name.to_owned()));
        assert_eq!(found.interface, expected, "{text}");
    }
}

#[test]
fn lists_of_receivers() {
    let each = |list: &[&str]| Target::Each(list.iter().map(|address| address.parse().unwrap()).collect());
    assert_eq!(group("10.0.0.1").unwrap().target, each(&["10.0.0.1:36036"]));
    assert_eq!(
        group("[::ffff:10.0.0.1]:7").unwrap().target,
        each(&["10.0.0.1:7"])
    );
    assert_eq!(
        group("10.0.0.1,10.0.0.2:7,[::1]:9,fd00::1").unwrap().target,
        each(&["10.0.0.1:36036", "10.0.0.2:7", "[::1]:9", "[fd00::1]:36036"])
    );
}

#[test]
fn what_is_no_group() {
    for text in [
        "",
        ",",
        "x",
        "239.1.2.3:",
        "239.1.2.3:0",
        "239.1.2.3:70000",
        "239.1.2.3%",
        "[ff15::1",
        "0.0.0.0",
        "[::]:5000",
        "[239.1.2.3]:5000",
        "fe80::1%no-such",
        "10.0.0.1%eth0",
        "10.0.0.1,239.1.2.3",
        "239.1.2.3,239.1.2.4",
        "10.0.0.1,,10.0.0.2",
    ] {
        assert_eq!(group(text), None, "{text}");
    }
    let many = vec!["10.0.0.1"; MOST + 1].join(",");
    assert_eq!(group(&many), None);
}

#[test]
fn the_option_goes_first() {
    let both = CastCommon {
        ttl: 1,
        interface: Some("10.0.0.9".to_owned()),
        source: None,
    };
    let found = Group::parse("239.1.2.3%eth0", &both).unwrap();
    assert_eq!(found.interface, Interface::Address("10.0.0.9".parse().unwrap()));
}
