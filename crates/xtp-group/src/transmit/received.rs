//! What the pacemaker received, by its own reports, beside what left for it (§9.11).
//!
//! What it lacks of a block it can only say when the block is finished. How much comes it says at once: so a queue that overflows is
//! seen before the model has taken for received what was thrown away.

use core::time::Duration;
use std::collections::VecDeque;
use xtp_core::time::Time;

/// Rates are measured over no less than this.
pub(super) const MEASURED: Duration = Duration::from_millis(100);
/// Reports so far apart are remembered, the latest so many: three seconds, which is longer than a probe is away.
const SPACING: Duration = Duration::from_millis(50);
const MOST: usize = 64;
/// These are the latest.
const LATEST: usize = 4;
/// If more than one octet in so many does not come, that is no small matter.
const HEAVY: u64 = 12;

/// Octets until a report.
#[derive(Copy, Clone, Debug, Default)]
struct ReceivedReport {
    at: Time,
    received: u64,
    left: u64,
}

impl ReceivedReport {
    /// Octets a second since `before`; `None` if that is no time.
    fn rate_since(&self, before: &Self) -> Option<u64> {
        let nanos = self.at.since(before.at).as_nanos();
        let octets = u128::from(self.received - before.received);
        (nanos > 0).then(|| (octets * 1_000_000_000 / nanos) as u64)
    }
}

/// The latest reports, oldest first.
#[derive(Debug, Default)]
pub(super) struct ReceivedHistory {
    reports: VecDeque<ReceivedReport>,
    newest: Option<ReceivedReport>,
}

impl ReceivedHistory {
    /// A report: so much was received a second since the one before, when so much had left altogether. 0: it does not know.
    pub(super) fn note(&mut self, rate: u64, left: u64, now: Time) {
        if rate == 0 {
            return;
        }
        let before = self.newest.unwrap_or(ReceivedReport {
            at: now,
            received: 0,
            left,
        });
        let came = u128::from(rate) * now.since(before.at).as_nanos() / 1_000_000_000;
        let newest = ReceivedReport {
            at: now,
            received: before.received.saturating_add(came as u64),
            left: left.max(before.left),
        };
        self.newest = Some(newest);
        if self
            .reports
            .back()
            .is_none_or(|last| now.since(last.at) >= SPACING)
        {
            if self.reports.len() == MOST {
                self.reports.pop_front();
            }
            self.reports.push_back(newest);
        }
    }

    /// The newest report that is no newer than this.
    fn until(&self, at: Time) -> Option<&ReceivedReport> {
        let after = self.reports.partition_point(|report| report.at <= at);
        self.reports.get(after.checked_sub(1)?)
    }

    /// Octets a second it received from then on; `None` if that is too long ago.
    pub(super) fn rate_since(&self, from: Time) -> Option<u64> {
        self.newest?.rate_since(self.until(from)?)
    }

    /// The most that it received a second in a tenth of a second just now.
    pub(super) fn most_of_late(&self) -> Option<u64> {
        let latest = self.reports.len().checked_sub(LATEST)?;
        let reports = self.reports.range(latest..);
        let pairs = reports.clone().zip(reports.skip(2));
        pairs
            .filter_map(|(earlier, later)| later.rate_since(earlier))
            .max()
    }

    /// The most that it received a second of late, if much of what left just now did not come.
    pub(super) fn most_where_much_is_lost(&self) -> Option<u64> {
        let newest = self.newest?;
        let begin = newest.at.as_nanos().checked_sub(MEASURED.as_nanos() as u64)?;
        let before = self.until(Time::from_nanos(begin))?;
        let (received, left) = (newest.received - before.received, newest.left - before.left);
        if left.saturating_sub(received) <= left / HEAVY {
            return None;
        }
        let pairs = self.reports.iter().zip(self.reports.iter().skip(2));
        let rates = pairs.filter_map(|(earlier, later)| later.rate_since(earlier));
        rates.chain(newest.rate_since(before)).max()
    }
}

#[cfg(test)]
#[path = "received_tests.rs"]
mod tests;
