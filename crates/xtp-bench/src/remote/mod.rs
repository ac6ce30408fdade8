//! Two hosts: one serves (`xtp bench serve`), the other measures against it (`xtp bench ... --to ADDR`), as with iperf3.
//!
//! What they say to each other goes by transactions over XTP, in JSON: a greeting, which gives a token to who can hear the
//! answer; the beginning of a measurement, for which the server starts the party it would start on one host; its end, with
//! what that party counted. The party itself is bound to a port of its own for as long as the measurement takes. While another
//! client waits for its turn, the server asks the one that measures by echo whether it is there.
//!
//! A server does for strangers what is in [`admit`] and [`FlowTerms::admit`] and nothing else: comparisons of transports for one
//! client at a time, flows for several side by side ([`flow`](crate::flow) says why).

mod client;
mod presence;
mod serve;
mod turns;

use serde::{Deserialize, Serialize};

use crate::flow::FlowTerms;
use crate::job::{Job, Outcome, Role};
use crate::plan::{Experiment, WaitPolicy};
use crate::sizes::LONGEST;
use crate::transport;

pub(crate) use client::Far;
pub use serve::{Serve, Served};

/// The service number of the conversation.
pub const SERVICE: u16 = 36;
/// The UDP port of a server that names none.
pub const UDP_PORT: u16 = 36_039;
/// What is said is this version's.
const VERSION: u32 = 4;
/// Longest measurement, seconds.
const SECONDS: f64 = 60.0;
/// Most operations before those that count.
const WARMUP: u64 = 10_000;
/// The experiments between two hosts.
const EXPERIMENTS: [Experiment; 4] = [
    Experiment::Pingpong,
    Experiment::Oneshot,
    Experiment::Transaction,
    Experiment::Bulk,
];
/// The transports whose parties are ours, and need nothing of their host but a socket.
const TRANSPORTS: [&str; 18] = [
    "xtp",
    "xtp-plain",
    "xtp-fresh",
    "xtp-write-read",
    "xtp-mesh",
    "udp",
    "udp-fresh",
    "r-udp",
    "t-udp",
    "tcp",
    "tcp-abort",
    "tcp-fresh",
    "tcp-sendfile",
    "tcp-splice",
    "tcp-zerocopy",
    "quinn",
    "quinn-0rtt",
    "quinn-fresh",
];
/// Longest line of either.
const LONGEST_LINE: usize = 64 << 10;

/// What a client says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// It wants to measure.
    Hello {
        /// Its version.
        version: u32,
    },
    /// A measurement begins.
    Begin {
        /// What the greeting was answered with.
        token: u64,
        /// What is measured.
        wanted: Wanted,
    },
    /// Flows begin.
    Flows {
        /// What the greeting was answered with.
        token: u64,
        /// Which.
        terms: FlowTerms,
    },
    /// It is over.
    End {
        /// As it began.
        token: u64,
    },
}

/// What is measured: of a job what a client may choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Wanted {
    experiment: Experiment,
    transport: String,
    wait: WaitPolicy,
    size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    least: Option<u64>,
    warmup: u64,
    operations: u64,
    seconds: f64,
    #[serde(default)]
    controller: Option<String>,
}

/// What a server answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    /// To a greeting.
    Welcome {
        /// To begin with.
        token: u64,
    },
    /// The party can be reached.
    Ready {
        /// Where, as the transport says it; without an address of the host if it is bound to all of them.
        address: String,
    },
    /// Other clients measure, for so many seconds at most, or wait for their turn.
    Busy {
        /// Until then at most.
        seconds: u64,
    },
    /// What the party counted.
    Outcome(Box<Outcome>),
    /// Why nothing of it is done.
    Refused(String),
}

impl Wanted {
    fn of(job: &Job) -> Self {
        Self {
            experiment: job.experiment,
            transport: job.transport.clone(),
            wait: job.wait,
            size: job.size,
            least: job.least,
            warmup: job.warmup,
            operations: job.operations,
            seconds: job.seconds,
            controller: job.options.get("controller").cloned(),
        }
    }
}

/// Whether an experiment can be done between two hosts.
pub(crate) fn is_between_hosts(experiment: Experiment) -> bool {
    EXPERIMENTS.contains(&experiment)
}

/// Whether this transport can.
pub(crate) fn reaches(transport: &str) -> bool {
    TRANSPORTS.contains(&transport)
}

/// The job of the server's party: what is not listed here is not done for a stranger.
///
/// # Errors
/// Why not.
fn admit(wanted: &Wanted, bind: std::net::IpAddr) -> Result<Job, String> {
    let Wanted {
        experiment,
        transport: name,
        ..
    } = wanted;
    if !is_between_hosts(*experiment) {
        return Err(format!("'{experiment}' is not measured between two hosts"));
    }
    let offers = transport::find(name).is_ok_and(|found| found.experiments.contains(experiment));
    if !reaches(name) || !offers {
        return Err(format!("'{name}' is not measured here in '{experiment}'"));
    }
    if !(1..=LONGEST).contains(&wanted.size) {
        return Err(format!(
            "a message has 1 to {LONGEST} octets, not {}",
            wanted.size
        ));
    }
    if let Some(least) = wanted.least
        && !(1..=wanted.size).contains(&least)
    {
        return Err(format!(
            "lengths vary from 1 octet at least up to {}, not from {least}",
            wanted.size
        ));
    }
    if !(wanted.seconds > 0.0 && wanted.seconds <= SECONDS) {
        return Err(format!(
            "a measurement takes up to {SECONDS} seconds, not {}",
            wanted.seconds
        ));
    }
    if wanted.warmup > WARMUP {
        return Err(format!(
            "a warm-up has up to {WARMUP} operations, not {}",
            wanted.warmup
        ));
    }
    let controller = wanted
        .controller
        .iter()
        .map(|name| ("controller".to_owned(), name.clone()));
    if let Some(name) = &wanted.controller {
        transport::controller(name).map_err(|error| error.to_string())?;
    }
    Ok(Job {
        role: Role::Server,
        experiment: *experiment,
        transport: name.clone(),
        wait: wanted.wait,
        size: wanted.size,
        least: wanted.least,
        warmup: wanted.warmup,
        operations: wanted.operations,
        seconds: wanted.seconds,
        core: None,
        bind,
        interface: String::new(),
        peer: String::new(),
        rank: 0,
        ranks: 0,
        options: controller.collect(),
        flow: None,
    })
}

/// The job of the process that serves flows.
///
/// # Errors
/// Why it is not served.
fn admit_flows(terms: &FlowTerms, bind: std::net::IpAddr) -> Result<Job, String> {
    terms.admit()?;
    Ok(Job {
        role: Role::Server,
        experiment: Experiment::Bulk,
        transport: "xtp".to_owned(),
        wait: terms.wait,
        size: 0,
        least: None,
        warmup: 0,
        operations: 0,
        seconds: terms.seconds,
        core: None,
        bind,
        interface: String::new(),
        peer: String::new(),
        rank: 0,
        ranks: 0,
        options: std::collections::BTreeMap::new(),
        flow: Some(terms.clone()),
    })
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
