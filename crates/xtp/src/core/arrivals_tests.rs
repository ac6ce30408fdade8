//! When memory of many that have gone is given back.

use super::*;
use crate::core::brief_testing::brief;

#[test]
fn memory_is_given_back_once_when_many_have_gone_and_once_when_they_are_forgotten() {
    let endpoint = brief();
    endpoint.shared.look(|core| {
        assert!(!core.crowd_has_gone());
        core.crowd = CROWD;
        core.slots.reserve(CROWD);
        assert!(core.crowd_has_gone());
        assert!(core.slots.capacity() < CROWD, "tables shrink with it");
        assert!(!core.crowd_has_gone());
        core.records = CROWD;
        assert!(core.crowd_has_gone());
        assert!(!core.crowd_has_gone());
        (core.crowd, core.records) = (CROWD - 1, CROWD - 1);
        assert!(!core.crowd_has_gone());
    });
}
