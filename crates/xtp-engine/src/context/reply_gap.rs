//! The reply gap (§3.6): how long the peer's user takes to answer with data.

use core::time::Duration;
use xtp_core::fields::Fields;
use xtp_core::time::Time;

/// A longer pause says nothing of how fast it answers.
const LONGEST: Duration = Duration::from_secs(1);

/// The gap that is open, and the learned one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplyGap {
    open_since: Option<Time>,
    /// Something was lost since, on either way: its length tells of the timers that repaired it.
    spoilt: bool,
    /// In nanoseconds, at most [`LONGEST`].
    learned: u32,
}

impl ReplyGap {
    /// Data left, of which an answer may tell.
    pub(super) fn open(&mut self, now: Time) {
        self.open_since.get_or_insert(now);
    }

    /// A data-bearing packet came: closes the gap with the decay of 63/64. True if one was open.
    pub(super) fn close(&mut self, now: Time) -> bool {
        let Some(since) = self.open_since.take() else {
            return false;
        };
        let length = now.since(since);
        if !std::mem::take(&mut self.spoilt) && length <= LONGEST {
            self.learned = u64::max(length.as_nanos() as u64, u64::from(self.learned) * 63 / 64) as u32;
        }
        true
    }

    /// Something was lost.
    pub(super) fn spoil(&mut self) {
        self.spoilt = self.open_since.is_some();
    }

    /// How long an answer takes; zero while none came.
    pub(super) fn learned(&self) -> Duration {
        Duration::from_nanos(self.learned.into())
    }

    /// As part of the walk over a context at rest.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        fields.flag(&mut self.spoilt);
        fields.option(&mut self.open_since, Fields::time);
        fields.small(&mut self.learned);
    }
}

#[cfg(test)]
#[path = "reply_gap_tests.rs"]
mod tests;
