//! The relay's counters as one line of JSON.

use super::RelayStats;
use crate::stats::LinkStats;

impl RelayStats {
    /// One line of JSON without a line break; times in microseconds.
    pub fn to_json(&self) -> String {
        format!(
            "{{\"clients\":{},\"evicted\":{},\"overflow\":{},\"send_errors\":{},\"to_server\":{},\"to_client\":{}}}",
            self.clients,
            self.evicted,
            self.overflow,
            self.send_errors,
            link_to_json(&self.to_server),
            link_to_json(&self.to_client),
        )
    }
}

fn link_to_json(link: &LinkStats) -> String {
    let counters = [
        ("sent_packets", link.sent_packets),
        ("sent_bytes", link.sent_octets),
        ("delivered_packets", link.delivered_packets),
        ("delivered_bytes", link.delivered_octets),
        ("lost", link.dropped.loss),
        ("queue_full", link.dropped.queue_full),
        ("too_large", link.dropped.too_large),
        ("down", link.dropped.down),
        ("scripted", link.dropped.script),
        ("duplicated", link.duplicated),
        ("reordered", link.reordered),
        ("corrupted", link.corrupted),
        ("queue_bytes_max", link.queue_octets_max as u64),
        ("queue_mean_us", link.queue_delay.mean() / 1_000),
        ("queue_p95_us", link.queue_delay.p95() / 1_000),
        ("queue_max_us", link.queue_delay.max() / 1_000),
    ];
    let members: Vec<String> = counters
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}
