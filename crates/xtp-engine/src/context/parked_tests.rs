//! Sizes of what lies parked.

use super::*;

/// Octets of a whole context and of a parked one's fixed part: ceilings that only go down.
#[test]
fn sizes_stay_within_limits() {
    assert!(size_of::<Context>() <= 2_880, "{}", size_of::<Context>());
    assert!(size_of::<Parked>() <= 48, "{}", size_of::<Parked>());
}
