//! The order of wrapping numbers.

use super::*;

#[test]
fn newer_is_newer_across_the_wrap() {
    assert!(serial_gt(1, 0));
    assert!(serial_gt(0, u32::MAX));
    assert!(serial_gt(5, 0xffff_fffe));
    assert!(!serial_gt(0, 1));
    assert!(!serial_gt(7, 7));
}

#[test]
fn half_the_circle_apart_neither_is_newer() {
    assert!(serial_gt(0x7fff_ffff, 0));
    assert!(!serial_gt(0x8000_0000, 0));
    assert!(!serial_gt(0, 0x8000_0000));
    assert!(serial_gt(0, 0x8000_0001));
}

#[test]
fn max_follows_the_order() {
    assert_eq!(serial_max(3, u32::MAX), 3);
    assert_eq!(serial_max(u32::MAX, 3), 3);
    assert_eq!(serial_max(8, 8), 8);
    assert_eq!(serial_max(0, 0x8000_0000), 0, "without an order the first stays");
}
