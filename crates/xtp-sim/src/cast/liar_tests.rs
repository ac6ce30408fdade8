//! Each lie is heard as what it is, and a transmitter that believed more would be noticed.

use super::*;
use crate::cast::GroupWorld;

/// A group of receivers beside a liar that tells this lie, quiet but for it.
fn beside(lie: Lie) -> GroupWorld {
    let (seed, mut plan) = (1..)
        .map(|seed| (seed, CastPlan::of_roles(seed)))
        .find(|(_, plan)| {
            let coded = plan.options.fec.is_some() && plan.members.len() > 2;
            plan.is_compared
                && coded
                && plan.octets() > 100_000
                && plan.liar.is_some_and(|liar| liar.at.is_zero())
        })
        .expect("some seed");
    if let Some(liar) = &mut plan.liar {
        liar.lie = lie;
        liar.every = Duration::from_millis(2);
    }
    let mut world = GroupWorld::new(plan, seed).expect("a world");
    assert!(world.settle(world.limit()), "{lie:?}: it is over");
    assert_eq!(world.failure, None, "{lie:?}");
    world
}

#[test]
fn every_liar_is_admitted_and_speaks_often() {
    for lie in Lie::ALL {
        let world = beside(lie);
        let liar = world.liar.as_ref().expect("it is there");
        assert!(
            liar.own.is_some() && liar.said > 50,
            "{lie:?}: {} words",
            liar.said
        );
        let report = world
            .sender
            .reports
            .iter()
            .find(|report| report.address == address());
        assert!(report.is_some(), "{lie:?}: it is a member");
    }
}

#[test]
fn a_liar_that_wants_everything_is_sent_something() {
    let (honest, liar) = (beside(Lie::Whole), beside(Lie::Needs));
    assert!(liar.watch.repairs > honest.watch.repairs, "it was heard");
}

/// Its answer arrives while the question is under way to all others.
#[test]
fn a_liar_that_is_early_answers_questions_as_they_leave() {
    let (usual, early) = (beside(Lie::Whole), beside(Lie::Early));
    let answers = |world: &GroupWorld| world.liar.as_ref().map_or(0, |liar| liar.early);
    assert_eq!(answers(&usual), 0);
    assert!(answers(&early) > 4, "{} answers", answers(&early));
}

/// It may have received all of a small window as late as it says so; where there is no second window it delays no other member.
#[test]
fn each_window_waits_for_the_next_word_of_one_that_moves() {
    let mut plan = CastPlan::of_roles(99_234_579);
    let mut liar = plan.liar.expect("one");
    assert_eq!((liar.lie, liar.every), (Lie::Whole, Duration::from_millis(100)));
    let usual = plan.sending_time();
    let held = |plan: &CastPlan, liar: LiarPlan| liar.holds_up(plan, usual, Duration::from_millis(500));
    let octets = plan.octets();
    plan.options.window = octets / 20;
    let small = held(&plan, liar);
    liar.lie = Lie::Full;
    assert!(small >= held(&plan, liar) + 20 * Duration::from_millis(100));
    liar.lie = Lie::Whole;
    plan.options.window = octets;
    for member in &mut plan.members {
        member.join.capacity = octets;
    }
    assert!(held(&plan, liar) + Duration::from_millis(1_700) < small);
}
