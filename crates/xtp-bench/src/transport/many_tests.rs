//! Memory of many, per association.

use super::{Opened, Part, Served, WARM, number, resident, slab_in};
use crate::job::Job;

fn job(options: &str) -> Job {
    let text = format!(
        r#"{{"role":"server","experiment":"scale","transport":"xtp","wait":"block","size":64,"warmup":0,
        "operations":1,"seconds":1,"core":null,"bind":"127.0.0.1","interface":"lo","options":{options}}}"#
    );
    serde_json::from_str(&text).expect("a job")
}

#[test]
fn parts_are_found_by_their_names() {
    for part in [Part::Rate, Part::Memory, Part::Random] {
        assert_eq!(Part::of(&job(&format!(r#"{{"part":"{}"}}"#, part.name()))), part);
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    assert_eq!(number(&job(r#"{"in_flight":"64"}"#), "in_flight").ok(), Some(64));
    assert!(number(&job(r#"{"in_flight":"many"}"#), "in_flight").is_err());
    assert!(number(&job("{}"), "in_flight").is_err());
}

#[test]
fn the_kernels_memory_is_read() {
    assert_eq!(
        slab_in("MemFree:  1 kB\nSlab:             187 kB\nSReclaimable: 5 kB\n"),
        187 << 10
    );
    assert_eq!(slab_in(""), 0);
    assert!(resident() > 0);
}

#[test]
fn growth_is_divided_by_those_that_count() {
    let opened = Opened {
        number: 10,
        resident: [1_000, 3_000],
        slab: [500, 4_500],
        seconds: 2.0,
    };
    let outcome = opened.outcome(true);
    assert_eq!(outcome.extra["octets_each"], 200.0);
    assert_eq!(outcome.extra["kernel_octets_each"], 200.0);
    assert_eq!((outcome.operations, outcome.seconds), (10, 2.0));
    assert!(!opened.outcome(false).extra.contains_key("kernel_octets_each"));
}

#[test]
fn who_has_not_served_all_knows_no_growth() {
    let mut served = Served::new(&job(r#"{"associations":"5"}"#)).expect("a number");
    for _ in 0..WARM {
        served.one();
    }
    let outcome = served.outcome();
    assert_eq!(outcome.operations, WARM);
    assert!(outcome.extra.is_empty());
}
