//! The account of looking, and when a rest gathers.

use super::*;

/// A sleep that was not kept from a core.
const NO: Looked = Looked::No(Duration::ZERO);
const SHORT: Duration = Duration::from_micros(5);

fn adaptive() -> Ledger {
    Ledger::new(Wait::Adaptive)
}

/// So many waits that a look met.
fn meet(ledger: &mut Ledger, waits: u32) {
    for _ in 0..waits {
        ledger.ended(SHORT, Looked::Met(SHORT), 1);
    }
}

/// Waits that sleep, until the next one looks.
fn sleeps(ledger: &mut Ledger, took: Duration) -> u32 {
    let mut waits = 0;
    while !ledger.looks() {
        ledger.ended(took, NO, 1);
        waits += 1;
    }
    waits
}

#[test]
fn policies_that_are_no_choice_learn_nothing() {
    for (policy, way) in [(Wait::Block, Way::Sleep), (Wait::Spin, Way::Look)] {
        let mut ledger = Ledger::new(policy);
        for span in [1, 10_000, 1, 10_000] {
            let took = Duration::from_micros(span);
            ledger.ended(took, Looked::InVain(took), 1);
            meet(&mut ledger, 100);
            assert_eq!(ledger.way(Duration::ZERO), way);
        }
    }
}

#[test]
fn looks_that_meet_what_they_wait_for_pay_for_some_in_vain() {
    let mut ledger = adaptive();
    meet(&mut ledger, 10);
    let vain = 3 * LONGEST_LOOK;
    for _ in 0..5 {
        assert!(ledger.looks());
        ledger.ended(vain, Looked::InVain(LONGEST_LOOK), 1);
    }
    meet(&mut ledger, 3);
    assert!(ledger.looks(), "what comes soon mostly is looked for");
}

/// How many of 10 000 waits that take so long look, and in vain.
fn looks_in_vain(ledger: &mut Ledger, took: Duration) -> usize {
    let looked = (0..10_000).filter(|_| {
        let looks = ledger.looks();
        let looked = if looks { Looked::InVain(LONGEST_LOOK) } else { NO };
        ledger.ended(took, looked, 1);
        looks
    });
    looked.count()
}

#[test]
fn looks_in_vain_become_rare_and_never_end() {
    let mut ledger = adaptive();
    // 50 us of a look in vain are a 32nd of 1.6 ms.
    let looked = looks_in_vain(&mut ledger, Duration::from_millis(1));
    assert!((5_000..=7_000).contains(&looked), "{looked}");
    // One that would have ended in its time on another core costs all of it.
    let looked = looks_in_vain(&mut ledger, Duration::from_micros(150));
    assert!((400..=550).contains(&looked), "{looked}");
}

#[test]
fn a_core_that_was_taken_away_costs_all_that_time() {
    let mut ledger = adaptive();
    meet(&mut ledger, 75);
    // 75 short waits earn 1.5 ms; 3.5 ms are lost, and a 32nd of 2 ms' waiting pays for it.
    ledger.ended(
        Duration::from_micros(3_500),
        Looked::Met(Duration::from_micros(3_500)),
        1,
    );
    assert!(!ledger.looks());
    let waits = sleeps(&mut ledger, Duration::from_micros(30));
    assert!((1_500..2_000).contains(&waits), "{waits}");
}

#[test]
fn seldom_stalls_are_worth_it() {
    let mut ledger = adaptive();
    for _ in 0..10 {
        meet(&mut ledger, 500);
        assert!(ledger.looks());
        ledger.ended(Duration::from_millis(3), Looked::Met(Duration::from_millis(3)), 1);
    }
    assert!(ledger.looks());
}

#[test]
fn what_was_earned_is_forgotten_after_a_slice() {
    let mut ledger = adaptive();
    meet(&mut ledger, 1_000_000);
    for _ in 0..2 {
        assert!(ledger.looks());
        ledger.ended(Duration::from_millis(3), Looked::Met(Duration::from_millis(3)), 1);
    }
    assert!(!ledger.looks());
}

#[test]
fn a_rest_has_to_gather() {
    for policy in [Wait::Block, Wait::Adaptive] {
        let mut ledger = Ledger::new(policy);
        let rest = Duration::from_micros(20);
        // A datagram each 5 us, less often, and in trains.
        for (took, datagrams, gathers) in [(5, 2, true), (20, 1, false), (20, 44, true), (9, 1, false)] {
            for _ in 0..100 {
                ledger.ended(Duration::from_micros(took), NO, datagrams);
            }
            assert_eq!(ledger.way(rest) == Way::Rest, gathers, "{datagrams} in {took} us");
            assert_ne!(ledger.way(Duration::ZERO), Way::Rest);
        }
    }
    assert_ne!(
        adaptive().way(Duration::from_secs(1)),
        Way::Rest,
        "nothing is known"
    );
}

#[test]
fn waits_of_any_length_are_counted() {
    let mut ledger = adaptive();
    for _ in 0..100 {
        for looked in [NO, Looked::Met(Duration::MAX), Looked::InVain(Duration::MAX)] {
            ledger.ended(Duration::MAX, looked, usize::MAX / 2_usize.pow(32));
        }
    }
    let _ = ledger.way(Duration::from_millis(1));
}
