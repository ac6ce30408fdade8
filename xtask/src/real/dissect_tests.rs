//! What counts as a clean dissection.

use super::*;

#[test]
fn a_clean_packet_tells_its_format() {
    assert_eq!(judge("1;0x1;2;1;1;;;"), Ok(2));
    assert_eq!(judge("1;0x1;19;1;1;1;4194304;a remark"), Ok(19));
}

#[test]
fn each_flaw_is_named() {
    for (line, flaw) in [
        ("7;;;;1;;;", "packet 7 was not taken for XTP"),
        ("7;0x1;2;0;1;;;", "packet 7: XTP checksum status 0, not good"),
        ("7;0x1;2;1;0;;;", "packet 7: IP checksum status 0, not good"),
        ("7;0x1;2;1;1;0;;", "packet 7: UDP checksum status 0, not good"),
        (
            "7;0x1;2;1;1;;2097152|8388608;Number of spans incorrect",
            "packet 7: Number of spans incorrect",
        ),
        ("7;0x1;2", "tshark said 7;0x1;2"),
    ] {
        assert_eq!(judge(line), Err(flaw.to_owned()));
    }
}

#[test]
fn only_our_extensions_may_be_unknown() {
    for line in [
        "    Format: Unknown (19)",
        "  Format: 128, Unsupported tformat(128)",
        "Sort: 0",
    ] {
        assert!(is_known(line), "{line}");
    }
    for line in [
        "Format: Unknown (4)",
        "Format: 117, Unsupported tformat(117)",
        "[Malformed Packet: XTP]",
    ] {
        assert!(!is_known(line), "{line}");
    }
}
