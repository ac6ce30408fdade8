//! FASTNAK (§4.6): which holes a reader reports without being asked, and when.

use core::time::Duration;
use xtp_core::fields::Fields;
use xtp_core::time::Time;

/// Between two reports.
const PAUSE: Duration = Duration::from_millis(1);
/// Packets behind a hole from which on its writer judges it lost.
const THRESHOLD: u32 = 3;

/// The hole reported last, and whether there is a new one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FastNak {
    /// rseq and newest sync at the last report, how often this hole was reported (at least), and when.
    rseq: u64,
    sync: u32,
    reports: u8,
    at: Time,
    /// A hole appeared that no status has told of.
    is_new: bool,
}

impl FastNak {
    /// A packet was stored; `hole`: it left one before it.
    pub(super) fn stored(&mut self, hole: bool) {
        self.is_new |= hole;
    }

    /// Status leaves, or need not: what appeared so far is no news.
    pub(super) fn told(&mut self) {
        self.is_new = false;
    }

    /// Whether the hole at `rseq` is to be reported: a new one, or one that was reported once and can reach the threshold now, as `newest`
    /// says where packets behind a hole are counted.
    pub(super) fn is_due(&self, rseq: u64, newest: Option<u32>, now: Time) -> bool {
        let reported = self.reports > 0;
        if reported && now.since(self.at) < PAUSE {
            return false;
        }
        let known = reported && self.rseq == rseq;
        let counts = |newest: u32| newest.wrapping_sub(self.sync) >= THRESHOLD;
        self.is_new && !known || known && self.reports == 1 && newest.is_some_and(counts)
    }

    /// The hole at `rseq` is reported, where `newest` is the newest packet.
    pub(super) fn reported(&mut self, rseq: u64, newest: u32, now: Time) {
        let again = self.reports > 0 && self.rseq == rseq;
        let before = if again { self.reports } else { 0 };
        (self.rseq, self.sync, self.reports, self.at) = (rseq, newest, before.saturating_add(1), now);
    }

    /// As part of the walk over a context at rest, which has no holes.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        fields.number(&mut self.rseq);
        fields.small(&mut self.sync);
        let mut reports = u32::from(self.reports);
        fields.small(&mut reports);
        self.reports = reports as u8;
        let mut reported = (self.reports > 0).then_some(self.at);
        fields.option(&mut reported, Fields::time);
        self.at = reported.unwrap_or_default();
    }
}

#[cfg(test)]
#[path = "fast_nak_tests.rs"]
mod tests;
