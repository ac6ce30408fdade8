//! iperf3: bulk over TCP (cubic, without Nagle's delay).

use std::net::SocketAddr;

use serde::Deserialize;

use super::{Program, free_port, measure, missing, serve};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::plan::Experiment;
use crate::transport::Transport;

const NAME: &str = "iperf3";
/// Longest buffer it takes, octets.
const LONGEST: u64 = 1 << 20;

pub(in crate::transport) static IPERF3: Transport = Transport {
    name: NAME,
    experiments: &[Experiment::Bulk],
    obstacle: |_, _, size| match missing(NAME, NAME) {
        None if size > LONGEST => Some(format!("its buffers have at most {LONGEST} octets")),
        obstacle => obstacle,
    },
    work,
};

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let start = |args: &[&[&str]]| {
        let args: Vec<String> = args.concat().iter().map(|arg| (*arg).to_owned()).collect();
        Program::start(NAME, &args, &[])
    };
    if job.role != Role::Client {
        let (port, address) = (free_port(job)?, job.bind.to_string());
        let port_text = port.to_string();
        let program = start(&[&["-s", "-1", "-J", "-B", &address, "-p", &port_text]])?;
        let (stdout, mut outcome) = serve(console, job, port, program)?;
        (outcome.octets, outcome.seconds) = parse(&stdout)?;
        outcome.operations = outcome.octets / job.size.max(1);
        return Ok(outcome);
    }
    let peer: SocketAddr = job.peer.parse()?;
    let (address, port, size) = (
        peer.ip().to_string(),
        peer.port().to_string(),
        job.size.to_string(),
    );
    // It counts in whole seconds.
    let seconds = job.seconds.round().max(1.0).to_string();
    let count = job.operations.to_string();
    let length = if job.operations == u64::MAX {
        ["-t", &seconds]
    } else {
        ["-k", &count]
    };
    let (stdout, mut outcome) = measure(console, job, || {
        let fixed = [
            "-c", &address, "-p", &port, "-l", &size, "-N", "-C", "cubic", "-J",
        ];
        start(&[&fixed, &length])
    })?;
    outcome.octets = parse(&stdout)?.0;
    outcome.operations = outcome.octets / job.size.max(1);
    Ok(outcome)
}

#[derive(Deserialize)]
struct Printed {
    error: Option<String>,
    end: Option<End>,
}

#[derive(Deserialize)]
struct End {
    sum_received: Option<Received>,
}

#[derive(Deserialize)]
struct Received {
    bytes: u64,
    seconds: f64,
}

/// Octets received, and the time that took.
fn parse(text: &str) -> Worked<(u64, f64)> {
    let printed: Printed = serde_json::from_str(text)?;
    if let Some(error) = printed.error {
        return Err(Problem::new(format!("{NAME}: {error}")));
    }
    let received = printed.end.and_then(|end| end.sum_received);
    let received = received.ok_or_else(|| Problem::new(format!("{NAME} did not say what was received")))?;
    Ok((received.bytes, received.seconds))
}

#[cfg(test)]
#[path = "iperf3_tests.rs"]
mod tests;
