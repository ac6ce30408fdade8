//! What the emulator counts beside the model.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use xtp_link::Link;

use crate::report::DirectionReport;

/// Counters of one direction that the model does not have.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) delivered: u64,
    pub(super) delivered_octets: u64,
    pub(super) bit_error: u64,
    pub(super) overflow: u64,
    pub(super) overflow_octets: u64,
    pub(super) refused: u64,
    pub(super) housekeeping: u64,
    pub(super) damaged: u64,
    pub(super) marked: u64,
    under_way_before: u64,
}

impl Tally {
    /// Counting begins with so many packets under way.
    pub(super) fn after(under_way: usize) -> Self {
        Self {
            under_way_before: under_way as u64,
            ..Self::default()
        }
    }

    /// Together with what the model counted.
    pub(super) fn report<T>(&self, link: &Link<T>, seconds: f64) -> DirectionReport {
        let stats = link.stats();
        let milliseconds = |nanoseconds: u64| nanoseconds as f64 / 1e6;
        DirectionReport {
            sent: stats.sent_packets + self.overflow,
            sent_octets: stats.sent_octets + self.overflow_octets,
            delivered: self.delivered,
            delivered_octets: self.delivered_octets,
            lost: stats.dropped.loss,
            queue_full: stats.dropped.queue_full,
            bit_error: self.bit_error,
            too_large: stats.dropped.too_large,
            down: stats.dropped.down,
            overflow: self.overflow,
            refused: self.refused,
            overrun: 0,
            housekeeping: self.housekeeping,
            duplicated: stats.duplicated,
            reordered: stats.reordered,
            damaged: self.damaged,
            marked: self.marked,
            under_way: link.in_flight() as u64,
            under_way_before: self.under_way_before,
            queue_mean_ms: milliseconds(stats.queue_delay.mean()),
            queue_p95_ms: milliseconds(stats.queue_delay.p95()),
            queue_octets_max: stats.queue_octets_max as u64,
            packets_per_s: self.delivered as f64 / seconds.max(1e-9),
        }
    }
}

/// When counting began, for the calling thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    began: Instant,
    processor_began: f64,
}

impl Period {
    pub(super) fn begin() -> Self {
        Self {
            began: Instant::now(),
            processor_began: processor_seconds(),
        }
    }

    /// Seconds, and the share of them that the calling thread had a processor.
    pub(super) fn so_far(&self) -> (f64, f64) {
        let seconds = self.began.elapsed().as_secs_f64();
        let busy = processor_seconds() - self.processor_began;
        (seconds, busy / seconds.max(1e-9))
    }
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
