//! What is rough has an effect, and what is plain stays what it was.

use super::*;
use crate::scenario::{Class, Scenario};
use crate::world::World;

/// A stream of four seconds over a carrier that takes a part of what is sent.
fn carried(error: SendError) -> (u64, World) {
    let mut plan = Plan::calm(7);
    plan.flows[0].1.initiator_script = crate::paradigm::Paradigm::ByteStream
        .flow(crate::paradigm::Size {
            message: 100_000,
            count: 4,
            answer: 0,
            pause: Duration::ZERO,
        })
        .initiator_script;
    let refuse = |error| Fault::SendErrors { host: 0, error };
    plan.plan(
        FaultClass::SendErrors,
        vec![(1, refuse(Some(error))), (400, refuse(None))],
    );
    let (report, world) = crate::run::run_plan_here(&plan, 7, |_| {});
    assert_eq!(report.failure, None);
    let world = world.expect("a world");
    (world.net.refused, world)
}

#[test]
fn a_train_may_be_taken_in_part() {
    for error in [SendError::AgainWithin, SendError::NoBuffersWithin] {
        let (refused, world) = carried(error);
        assert!(
            refused > 0 && refused < world.net.packets,
            "{error:?}: {refused} were refused"
        );
    }
}

#[test]
fn plain_seeds_stay_what_they_were() {
    for seed in 1..100 {
        let (plain, rough) = (Plan::draw(seed), Plan::of_rough(seed));
        assert_eq!(plain.flows.len(), rough.flows.len());
        assert!(plain.troubles.len() <= rough.troubles.len());
        for (one, other) in plain.troubles.iter().zip(&rough.troubles) {
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
    }
}

#[test]
fn rough_seeds_pass() {
    for seed in 1..=60 {
        let report = Scenario::new(seed, Class::Rough).run();
        assert!(report.passed, "seed {seed}: {:?}", report.failure);
    }
}
