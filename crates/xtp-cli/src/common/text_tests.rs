//! Words for numbers and contents.

use std::time::Duration;

use super::{Payload, rate_text, size_text, span_text};

#[test]
fn sizes_have_units_of_1024() {
    assert_eq!(size_text(0), "0 octets");
    assert_eq!(size_text(1_023), "1023 octets");
    assert_eq!(size_text(1_024), "1.0 KiB");
    assert_eq!(size_text(64 << 20), "64.0 MiB");
    assert_eq!(size_text(u64::MAX), "16777216.0 TiB");
    assert_eq!(rate_text(2 << 20, Duration::from_secs(2)), "1.0 MiB/s");
    assert!(rate_text(1, Duration::ZERO).ends_with("/s"));
}

#[test]
fn spans_have_about_three_digits() {
    for (micros, text) in [
        (0, "0 us"),
        (7, "7 us"),
        (1_230, "1.23 ms"),
        (40_000, "40 ms"),
        (12_340_000, "12.3 s"),
        (20_000_000, "20 s"),
        (600_000_000, "600 s"),
    ] {
        assert_eq!(span_text(Duration::from_micros(micros)), text);
    }
}

#[test]
fn payloads_are_text_or_hexadecimal() {
    let json = |shown: &[u8], total| serde_json::to_value(Payload::of(shown, total)).expect("plain data");
    assert_eq!(json(b"hi", 2), serde_json::json!({"text": "hi", "octets": 2}));
    assert_eq!(
        json(&[0xff, 0x01], 2),
        serde_json::json!({"hex": "ff01", "octets": 2})
    );
    // The cut went through a character.
    assert_eq!(
        json(&"ab\u{e9}".as_bytes()[..3], 4),
        serde_json::json!({"text": "ab", "octets": 4, "truncated": true})
    );
    assert_eq!(json(b"", 0), serde_json::json!({"text": "", "octets": 0}));
}

/// The test vectors of RFC 4648, and octets that are no text.
#[test]
fn octets_in_base_64() {
    for (octets, text) in [
        (&b""[..], ""),
        (b"f", "Zg=="),
        (b"fo", "Zm8="),
        (b"foo", "Zm9v"),
        (b"foob", "Zm9vYg=="),
        (b"fooba", "Zm9vYmE="),
        (b"foobar", "Zm9vYmFy"),
        (b"\xff\xfe\xfd", "//79"),
    ] {
        assert_eq!(super::base64(octets), text);
    }
}
