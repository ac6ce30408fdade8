//! Senders end by count or time, receivers count from the first octet.

use super::{Receiving, Sending};
use crate::job::Job;

fn job(operations: u64, seconds: f64) -> Job {
    let text = format!(
        r#"{{"role":"client","experiment":"bulk","transport":"xtp","wait":"block","size":100,"warmup":0,
        "operations":{operations},"seconds":{seconds},"core":null,"bind":"127.0.0.1","interface":"lo",
        "options":{{"interval_ms":"1"}}}}"#
    );
    serde_json::from_str(&text).expect("a job")
}

#[test]
fn a_sender_ends_after_its_messages() {
    let job = job(3, 1e6);
    let mut sending = Sending::new(&job);
    let sent = std::iter::from_fn(|| sending.more().then_some(())).count();
    assert_eq!((sent, sending.done), (3, 3));
    let outcome = sending.outcome(&job, 7);
    assert_eq!(
        (outcome.octets, outcome.operations, outcome.syscalls),
        (300, 3, Some(7))
    );
}

#[test]
fn a_sender_ends_when_its_time_is_over() {
    let mut sending = Sending::new(&job(u64::MAX, 0.0));
    assert!(!sending.more());
}

#[test]
fn a_receiver_counts_what_arrived_and_the_calls_since_then() {
    let job = job(1, 1.0);
    let mut receiving = Receiving::new(&job);
    receiving.octets(150, || 10);
    receiving.octets(150, || 11);
    let outcome = receiving.outcome(&job, 14);
    assert_eq!(
        (outcome.octets, outcome.operations, outcome.syscalls),
        (300, 3, Some(4))
    );
    let curve = &outcome.curves["arrival"];
    assert_eq!(curve.first(), Some(&(0.0, 150.0)));
    assert_eq!(curve.last().map(|point| point.1), Some(300.0));
}

#[test]
fn nothing_received_is_nothing() {
    let job = job(1, 1.0);
    let outcome = Receiving::new(&job).outcome(&job, 5);
    assert_eq!((outcome.octets, outcome.syscalls), (0, None));
}
