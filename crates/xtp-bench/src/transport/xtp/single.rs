//! One message, or a request and its response, each with an association of its own.

use bytes::Bytes;
use xtp::{CallOptions, Confirm, paradigm};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::plan::Experiment;
use crate::transport::answering::{Serving, Timing};

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match (job.role, job.experiment) {
        (Role::Client, Experiment::Oneshot) => oneshot(job),
        (Role::Client, _) => transaction(job),
        _ => server(job, console),
    }
}

/// L3 to its END: everything is confirmed, the peer's program has the message.
fn oneshot(job: &Job) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let peer = super::peer(job)?;
    let mut lengths = Lengths::of(job);
    let messages = Bytes::from(vec![7; lengths.most()]);
    let mut options = paradigm::one_shot(super::SERVICE);
    options.confirm = Confirm::Delivered;
    let mut timing = Timing::new(job);
    loop {
        let more = timing.one(
            || super::calls(&endpoint),
            || {
                let message = messages.slice(..lengths.next());
                let delivered = endpoint.deliver(peer, options.clone(), message, None);
                delivered.map(drop)
            },
        )?;
        if !more {
            return Ok(timing.outcome(super::calls(&endpoint)));
        }
    }
}

fn transaction(job: &Job) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let peer = super::peer(job)?;
    let mut lengths = Lengths::of(job);
    let requests = Bytes::from(vec![7; lengths.most()]);
    let options = CallOptions::default();
    let mut timing = Timing::new(job);
    loop {
        let more = timing.one(
            || super::calls(&endpoint),
            || -> Worked<()> {
                let length = lengths.next();
                let response = endpoint.call(peer, super::SERVICE, requests.slice(..length), &options)?;
                match response.len() == length {
                    true => Ok(()),
                    false => Err(Problem::new(format!("{} octets came back", response.len()))),
                }
            },
        )?;
        if !more {
            return Ok(timing.outcome(super::calls(&endpoint)));
        }
    }
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let listener = endpoint.listen(super::SERVICE)?;
    super::stop_with(console, &endpoint);
    console.ready(endpoint.local_addr())?;
    let mut serving = Serving::new(job);
    loop {
        let (message, incoming) = match listener.recv_message() {
            Err(error) if error.is_interrupted() => break,
            received => received?,
        };
        if job.experiment == Experiment::Transaction {
            incoming.respond(message)?;
        }
        serving.one(|| super::calls(&endpoint));
    }
    Ok(serving.outcome(super::calls(&endpoint)))
}
