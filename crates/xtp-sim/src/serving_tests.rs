//! Listeners that change are drawn, and what is refused meanwhile is excused, and nothing else.

use std::time::Duration;

use super::Serves;
use crate::app::Outcome;
use crate::excuse::{self, Excuse};
use crate::fault::Fault;
use crate::run::run_plan;
use crate::seed::Plan;
use crate::trace::Side;
use crate::trouble::{FaultClass, Trouble};
use crate::world::World;
use xtp_engine::{CloseReason, DiagReason};

/// A calm stream that begins `after` its listener began to serve so; it serves it again after 3 s.
fn run(serves: Serves, begins: Duration) -> (Plan, World) {
    run_over(Plan::calm(1).link.delay, serves, begins)
}

/// The same where each packet is so long under way.
fn run_over(delay: Duration, serves: Serves, begins: Duration) -> (Plan, World) {
    let mut plan = Plan::calm(1);
    plan.link.delay = delay;
    plan.flows[0].1.start = begins;
    let fault = |serves| Fault::Serve {
        host: 1,
        flow: 0,
        serves,
    };
    let at = Duration::from_millis;
    let faults = vec![(at(100), fault(serves)), (at(3_100), fault(Serves::Again))];
    let class = FaultClass::ListenerChange;
    plan.classes.insert(class);
    plan.troubles = vec![Trouble { class, faults }];
    let (report, world) = run_plan(&plan, 1);
    assert_eq!(report.failure, None, "{serves:?}");
    (plan, world)
}

#[test]
fn who_is_not_served_is_told_why() {
    let cases = [
        (Serves::Nobody, 1),
        (Serves::Elsewhere, 8),
        (Serves::Others, 8),
        (Serves::Stricter, 2),
    ];
    for (serves, reason) in cases {
        let (plan, world) = run(serves, Duration::from_millis(200));
        let refused = Outcome::Closed(CloseReason::Refused(DiagReason(reason)));
        assert_eq!(world.outcome(0, Side::Initiator), Some(&refused), "{serves:?}");
        assert_eq!(world.flows[0].accepted, 0);
        assert!(excuse::of(&plan, &world, 0).contains(&Excuse::NotServed));
    }
}

#[test]
fn who_was_accepted_before_or_begins_later_notices_nothing() {
    for serves in [
        Serves::Nobody,
        Serves::Elsewhere,
        Serves::Others,
        Serves::Stricter,
    ] {
        for begins in [0, 3_200] {
            let (plan, world) = run(serves, Duration::from_millis(begins));
            let well = Outcome::Closed(CloseReason::Normal);
            assert_eq!(
                world.outcome(0, Side::Initiator),
                Some(&well),
                "{serves:?} {begins}"
            );
            assert!(excuse::of(&plan, &world, 0).is_empty());
        }
    }
}

/// The first FIRST comes when no program serves the number, another one later, and the refusal is read when that is long taken.
#[test]
fn who_is_refused_by_one_copy_and_taken_by_another_is_excused() {
    let millis = Duration::from_millis;
    let (plan, world) = run_over(millis(2_600), Serves::Elsewhere, millis(200));
    let refused = Outcome::Closed(CloseReason::Refused(DiagReason(8)));
    assert_eq!(world.outcome(0, Side::Initiator), Some(&refused));
    assert_eq!(world.flows[0].accepted, 1);
    assert!(excuse::of(&plan, &world, 0).contains(&Excuse::NotServed));
}

#[test]
fn changes_of_listeners_are_drawn() {
    let drawn = (1..=400).filter(|seed| Plan::draw(*seed).has(FaultClass::ListenerChange));
    let count = drawn.count();
    assert!((24..80).contains(&count), "{count} of 400");
}
