//! Tests of ECN validation and counting.

use super::*;

#[test]
fn off_stays_off() {
    let mut ecn = EcnSender::new(false);
    ecn.on_path_change();
    assert_eq!(ecn.codepoint(), Ecn::NotEct);
    assert_eq!(ecn.on_report(100, 0, 100, 100), 0);
    assert_eq!(ecn.codepoint(), Ecn::NotEct);
    assert!(!ecn.is_capable());
}

#[test]
fn a_clean_path_is_found_capable_and_ce_is_reported() {
    let mut ecn = EcnSender::new(true);
    assert_eq!(ecn.on_report(4, 0, 0, 4), 0);
    assert!(!ecn.is_capable());
    assert_eq!(ecn.on_report(10, 0, 2, 8), 2);
    assert!(ecn.is_capable());
    assert_eq!(ecn.on_report(19, 0, 3, 10), 1);
    assert_eq!(ecn.codepoint(), Ecn::Ect0);
}

#[test]
fn a_path_that_clears_marks_is_given_up() {
    let mut ecn = EcnSender::new(true);
    assert_eq!(ecn.on_report(0, 0, 0, 9), 0);
    assert_eq!(ecn.codepoint(), Ecn::Ect0);
    assert_eq!(ecn.on_report(0, 0, 0, 1), 0);
    assert_eq!(ecn.codepoint(), Ecn::NotEct);
    // Whatever it says later is not believed.
    assert_eq!(ecn.on_report(50, 0, 50, 50), 0);
    ecn.on_path_change();
    assert_eq!(ecn.codepoint(), Ecn::Ect0);
}

#[test]
fn rewriting_to_ect1_is_given_up_and_a_capable_path_may_turn_bad() {
    let mut ecn = EcnSender::new(true);
    ecn.on_report(20, 0, 0, 20);
    assert!(ecn.is_capable());
    ecn.on_report(20, 20, 0, 20);
    assert_eq!(ecn.codepoint(), Ecn::NotEct);
}

#[test]
fn totals_wrap_and_old_reports_are_ignored() {
    let mut ecn = EcnSender::new(true);
    ecn.on_report(u32::MAX / 2, 0, u32::MAX / 2, 1);
    ecn.on_report(u32::MAX - 1, 0, u32::MAX - 1, 1);
    assert_eq!(ecn.on_report(3, 0, 1, 1), 3);
    assert_eq!(ecn.on_report(2, 0, 1, 0), 0);
    assert_eq!(ecn.on_report(3, 0, 2, 0), 1);
}

#[test]
fn counter_counts_each_code_point() {
    let mut counter = EcnCounter::default();
    for ecn in [
        Ecn::NotEct,
        Ecn::Ect0,
        Ecn::Ce,
        Ecn::Ect1,
        Ecn::Ce,
        Ecn::Ect0,
        Ecn::Ect0,
    ] {
        counter.record(ecn);
    }
    assert_eq!(
        counter,
        EcnCounter {
            ect0: 3,
            ect1: 1,
            ce: 2
        }
    );
    let mut full = EcnCounter {
        ect0: u32::MAX,
        ect1: u32::MAX,
        ce: u32::MAX,
    };
    for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        full.record(ecn);
    }
    assert_eq!(full, EcnCounter::default());
}
