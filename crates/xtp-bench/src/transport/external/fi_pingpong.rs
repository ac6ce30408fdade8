//! libfabric's ping-pong.

use std::net::SocketAddr;

use super::{Program, free_port, measure, missing, serve, unread};
use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome, Role};
use crate::plan::Experiment;
use crate::transport::Transport;

const NAME: &str = "fi_pingpong";
/// Reliable messages, as the others offer; its datagram service loses, and its emulation of connectionless messages
/// over TCP is many times slower.
const PROVIDER: [&str; 4] = ["-p", "tcp", "-e", "msg"];
/// Round trips of a measurement: it knows no limit of time.
const MOST: u64 = 2_000;

pub(in crate::transport) static FI_PINGPONG: Transport = Transport {
    name: NAME,
    experiments: &[Experiment::Pingpong],
    obstacle: |_, _, _| missing(NAME, "libfabric-bin"),
    work,
};

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let (size, count) = (job.size.to_string(), job.operations.min(MOST).to_string());
    let start = |place: &[&str]| {
        let common = [&PROVIDER[..], &["-S", &size, "-I", &count], place].concat();
        let args: Vec<String> = common.iter().map(|arg| (*arg).to_owned()).collect();
        Program::start(NAME, &args, &[])
    };
    if job.role != Role::Client {
        let port = free_port(job)?;
        let program = start(&["-B", &port.to_string()])?;
        return Ok(serve(console, job, port, program)?.1);
    }
    let peer: SocketAddr = job.peer.parse()?;
    let (stdout, mut outcome) = measure(console, job, || {
        start(&["-P", &peer.port().to_string(), &peer.ip().to_string()])
    })?;
    outcome.operations = job.operations.min(MOST);
    // It halves the mean round trip.
    outcome.extra.insert("p50_us".to_owned(), 2.0 * parse(&stdout)?);
    outcome.note = Some("the mean, not the median; waits in its own way".to_owned());
    Ok(outcome)
}

/// Microseconds of a transfer: the last line of the table, in the column of its heading.
fn parse(text: &str) -> Worked<f64> {
    let wrong = || unread(NAME, text);
    let mut lines = text
        .lines()
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let headings = lines
        .find(|line| line.first() == Some(&"bytes"))
        .ok_or_else(wrong)?;
    let column = headings
        .iter()
        .position(|name| *name == "usec/xfer")
        .ok_or_else(wrong)?;
    let last = lines
        .rfind(|line| line.len() == headings.len())
        .ok_or_else(wrong)?;
    let micros: f64 = last[column].parse()?;
    (micros > 0.0).then_some(micros).ok_or_else(wrong)
}

#[cfg(test)]
#[path = "fi_pingpong_tests.rs"]
mod tests;
