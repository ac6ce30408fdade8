//! Which datagrams are asked about.

use super::*;

/// As many round trips of lone datagrams with this mark; how many were asked about.
fn exchange(told: &Told, count: u32, mark: Ecn) -> u32 {
    let mut asked = 0;
    for _ in 0..count {
        told.sent();
        let asks = told.asks();
        asked += u32::from(asks);
        told.came(asks.then_some(mark));
    }
    asked
}

#[test]
fn of_lone_datagrams_without_a_mark_one_in_sixteen_is_asked_about() {
    let told = Told::new(true);
    assert_eq!(exchange(&told, UNMARKED, Ecn::NotEct), UNMARKED);
    assert_eq!(exchange(&told, 10 * SAMPLE, Ecn::NotEct), 10);
}

#[test]
fn a_marked_one_has_all_asked_about_again() {
    let told = Told::new(true);
    exchange(&told, UNMARKED, Ecn::NotEct);
    exchange(&told, SAMPLE, Ecn::Ce);
    assert_eq!(exchange(&told, 100, Ecn::Ect0), 100);
}

#[test]
fn only_the_first_behind_what_was_sent_goes_unasked() {
    let told = Told::new(true);
    exchange(&told, UNMARKED, Ecn::NotEct);
    told.sent();
    assert!(!told.asks());
    told.came(None);
    assert!(told.asks());
    told.came(Some(Ecn::Ect0));
    told.sent();
    assert!(told.asks(), "it had a mark");
}

#[test]
fn a_socket_that_tells_nothing_is_not_asked() {
    let told = Told::new(false);
    assert_eq!(exchange(&told, 2, Ecn::NotEct), 0);
    told.came(None);
    assert!(!told.asks());
}
