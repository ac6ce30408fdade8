//! Wrong checkers on purpose: what is left is the least that they dislike.

use super::*;
use crate::fault::Fault;
use crate::scenario::{Class, Left};

/// Seeds whose worlds a wrong checker dislikes are found by looking.
fn first_seed_with(mut fails: impl FnMut(&Scenario) -> Option<String>) -> Scenario {
    (1..200)
        .map(|seed| Scenario::new(seed, Class::Plain))
        .find(|scenario| fails(scenario).is_some())
        .expect("some seed")
}

/// A wrong checker: more than 5 000 octets are read in a world in which a host is paused.
fn dislikes(scenario: &Scenario) -> Option<String> {
    let Drawn::Flows(plan, _) = scenario.plan().ok()? else {
        return None;
    };
    let pauses = |(_, fault): &(_, Fault)| matches!(fault, Fault::Pause(_));
    plan.schedule().iter().any(pauses).then_some(())?;
    let Some(Left::Flows(world)) = scenario.run_with(false).1 else {
        return None;
    };
    let read: u64 = world.tasks.iter().map(|task| task.reader.next).max()?;
    (read > 5_000).then(|| format!("flow 7: {read} octets"))
}

#[test]
fn a_wrong_checker_leaves_one_flow_one_fault_and_two_hosts() {
    let scenario = first_seed_with(dislikes);
    let shrunk = shrink(&scenario, dislikes).expect("it fails");
    let keep = shrunk.scenario.keep.clone().expect("a part");
    assert_eq!((keep.flows.len(), keep.faults.len()), (1, 1), "{keep}");
    assert!(keep.links.is_empty(), "{keep}");
    // Halved until the next half would be too little.
    let read: u64 = shrunk.failure["flow 7: ".len()..]
        .split(' ')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    assert!((5_001..=10_100).contains(&read), "{}", shrunk.failure);
    assert!(keep.faults.values().all(|&times| times > 3), "{keep}");
    // What the command says is what was found.
    let command = shrunk.scenario.command();
    let list = command.split('\'').nth(1).expect("a list");
    let again = Scenario {
        keep: Some(list.parse().expect("well-formed")),
        ..scenario
    };
    assert_eq!(dislikes(&again), Some(shrunk.failure));
}

#[test]
fn another_failure_is_not_the_same() {
    let scenario = Scenario::new(3, Class::Plain);
    let Ok(Drawn::Flows(plan, _)) = scenario.plan() else {
        panic!("no plan of flows")
    };
    let all = plan.flows.len();
    // With one flow less it fails in another way, and must stay as it is.
    let shrunk = shrink(&scenario, |part| {
        let kept = part.keep.as_ref().map_or(all, |keep| keep.flows.len());
        Some(if kept == all {
            "as it was".to_owned()
        } else {
            "otherwise".to_owned()
        })
    });
    let keep = shrunk.expect("it fails").scenario.keep.expect("a part");
    assert_eq!(keep.flows.len(), all);
    assert!(keep.faults.is_empty() && keep.links.is_empty(), "{keep}");
}

#[test]
fn what_does_not_fail_is_not_shrunk() {
    assert_eq!(shrink(&Scenario::new(1, Class::Plain), |_| None), None);
}

#[test]
fn numbers_make_no_other_failure() {
    assert_eq!(
        kind_of("at 1.25 s: flow 12: took 3 s"),
        kind_of("at 10 s: flow 3: took 4.5 s")
    );
    assert_ne!(kind_of("flow 1: stalls"), kind_of("flow 1: storms"));
}
