//! Addresses as people write them.

use super::{Address, Status};
use crate::common::peer_text;

fn parse(text: &str) -> Option<(String, u16, u16)> {
    let address = Address::parse(text, 9).ok()?;
    Some((address.host, address.udp_port, address.service))
}

#[test]
fn parts_that_are_missing_have_defaults() {
    for (text, host, port, service) in [
        ("server", "server", 36_036, 9),
        ("server:4000", "server", 4_000, 9),
        ("server/77", "server", 36_036, 77),
        ("server:4000/77", "server", 4_000, 77),
        ("127.0.0.1:0", "127.0.0.1", 0, 9),
        ("[::1]", "::1", 36_036, 9),
        ("[::1]:4000/7", "::1", 4_000, 7),
        ("[fe80::1%eth0]:4000", "fe80::1%eth0", 4_000, 9),
        ("::1", "::1", 36_036, 9),
        ("fe80::1%eth0", "fe80::1%eth0", 36_036, 9),
        ("fe80::1%eth0/7", "fe80::1%eth0", 36_036, 7),
        ("[fe80::1%25eth0]:4000", "fe80::1%25eth0", 4_000, 9),
        ("[fe80::1%2]:4000/7", "fe80::1%2", 4_000, 7),
        ("[::ffff:127.0.0.1]:4000", "::ffff:127.0.0.1", 4_000, 9),
        (":4000", "", 4_000, 9),
        ("", "", 36_036, 9),
    ] {
        assert_eq!(parse(text), Some((host.to_owned(), port, service)), "{text}");
    }
}

#[test]
fn nonsense_is_a_usage_error_in_one_sentence() {
    for text in [
        "server:",
        "server:x",
        "server:65536",
        "server:1:2",
        "server/",
        "server/x",
        "server/65536",
        "[::1",
        "[::1]4000",
        "[server]:4000",
        "a b",
        "server:4000/7/8",
        "fe80::1%eth0:4000",
        "fe80::1%",
        "[fe80::1%]:4000",
    ] {
        let failure = Address::parse(text, 9).expect_err(text);
        assert_eq!(failure.status, Status::Usage, "{text}");
        assert!(
            failure.message.starts_with(&format!("'{text}'")),
            "{}",
            failure.message
        );
        assert!(!failure.message.contains('\n'), "{}", failure.message);
    }
}

#[test]
fn somebody_to_talk_to_has_a_host_and_a_port() {
    assert!(Address::peer("server", 9).is_ok());
    assert!(Address::peer(":4000", 9).is_err());
    assert!(Address::peer("server:0", 9).is_err());
}

#[test]
fn addresses_are_shown_as_they_can_be_written() {
    for text in ["server:4000/77", "[::1]:36036/9", "127.0.0.1:0/9"] {
        let address = Address::parse(text, 9).expect(text);
        assert_eq!(address.to_string(), text);
    }
}

#[test]
fn what_is_printed_can_be_written() {
    for text in ["[fe80::1%1]:4000", "[::1]:4000", "127.0.0.1:4000", "[::]:4000"] {
        let printed = peer_text(text.parse().expect(text));
        assert_eq!(printed, text);
        let address = Address::parse(&printed, 9).expect(text);
        assert_eq!(address.to_string(), format!("{text}/9"));
    }
    let mapped = "[::ffff:127.0.0.1]:4000".parse().expect("an address");
    assert_eq!(peer_text(mapped), "127.0.0.1:4000");
}

#[test]
fn interfaces_that_are_not_there_are_usage_errors() {
    for text in [
        "fe80::1%no-such",
        "[fe80::1%25no-such]:4000",
        "[::1%lo]:4000",
        "127.0.0.1%lo",
    ] {
        let failure = Address::parse(text, 9).expect(text).resolve().expect_err(text);
        assert_eq!(failure.status, Status::Usage, "{text}");
        assert!(!failure.message.contains('\n'), "{}", failure.message);
    }
}

#[test]
fn listeners_bind_to_what_is_named_or_to_everything() {
    let bind = |text: &str| {
        Address::parse(text, 9)
            .expect(text)
            .bind()
            .expect(text)
            .to_string()
    };
    assert_eq!(bind("127.0.0.1:0"), "127.0.0.1:0");
    assert_eq!(bind(":4000"), "[::]:4000");
    assert_eq!(bind("*:4000"), "[::]:4000");
}
