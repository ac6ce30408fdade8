//! Figures that only measurements over emulated links have.

use serde::{Deserialize, Serialize};

use crate::stats::median;

/// What is measured over an emulated link beside the goodput of the whole run; medians over rounds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distance {
    /// Goodput of the 12th round trip after the first octet arrived, 10^9 bits a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbit_s_12th_rtt: Option<f64>,
    /// Goodput after the 12th round trip (and the first second), 10^9 bits a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbit_s_settled: Option<f64>,
    /// Time that 95 % of the packets did not exceed in the bottleneck's queue, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_p95_ms: Option<f64>,
    /// Packets that the bottleneck's queue had no room for, share of those sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_drops: Option<f64>,
    /// Octets sent again over octets sent for the first time, where the transport tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<f64>,
    /// Share of what all flows over the link got together, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Jain's fairness index of all flows over the link: 1 if all got the same, 1/n if one got all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<f64>,
}

impl Distance {
    /// The median of each figure.
    pub(crate) fn median<'a>(rounds: impl Iterator<Item = &'a Self>) -> Self {
        let rounds: Vec<&Self> = rounds.collect();
        let middle = |of: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = rounds.iter().filter_map(|round| of(round)).collect();
            median(&values)
        };
        Self {
            gbit_s_12th_rtt: middle(|round| round.gbit_s_12th_rtt),
            gbit_s_settled: middle(|round| round.gbit_s_settled),
            queue_p95_ms: middle(|round| round.queue_p95_ms),
            queue_drops: middle(|round| round.queue_drops),
            retransmitted: middle(|round| round.retransmitted),
            share: middle(|round| round.share),
            jain: middle(|round| round.jain),
        }
    }
}
