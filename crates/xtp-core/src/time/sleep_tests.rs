//! Tests of who was stopped, and for how long.

use super::*;

#[test]
fn only_who_comes_late_was_stopped() {
    let at = |millis: u64| Time::ZERO + Duration::from_millis(millis);
    assert_eq!(slept(at(0), || None, at(60_000)), None, "nothing was to be done");
    assert_eq!(slept(at(0), || Some(at(60_000)), at(60_010)), None);
    assert_eq!(slept(at(0), || Some(at(1_000)), at(1_300)), None);
    let unasked = || unreachable!("the driver came a moment ago");
    assert_eq!(slept(at(1_000), unasked, at(1_300)), None);
    let late = Some(Duration::from_millis(4_000));
    assert_eq!(slept(at(0), || Some(at(1_000)), at(5_000)), late);
    assert_eq!(
        slept(at(1_000), || Some(at(500)), at(5_000)),
        late,
        "it was there at a second"
    );
}
