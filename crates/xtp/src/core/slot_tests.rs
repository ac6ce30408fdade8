//! The size of what every association has.

use super::*;

/// A ceiling that only goes down: every association has one, parked or not.
#[test]
fn a_slot_is_small() {
    assert!(size_of::<Slot>() <= 112, "{}", size_of::<Slot>());
}
