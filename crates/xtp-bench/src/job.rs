//! What a worker is told, and what it answers: one line of JSON each.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::flow::{FlowCount, FlowTerms};
use crate::plan::{Experiment, WaitPolicy};

/// The part of a worker in a measurement.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// Says where it can be reached, serves until `operations` are done or it is told to stop.
    Server,
    /// Measures against the server at `peer`.
    Client,
    /// One of `ranks` equals.
    Rank,
}

/// What a worker has to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Its part.
    pub(crate) role: Role,
    /// The experiment.
    pub(crate) experiment: Experiment,
    /// Name of the transport.
    pub(crate) transport: String,
    /// How to wait.
    pub(crate) wait: WaitPolicy,
    /// Octets of a message; of a request and of its answer.
    pub(crate) size: u64,
    /// Where their lengths vary up to `size`: the least.
    #[serde(default)]
    pub(crate) least: Option<u64>,
    /// Operations before those that count.
    pub(crate) warmup: u64,
    /// Operations that count.
    pub(crate) operations: u64,
    /// The client stops after this many seconds even if operations are left.
    pub(crate) seconds: f64,
    /// The processor to stay on.
    pub(crate) core: Option<usize>,
    /// The address to bind.
    pub(crate) bind: IpAddr,
    /// The interface its packets cross, to count them.
    pub(crate) interface: String,
    /// Where the server is, as it said; for clients.
    #[serde(default)]
    pub(crate) peer: String,
    /// Number among equals.
    #[serde(default)]
    pub(crate) rank: usize,
    /// How many equals.
    #[serde(default)]
    pub(crate) ranks: usize,
    /// Parameters of single experiments.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    /// Flows of a client instead of an experiment.
    #[serde(default)]
    pub(crate) flow: Option<FlowTerms>,
}

impl Job {
    /// All operations, those that count and those before.
    pub(crate) fn total(&self) -> u64 {
        self.warmup + self.operations
    }

    /// The address to bind with a port of the system's choice.
    pub(crate) fn any_port(&self) -> std::net::SocketAddr {
        (self.bind, 0).into()
    }
}

/// What a worker measured. Of a server: its share of processor time and system calls, and what it received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Outcome {
    /// Nanoseconds of each operation that counts, in order.
    pub(crate) samples_ns: Vec<u64>,
    /// Operations that count.
    pub(crate) operations: u64,
    /// Application octets received (bulk: by this party).
    pub(crate) octets: u64,
    /// Time from the first to the last operation that counts; of a bulk receiver, from its first octet to its last.
    pub(crate) seconds: f64,
    /// User and system time of the process meanwhile.
    pub(crate) cpu_s: f64,
    /// Softirq time of the whole host meanwhile.
    pub(crate) softirq_s: f64,
    /// Packets on the interface meanwhile; of clients.
    pub(crate) packets: Option<u64>,
    /// System calls on sockets meanwhile.
    pub(crate) syscalls: Option<u64>,
    /// Instructions meanwhile, where the host counts them.
    pub(crate) instructions: Option<u64>,
    /// Whatever else an experiment measures.
    pub(crate) extra: BTreeMap<String, f64>,
    /// Curves an experiment records.
    pub(crate) curves: BTreeMap<String, Vec<(f64, f64)>>,
    /// Flows by their numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) flows: BTreeMap<u32, FlowCount>,
    /// What a reader has to know.
    pub(crate) note: Option<String>,
}

/// A line of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Said {
    /// It can be reached.
    Ready {
        /// Where; its form is the transport's business.
        address: String,
    },
    /// It is done.
    Outcome(Box<Outcome>),
    /// It failed.
    Error(String),
}

/// A line to a worker after its job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Told {
    /// Where all equals are, in the order of their ranks.
    Peers(Vec<String>),
    /// End.
    Stop,
}
