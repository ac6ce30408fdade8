//! Parts of plans, written and read.

use super::*;

#[test]
fn what_is_kept_is_read_as_it_is_written() {
    let text = "hosts=2 flows=0,3/2 faults=1/4 links=loss,jitter injected=7,9";
    let keep: Keep = text.parse().expect("well-formed");
    assert_eq!(keep.flows, BTreeMap::from([(0, 0), (3, 2)]));
    assert_eq!(keep.to_string(), text);
    let none = "hosts=2 flows= faults= links=";
    assert_eq!(none.parse::<Keep>().expect("well-formed").to_string(), none);
}

#[test]
fn what_can_not_be_kept_is_an_error() {
    for wrong in ["flows", "flows=x", "links=rain", "moons=1", "flows=1/x"] {
        assert!(wrong.parse::<Keep>().is_err(), "{wrong}");
    }
    let mut plan = Plan::calm(1);
    for wrong in [
        "hosts=2 flows=1",
        "hosts=2 flows=0 faults=0",
        "hosts=3 flows=0",
        "hosts=1 flows=0",
    ] {
        let keep: Keep = wrong.parse().expect("well-formed");
        assert!(keep.apply(&mut plan, None).is_err(), "{wrong}");
    }
}

#[test]
fn all_of_a_plan_changes_nothing() {
    for seed in 1..20 {
        let plan = Plan::draw(seed);
        let mut kept = plan.clone();
        Keep::all(&plan)
            .apply(&mut kept, None)
            .expect("all of it is there");
        assert_eq!(format!("{plan:?}"), format!("{kept:?}"), "seed {seed}");
    }
}

#[test]
fn a_flow_is_halved_at_both_ends() {
    let mut plan = Plan::calm(1);
    let keep: Keep = "hosts=2 flows=0/2".parse().expect("well-formed");
    keep.apply(&mut plan, None).expect("kept");
    let steps = &plan.flows[0].1.initiator_script.steps;
    let sent: Vec<_> = steps
        .iter()
        .filter(|step| matches!(step, Step::Send { octets: 250, .. }))
        .collect();
    assert_eq!(sent.len(), 40);
    assert!(steps.contains(&Step::Wait(Duration::from_millis(25))));
}
