//! What is chosen of the experiment, and what its parties are told.

use std::net::{IpAddr, Ipv4Addr};

use super::{option, parts, programs};
use crate::job::{Job, Role};
use crate::plan::{Experiment, Plan};
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
fn parts_are_chosen_by_name() {
    let mut plan = Plan::new(Experiment::Multicast);
    let chosen = |plan: &Plan| -> Vec<&str> {
        let parts = parts(plan).expect("known");
        parts.into_iter().map(|part| part.0).collect()
    };
    assert_eq!(chosen(&plan), ["files", "messages", "thesis"]);
    plan.options.insert("cells".into(), "4-1MiB-max-0%".into());
    assert_eq!(chosen(&plan), ["files"]);
    plan.options.insert("part".into(), "thesis, files".into());
    assert_eq!(chosen(&plan), ["thesis", "files"]);
    plan.options.insert("part".into(), "else".into());
    let refused = parts(&plan).map(|_| ()).expect_err("unknown").to_string();
    assert!(refused.contains("files, messages, thesis, all"), "{refused}");
}

#[test]
fn what_nobody_said_is_named() {
    let job = job("tcp", Role::Client, &[("file", "a".to_owned())]);
    assert_eq!(option(&job, "file").expect("said").to_owned(), "a");
    assert!(option(&job, "peers").is_err_and(|problem| problem.0.contains("'peers'")));
}
