//! Tests of the clock.

use super::*;

#[test]
fn never_runs_backwards_and_is_not_zero() {
    let clock = Clock::new();
    let first = clock.now();
    let second = clock.now();
    assert!(first > Time::ZERO);
    assert!(second >= first);
}

#[test]
fn offset_leads_back_to_utc() {
    let clock = Clock::new();
    let before = utc_ms();
    let offset = clock.utc_offset_ms();
    let monotonic = i64::try_from(clock.now().as_nanos() / 1_000_000).expect("small");
    let rebuilt = u64::try_from(monotonic + offset).expect("after 1970");
    // The two clocks are read one after the other, each rounded down: a millisecond either way.
    assert!(rebuilt + 2 >= before);
    assert!(rebuilt <= utc_ms() + 2);
}
