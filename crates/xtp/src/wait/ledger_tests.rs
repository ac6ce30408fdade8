//! The account of looking, and when a rest gathers.

use super::*;

/// A sleep that was not kept from a core.
const NO: Looked = Looked::No(Duration::ZERO);
/// A look in vain, and a sleep that was not kept from a core.
fn in_vain(span: Duration) -> Looked {
    Looked::InVain(span, Duration::ZERO)
}
const SHORT: Duration = Duration::from_micros(5);
const SLICE: Duration = Duration::from_millis(3);

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
    for (policy, way) in [(Wait::Block, WaitMethod::Sleep), (Wait::Spin, WaitMethod::Look)] {
        let mut ledger = Ledger::new(policy);
        for span in [1, 10_000, 1, 10_000] {
            let took = Duration::from_micros(span);
            ledger.ended(took, in_vain(took), 1);
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
        ledger.ended(vain, in_vain(LONGEST_LOOK), 1);
    }
    meet(&mut ledger, 3);
    assert!(ledger.looks(), "what comes soon mostly is looked for");
}

/// How many of 10 000 waits that take so long look, and in vain.
fn looks_in_vain(ledger: &mut Ledger, took: Duration) -> usize {
    let keeps = !ledger.gives();
    let looked = (0..10_000).filter(|_| {
        if keeps {
            ledger.gave(SLICE, true);
        }
        let looks = ledger.looks();
        let looked = if looks { in_vain(LONGEST_LOOK) } else { NO };
        ledger.ended(took, looked, 1);
        looks
    });
    looked.count()
}

#[test]
fn looks_in_vain_become_rare_and_never_end() {
    let took = Duration::from_millis(1);
    // 50 us of a look in vain are a 32nd of 1.6 ms, all of its 100 us of 3.2 ms.
    let looked = looks_in_vain(&mut adaptive(), took);
    assert!((5_000..=7_000).contains(&looked), "{looked}");
    let looked = looks_in_vain(&mut keeping(), took);
    assert!((2_800..=3_300).contains(&looked), "{looked}");
}

/// One whose looks keep the core, as others do not give it back soon. It sleeps.
fn keeping() -> Ledger {
    let mut ledger = adaptive();
    for _ in 0..2 {
        ledger.gave(SLICE, true);
    }
    assert!(!ledger.gives());
    ledger
}

#[test]
fn a_look_that_keeps_the_core_costs_what_it_took() {
    for (span, pays) in [(5, true), (15, true), (40, false), (90, false)] {
        let span = Duration::from_micros(span);
        let looks_on = |mut ledger: Ledger| {
            for _ in 0..20 {
                // So that it is not tried to give it away.
                ledger.gave(SLICE, true);
                ledger.ended(span, Looked::Met(span), 1);
            }
            ledger.looks()
        };
        assert!(looks_on(adaptive()) == pays, "{span:?}");
        let mut gives = adaptive();
        for _ in 0..20 {
            gives.ended(span, Looked::Met(span), 1);
        }
        assert!(gives.looks(), "others have the core in between");
    }
}

#[test]
fn a_core_is_given_away_where_it_comes_back_in_turn() {
    let mut ledger = adaptive();
    // By peers that do their part of the work, however long it takes if nothing came meanwhile.
    for (took, met) in [(1, true), (30, true), (400, true), (5_000, false)] {
        for _ in 0..100 {
            ledger.gave(Duration::from_micros(took), met);
        }
        assert!(ledger.gives(), "{took} us");
    }
    // A slice during which what was waited for came, again and again.
    ledger.gave(SLICE, true);
    assert!(ledger.gives(), "what was earned pays for one");
    ledger.gave(SLICE, true);
    assert!(!ledger.gives());
    // It is tried again after 32 times what was lost.
    let mut waited = Duration::ZERO;
    while !ledger.gives() {
        waited += SHORT;
        ledger.ended(SHORT, Looked::Met(SHORT), 1);
    }
    assert!(
        (60..70).contains(&waited.as_millis()),
        "2 ms were owed, {waited:?}"
    );
    // What nothing else wanted says nothing.
    let mut ledger = keeping();
    for _ in 0..1_000 {
        ledger.gave(Duration::from_nanos(500), true);
    }
    assert!(!ledger.gives());
}

#[test]
fn a_slice_that_a_sleep_lost_is_paid_in_and_a_turn_is_not() {
    let owing = || {
        let mut ledger = keeping();
        ledger.ended(SLICE, in_vain(LONGEST_LOOK), 1);
        ledger.ended(SHORT, in_vain(Duration::from_millis(2)), 1);
        assert!(!ledger.looks());
        ledger
    };
    for (delayed, looks) in [(TURN, false), (SLICE, true)] {
        let mut ledger = owing();
        ledger.ended(SHORT, Looked::No(delayed), 1);
        assert_eq!(ledger.looks(), looks);
    }
}

#[test]
fn a_slice_lost_behind_a_look_in_vain_is_paid_for() {
    for (delayed, looks) in [(TURN, true), (SLICE, false)] {
        let mut ledger = adaptive();
        meet(&mut ledger, 10);
        ledger.ended(SHORT, Looked::InVain(SHORT, delayed), 1);
        assert_eq!(ledger.looks(), looks, "{delayed:?}");
    }
    // Where sleeps lose as many slices behind looks as without them, looking saves none.
    let mut ledger = keeping();
    let mut looked = 0;
    for _ in 0..1_000 {
        // So that it is not tried to give the core away.
        ledger.gave(SLICE, true);
        let looks = ledger.looks();
        looked += u32::from(looks);
        let how = if looks {
            Looked::InVain(LONGEST_LOOK, SLICE)
        } else {
            Looked::No(SLICE)
        };
        ledger.ended(SLICE, how, 1);
    }
    assert!(looked <= 520, "{looked}");
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
            assert_eq!(
                ledger.way(rest) == WaitMethod::Rest,
                gathers,
                "{datagrams} in {took} us"
            );
            assert_ne!(ledger.way(Duration::ZERO), WaitMethod::Rest);
        }
    }
    assert_ne!(
        adaptive().way(Duration::from_secs(1)),
        WaitMethod::Rest,
        "nothing is known"
    );
}

#[test]
fn waits_of_any_length_are_counted() {
    let mut ledger = adaptive();
    for _ in 0..100 {
        for looked in [NO, Looked::Met(Duration::MAX), in_vain(Duration::MAX)] {
            ledger.ended(Duration::MAX, looked, usize::MAX / 2_usize.pow(32));
        }
    }
    let _ = ledger.way(Duration::from_millis(1));
}
