//! Whose namespaces are whose.

use super::*;

#[test]
fn only_our_names_have_an_owner() {
    assert_eq!(owner("xtp-linkem-123-0-left"), Some(123));
    assert_eq!(owner("xtp-linkem-4194304-12-right"), Some(4_194_304));
    for name in [
        "xtp-linkem-",
        "xtp-linkem-123",
        "xtp-linkem-x-0-left",
        "xtp-linkem-123-x-left",
        "xtp-linkem-123-0-middle",
        "somebody-elses",
        "",
    ] {
        assert_eq!(owner(name), None, "{name}");
    }
}

#[test]
fn a_process_that_is_there_is_not_dead() {
    assert!(!is_dead(std::process::id().cast_signed()));
    assert!(is_dead(i32::MAX));
}

#[test]
fn sides_are_each_others_peers() {
    assert_eq!(Side::Left.addresses(), Side::Right.other().addresses());
    assert_ne!(Side::Left.addresses(), Side::Right.addresses());
}
