//! Who is measured in which case.

use super::{Cell, transports};
use crate::plan::{Experiment, Plan, Rivals};

#[test]
fn rivals_are_measured_where_they_make_sense() {
    let mut plan = Plan::new(Experiment::Multicast);
    let of = |plan: &Plan, name: &str| transports(plan, &Cell::parse(name).expect(name));
    let everybody = ["xtp", "uftp", "udpcast", "norm", "tcp", "raw"];
    assert_eq!(of(&plan, "4-1MiB-max-0%"), everybody);
    assert_eq!(of(&plan, "4-1MiB-50mbit-1%"), everybody);
    assert_eq!(
        of(&plan, "4-1MiB-max-0%-late"),
        ["xtp", "uftp", "udpcast", "norm"]
    );
    plan.rivals = Rivals::None;
    assert_eq!(of(&plan, "4-1MiB-max-0%"), ["xtp"]);
    plan.rivals = "tcp,uftp".parse().expect("names");
    assert_eq!(of(&plan, "4-1MiB-max-0%"), ["xtp", "uftp", "tcp"]);
}
