//! Who is measured in which case.

use std::net::{IpAddr, Ipv4Addr};

use super::{Cell, option, programs, transports};
use crate::job::{Job, Role};
use crate::plan::{Experiment, Plan, Rivals};
use crate::stage::Place;

/// The job of a party on loopback.
pub(super) fn job(transport: &str, role: Role, options: &[(&str, String)]) -> Job {
    let place = Place {
        enter: Vec::new(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        interface: "lo".to_owned(),
    };
    programs::job(transport, &place, role, options)
}

#[test]
fn rivals_are_measured_where_they_make_sense() {
    let mut plan = Plan::new(Experiment::Multicast);
    let of = |plan: &Plan, name: &str| transports(plan, &Cell::parse(name).expect(name));
    let everybody = ["xtp", "uftp", "udpcast", "tcp", "raw"];
    assert_eq!(of(&plan, "4-1MiB-max-0%"), everybody);
    assert_eq!(of(&plan, "4-1MiB-max-1%"), ["xtp", "uftp", "udpcast", "raw"]);
    assert_eq!(of(&plan, "4-1MiB-max-0%-late"), ["xtp", "uftp", "udpcast"]);
    plan.rivals = Rivals::None;
    assert_eq!(of(&plan, "4-1MiB-max-0%"), ["xtp"]);
    plan.rivals = "tcp,uftp".parse().expect("names");
    assert_eq!(of(&plan, "4-1MiB-max-0%"), ["xtp", "uftp", "tcp"]);
}

#[test]
fn what_nobody_said_is_named() {
    let job = job("tcp", Role::Client, &[("file", "a".to_owned())]);
    assert_eq!(option(&job, "file").expect("said").to_owned(), "a");
    assert!(option(&job, "peers").is_err_and(|problem| problem.0.contains("'peers'")));
}
