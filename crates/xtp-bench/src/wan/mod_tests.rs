//! Which parts and transports a plan chooses.

use super::{parts, seconds, transports};
use crate::plan::{Experiment, Plan, Rivals};

fn plan(name: &str, value: &str) -> Plan {
    let mut plan = Plan::new(Experiment::Wan);
    plan.options.insert(name.to_owned(), value.to_owned());
    plan
}

fn names(plan: &Plan) -> Vec<&'static str> {
    let parts = parts(plan).expect("parts");
    parts.into_iter().map(|part| part.0).collect()
}

#[test]
fn parts_are_chosen_by_name() {
    assert_eq!(names(&Plan::new(Experiment::Wan)), ["wan"]);
    assert_eq!(names(&plan("part", "sharing, gbn")), ["sharing", "gbn"]);
    assert_eq!(names(&plan("part", "papers")), ["buffers", "gbn", "ratecontrol"]);
    assert_eq!(names(&plan("part", "all")).len(), 6);
    assert!(parts(&plan("part", "moon")).is_err());
}

#[test]
fn transports_are_those_wanted() {
    let mut plan = Plan::new(Experiment::Wan);
    assert_eq!(transports(&plan, &["tcp"], &["quinn"]), ["xtp", "tcp"]);
    plan.rivals = Rivals::None;
    assert_eq!(transports(&plan, &["tcp"], &["quinn"]), ["xtp"]);
    plan.rivals = Rivals::Some(vec!["xtp".to_owned(), "quinn".to_owned()]);
    assert_eq!(transports(&plan, &["tcp"], &["quinn"]), ["xtp", "quinn"]);
}

#[test]
fn a_run_is_neither_endless_nor_nothing() {
    assert_eq!(seconds(&Plan::new(Experiment::Wan), 10.0).expect("usual"), 10.0);
    assert_eq!(seconds(&plan("seconds", "2.5"), 10.0).expect("given"), 2.5);
    for wrong in ["0", "-1", "1e9", "NaN", "soon"] {
        assert!(seconds(&plan("seconds", wrong), 10.0).is_err(), "{wrong}");
    }
}
