//! The return bit and the key beside it.

use super::*;

#[test]
fn the_top_bit_is_not_part_of_the_key() {
    let (own, returned) = (Key::own(u64::MAX), Key::returned(u64::MAX));
    assert_eq!(own.to_wire(), u64::MAX >> 1);
    assert_eq!(returned.to_wire(), u64::MAX);
    assert_eq!(own.value(), returned.value());
    assert!(!own.is_returned() && returned.is_returned());
    assert_ne!(own, returned);
}

#[test]
fn the_field_survives() {
    for field in [0, 1, 1 << 63, u64::MAX, 0x8123_4567_89ab_cdef] {
        assert_eq!(Key::from_wire(field).to_wire(), field);
    }
    assert_eq!(
        Key::from_wire(0x8123_4567_89ab_cdef),
        Key::returned(0x0123_4567_89ab_cdef)
    );
}

#[test]
fn a_person_sees_which_kind_it_is() {
    assert_eq!(
        std::format!("{:?}", Key::returned(0x1234)),
        "Key::returned(0x0000000000001234)"
    );
    assert_eq!(
        std::format!("{:?}", Key::own(0x1234)),
        "Key::own(0x0000000000001234)"
    );
}
