//! What is too much, and what is not.

use super::*;

#[test]
fn twice_as_many_are_explained_and_six_times_are_not() {
    let traffic = |control| Traffic {
        data: 100,
        control,
        ..Traffic::default()
    };
    assert_eq!(check(traffic(200)), Ok(()));
    let error = check(traffic(600)).expect_err("too many");
    assert!(error.contains("600 control packets beside 100"), "{error}");
}

#[test]
fn an_idle_association_may_not_chatter() {
    let idle = |control, seconds| Traffic {
        data: 2,
        control,
        seconds,
        ..Traffic::default()
    };
    assert_eq!(check(idle(10, 1)), Ok(()));
    assert!(check(idle(1_000, 60)).is_err());
}

#[test]
fn losses_explain_repetitions() {
    let lossy = Traffic {
        data: 10,
        control: 90,
        lost: 5,
        ..Traffic::default()
    };
    assert_eq!(check(lossy), Ok(()));
    assert!(check(Traffic { lost: 0, ..lossy }).is_err());
}

#[test]
fn a_window_in_terms_makes_two_packets_of_an_answer() {
    let told = Traffic {
        data: 100,
        control: 800,
        seconds: 1,
        window_in_terms: true,
        ..Traffic::default()
    };
    assert_eq!(check(told), Ok(()));
    assert!(check(Traffic { control: 900, ..told }).is_err());
    let plain = Traffic {
        window_in_terms: false,
        ..told
    };
    assert!(check(plain).is_err());
}

/// A packet each half a second, and six questions in between.
#[test]
fn who_waits_for_a_grant_asks_now_and_then() {
    let late = Traffic {
        data: 200,
        control: 200 * 18,
        seconds: 100,
        grants_late: true,
        ..Traffic::default()
    };
    assert_eq!(check(late), Ok(()));
    let more = Traffic {
        control: 200 * 22,
        ..late
    };
    assert!(check(more).is_err());
    let soon = Traffic {
        grants_late: false,
        ..late
    };
    assert!(check(soon).is_err());
    let quick = Traffic { seconds: 1, ..late };
    assert!(check(quick).is_err());
}
