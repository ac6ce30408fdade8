//! What an emulator did, and how well.

use serde::{Deserialize, Serialize};

/// Above this lateness at the 99th percentile a run says more about the emulator than about the link.
const TOO_LATE_US: f64 = 1_000.0;

/// How the emulator's thread was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// Before every ordinary thread.
    RealTime,
    /// With a better nice value than usual.
    Nice,
    /// As every other thread.
    Ordinary,
}

/// One direction since the start or the last reset. Octets are IP octets.
///
/// `sent + duplicated + under_way_before` is the sum of `delivered`, all drops (`lost` to `refused`) and `under_way`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionReport {
    /// Packets the sending namespace handed to the link.
    pub sent: u64,
    /// Octets of these.
    pub sent_octets: u64,
    /// Packets the receiving namespace took, copies included.
    pub delivered: u64,
    /// Octets of these.
    pub delivered_octets: u64,
    /// Packets the random or bursty loss took.
    pub lost: u64,
    /// Packets dropped because the queue was full.
    pub queue_full: u64,
    /// Packets dropped because bits were flipped; 0 if damaged packets are delivered.
    pub bit_error: u64,
    /// Packets larger than the model's MTU.
    pub too_large: u64,
    /// Packets dropped while the link was switched down.
    pub down: u64,
    /// Packets dropped because too many were under way for the emulator's memory.
    pub overflow: u64,
    /// Packets the receiving namespace did not take.
    pub refused: u64,
    /// Packets the kernel dropped before the emulator saw them, because it did not read fast enough. In no other
    /// counter.
    pub overrun: u64,
    /// Link-local housekeeping of IPv6 (router solicitations, multicast reports), left out. In no other counter.
    pub housekeeping: u64,
    /// Extra copies made.
    pub duplicated: u64,
    /// Packets delivered after one that was sent later.
    pub reordered: u64,
    /// Packets delivered with flipped bits; 0 unless damaged packets are delivered.
    pub damaged: u64,
    /// Packets that got the Congestion Experienced mark.
    pub marked: u64,
    /// Packets under way when the report was made.
    pub under_way: u64,
    /// Packets under way when the counting began.
    pub under_way_before: u64,
    /// Mean time in the queue, milliseconds.
    pub queue_mean_ms: f64,
    /// 95th percentile of the time in the queue, milliseconds, at most 1/8 too large.
    pub queue_p95_ms: f64,
    /// Most octets ever in the queue.
    pub queue_octets_max: u64,
    /// Packets delivered a second.
    pub packets_per_s: f64,
}

/// What an emulator did since the start or the last reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Time the report covers, seconds.
    pub seconds: f64,
    /// The way of packets sent on the left.
    pub left_to_right: DirectionReport,
    /// The way of packets sent on the right.
    pub right_to_left: DirectionReport,
    /// Packets delivered a second, both directions together.
    pub packets_per_s: f64,
    /// How much later than due packets were delivered: median, microseconds, at most 1/8 too large.
    pub lateness_p50_us: f64,
    /// The same, 99th percentile.
    pub lateness_p99_us: f64,
    /// The same, greatest (exact).
    pub lateness_max_us: f64,
    /// Share of one processor the emulator's thread took, the kernel's work on its behalf included.
    pub busy: f64,
    /// Times the emulator's thread waited.
    pub waits: u64,
    /// How the emulator's thread was scheduled.
    pub scheduling: Scheduling,
    /// Idle processors were kept from halting ([`Config::keep_cores_awake`](crate::Config::keep_cores_awake)).
    pub cores_awake: bool,
    /// Why this run says more about the emulator than about the link; `None` if it was good enough.
    pub bottleneck: Option<String>,
}

impl Report {
    /// Fills in [`Report::bottleneck`].
    pub(crate) fn judge(mut self) -> Self {
        let [left, right] = [&self.left_to_right, &self.right_to_left];
        let overrun = left.overrun + right.overrun;
        let overflow = left.overflow + right.overflow;
        let refused = left.refused + right.refused;
        self.bottleneck = if self.lateness_p99_us > TOO_LATE_US {
            Some(format!(
                "packets were delivered {:.1} ms late at the 99th percentile",
                self.lateness_p99_us / 1_000.0
            ))
        } else if overrun > 0 {
            Some(format!("{overrun} packets came faster than they were read"))
        } else if overflow > 0 {
            Some(format!(
                "{overflow} packets were too many to be under way at once"
            ))
        } else if refused > 0 {
            Some(format!("{refused} packets were not taken by the receiving side"))
        } else {
            None
        };
        self
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
