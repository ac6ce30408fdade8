//! Which datagrams are asked about.

use super::*;

/// As many round trips of lone datagrams with this mark; how many were asked about.
fn exchange(history: &EcnHistory, count: u32, mark: EcnCodepoint) -> u32 {
    let mut asked = 0;
    for _ in 0..count {
        history.sent();
        let asks = history.asks();
        asked += u32::from(asks);
        history.came(asks.then_some(mark));
    }
    asked
}

#[test]
fn of_lone_datagrams_without_a_mark_one_in_sixteen_is_asked_about() {
    let history = EcnHistory::new(true);
    assert_eq!(exchange(&history, UNMARKED, EcnCodepoint::NotEct), UNMARKED);
    assert_eq!(exchange(&history, 10 * SAMPLE, EcnCodepoint::NotEct), 10);
}

#[test]
fn a_marked_one_has_all_asked_about_again() {
    let history = EcnHistory::new(true);
    exchange(&history, UNMARKED, EcnCodepoint::NotEct);
    exchange(&history, SAMPLE, EcnCodepoint::Ce);
    assert_eq!(exchange(&history, 100, EcnCodepoint::Ect0), 100);
}

#[test]
fn only_the_first_behind_what_was_sent_goes_unasked() {
    let history = EcnHistory::new(true);
    exchange(&history, UNMARKED, EcnCodepoint::NotEct);
    history.sent();
    assert!(!history.asks());
    history.came(None);
    assert!(history.asks());
    history.came(Some(EcnCodepoint::Ect0));
    history.sent();
    assert!(history.asks(), "it had a mark");
}

#[test]
fn a_socket_that_tells_nothing_is_not_asked() {
    let history = EcnHistory::new(false);
    assert_eq!(exchange(&history, 2, EcnCodepoint::NotEct), 0);
    history.came(None);
    assert!(!history.asks());
}
