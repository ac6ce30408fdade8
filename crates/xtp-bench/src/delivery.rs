//! Figures that only measurements of one sender and many receivers have.

use serde::{Deserialize, Serialize};

use crate::stats::{median, spread};

/// What is measured beside the goodput to each receiver; medians over rounds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// From the start of the sender to the end of the last receiver that nothing was done to, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Its smallest and largest of a round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_spread: Option<[f64; 2]>,
    /// From the start of the sender to its end, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_s: Option<f64>,
    /// Until the receiver that was stopped, or came late, had everything: from the moment it went on, or from the start of
    /// the sender, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed_s: Option<f64>,
    /// `seconds` of the same run without what was done to one receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undisturbed_s: Option<f64>,
    /// By how much the others were slower than then, percent: median over rounds of the ratio within a round, less one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_slower_percent: Option<f64>,
    /// Octets the sender's interface sent, less the headers of its packets, over the octets of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_ratio: Option<f64>,
    /// Packets the sender's interface sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_packets: Option<f64>,
    /// Packets of UDP or TCP the sender's interface received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback_packets: Option<f64>,
}

impl Delivery {
    /// Sets the run beside the same one in which nothing was done to anybody.
    pub(crate) fn compare(&mut self, undisturbed: &Self) {
        self.undisturbed_s = undisturbed.seconds;
        let both = self.seconds.zip(undisturbed.seconds);
        self.others_slower_percent = both.map(|(with, without)| 100.0 * (with / without - 1.0));
    }

    /// The median of each figure.
    pub(crate) fn median<'a>(rounds: impl Iterator<Item = &'a Self>) -> Self {
        let rounds: Vec<&Self> = rounds.collect();
        let values = |of: fn(&Self) -> Option<f64>| -> Vec<f64> {
            rounds.iter().filter_map(|round| of(round)).collect()
        };
        let middle = |of| median(&values(of));
        Self {
            seconds: middle(|round| round.seconds),
            seconds_spread: spread(&values(|round| round.seconds)),
            sender_s: middle(|round| round.sender_s),
            disturbed_s: middle(|round| round.disturbed_s),
            undisturbed_s: middle(|round| round.undisturbed_s),
            others_slower_percent: middle(|round| round.others_slower_percent),
            wire_ratio: middle(|round| round.wire_ratio),
            data_packets: middle(|round| round.data_packets),
            feedback_packets: middle(|round| round.feedback_packets),
        }
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
