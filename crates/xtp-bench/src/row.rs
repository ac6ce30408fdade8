//! One line of the result.

use serde::{Deserialize, Serialize};

use crate::delivery::Delivery;
use crate::distance::Distance;

/// The figures of one (experiment, transport, path, size, wait), over all rounds. A field that makes no sense for
/// the experiment, or was not measured, is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// Name of the experiment, as on the command line.
    pub experiment: String,
    /// Name of the transport.
    pub transport: String,
    /// The path between the parties.
    pub path: String,
    /// Octets of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Where the lengths of messages vary up to `size`, in turn within a round: the least, octets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// How the parties waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Rounds that count in the figures.
    pub rounds: u32,
    /// Time of an operation, microseconds: median over rounds of the median of a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// Time of an operation that 99 % do not exceed, microseconds: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Application octets x 8 over time at the receiver, 10^9 a second: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbit_s: Option<f64>,
    /// User and system time of both processes over 10^9 application octets, seconds: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s_per_gb: Option<f64>,
    /// Cores that the client's process kept busy, user and system time over time: median over rounds. Of bulk the client sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cores: Option<f64>,
    /// The same of the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cores: Option<f64>,
    /// Packets on the interface, both ways, over operations: median over rounds. A train the interface takes as
    /// one (segmentation offload) counts as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets_per_op: Option<f64>,
    /// System calls on sockets of both processes over operations, polls that found nothing included: median over
    /// rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syscalls_per_op: Option<f64>,
    /// Median over rounds of this transport's main figure over xtp's in the same round; of bulk from fresh memory over xtp's
    /// from fresh memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_to_xtp: Option<f64>,
    /// Smallest and largest `p50_us` of a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us_spread: Option<[f64; 2]>,
    /// Smallest and largest `gbit_s` of a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbit_s_spread: Option<[f64; 2]>,
    /// Operations a second: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_per_s: Option<f64>,
    /// Time the host spent in softirq over 10^9 application octets, seconds: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub softirq_s_per_gb: Option<f64>,
    /// Instructions of both processes over operations, where the host counts them: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions_per_op: Option<f64>,
    /// Resident memory an open association costs, octets: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub octets_per_association: Option<f64>,
    /// Associations opened a second, each with one message exchanged, until all stay open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setups_per_s: Option<f64>,
    /// Mean time packets waited in the bottleneck's queue, milliseconds: median over rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_mean_ms: Option<f64>,
    /// Median over rounds of this transport's `cpu_s_per_gb` over xtp's in the same round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_cpu_to_xtp: Option<f64>,
    /// Figures over emulated links.
    #[serde(flatten)]
    pub distance: Distance,
    /// Figures of one sender and many receivers.
    #[serde(flatten)]
    pub delivery: Delivery,
    /// What a reader has to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[cfg(test)]
#[path = "row_tests.rs"]
mod tests;
