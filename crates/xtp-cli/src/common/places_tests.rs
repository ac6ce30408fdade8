//! Places of addresses, and the pace that keeps one.

use super::*;

#[test]
fn after_any_number_of_greedy_addresses_one_place_is_left() {
    let most = 64;
    let mut taken = 0;
    let mut gets = |greedy: bool| {
        let mut held = 0;
        while may_enter(most, taken, held) && (greedy || held == 0) {
            (taken, held) = (taken + 1, held + 1);
        }
        held
    };
    assert_eq!(gets(true), 32, "one alone gets half");
    assert_eq!(gets(true), 16);
    for _ in 0..3 {
        assert!(gets(true) > 0);
    }
    assert_eq!(gets(false), 1, "who comes next finds one");
    assert!(!may_enter(most, most, 0));
    assert!(may_enter(1, 0, 0) && !may_enter(1, 1, 0));
}

#[test]
fn status_is_no_progress() {
    let begin = Instant::now();
    let at = |seconds: u64| begin + Duration::from_secs(seconds);
    let mut pace = Pace::new(begin);
    assert!(pace.note(14 * 903, at(14)) < PAUSE);
    // As much as 64 of them were told to move together.
    assert_eq!(pace.note(15 * 903, at(20)), PAUSE);
    assert_eq!(pace.note(20 * 903, at(21)), Duration::ZERO, "enough");
    pace.rest(20 * 903, at(50));
    assert_eq!(pace.note(20 * 903, at(51)), Duration::from_secs(1));
}
