//! UCX's own measurements, over TCP: it would rather use shared memory, which is no network.

use std::net::SocketAddr;

use super::{Program, free_port, measure, missing, serve, unread};
use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome, Role};
use crate::plan::Experiment;
use crate::transport::Transport;

const NAME: &str = "ucx_perftest";
/// It looks for interfaces in `/sys`, which shows those of the namespace it was mounted in.
const OWN_SYSFS: [&str; 6] = [
    "--mount",
    "--",
    "sh",
    "-c",
    "mount -t sysfs sysfs /sys && exec \"$0\" \"$@\"",
    NAME,
];
/// Octets a second expected of bulk: it wants to know how many messages to send.
const EXPECTED: f64 = 1.5e9;
/// The unit of its bandwidth, octets.
const MEBI: f64 = 1_048_576.0;

pub(in crate::transport) static UCX_PERFTEST: Transport = Transport {
    name: NAME,
    experiments: &[Experiment::Pingpong, Experiment::Bulk],
    obstacle: |_, _, _| missing(NAME, "ucx-utils"),
    work,
};

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    // Otherwise it uses any interface it finds.
    let environment = [("UCX_TLS", "tcp"), ("UCX_NET_DEVICES", &job.interface)];
    let (program, before) = match job.interface.as_str() {
        "lo" => (NAME, &[][..]),
        _ => ("unshare", &OWN_SYSFS[..]),
    };
    let start = |args: &[&str]| {
        let args = before.iter().chain(args).map(|arg| (*arg).to_owned());
        Program::start(program, &args.collect::<Vec<String>>(), &environment)
    };
    if job.role != Role::Client {
        let port = free_port(job)?;
        let program = start(&["-p", &port.to_string()])?;
        return Ok(serve(console, job, port, program)?.1);
    }
    let bulk = job.experiment == Experiment::Bulk;
    let messages = match job.operations {
        u64::MAX => (EXPECTED * job.seconds / job.size as f64).ceil().max(1.0) as u64,
        count => count,
    };
    let test = if bulk { "tag_bw" } else { "tag_lat" };
    let (size, count) = (job.size.to_string(), messages.to_string());
    let warmup = if bulk {
        "1".to_owned()
    } else {
        job.warmup.to_string()
    };
    let peer: SocketAddr = job.peer.parse()?;
    let (port, address) = (peer.port().to_string(), peer.ip().to_string());
    let (stdout, mut outcome) = measure(console, job, || {
        start(&[
            "-p", &port, "-t", test, "-s", &size, "-n", &count, "-w", &warmup, &address,
        ])
    })?;
    let figures = parse(&stdout)?;
    outcome.operations = messages;
    if bulk {
        outcome.octets = job.size * messages;
        outcome.seconds = outcome.octets as f64 / (figures.bandwidth * MEBI);
        outcome.extra.insert("both".to_owned(), 1.0);
        outcome.note = Some("timed at the sender; waits in its own way".to_owned());
    } else {
        // It halves round trips.
        outcome.extra.insert("p50_us".to_owned(), 2.0 * figures.half_us);
    }
    Ok(outcome)
}

#[derive(Debug, PartialEq)]
struct Figures {
    /// Median of half round trips, microseconds.
    half_us: f64,
    /// Over the whole test, 2^20 octets a second.
    bandwidth: f64,
}

/// The line of final figures: iterations; median, average, overall of the time; average, overall of the bandwidth.
fn parse(text: &str) -> Worked<Figures> {
    let wrong = || unread(NAME, text);
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("Final:"))
        .ok_or_else(wrong)?;
    let fields: Vec<f64> = line
        .split_ascii_whitespace()
        .map_while(|text| text.parse().ok())
        .collect();
    match fields[..] {
        [_, half_us, _, _, _, bandwidth, ..] if half_us > 0.0 => Ok(Figures { half_us, bandwidth }),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
#[path = "ucx_perftest_tests.rs"]
mod tests;
