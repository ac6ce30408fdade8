//! How quickly an association is written to.

use std::time::Duration;

use xtp_engine::Time;

use super::streak::Streak;
use crate::flusher::AGE;

/// A gathering of less than so many writes was not worth it.
const WORTH: u32 = 4;

/// How quickly one association is written to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WritePace {
    /// When the last write ended, as far as a clock was read.
    last: Time,
    /// Quick writes in a row, behind something that is under way.
    streak: Streak,
    /// Writes that are gathered, and when the first of them was.
    gathered: u32,
    since: Time,
    /// What passed since the last write was the endpoint's time, not the program's.
    excused: bool,
}

impl WritePace {
    /// A write at `now`; `under_way`: something is not acknowledged yet. Whether it is one of a stream.
    pub(super) fn note(&mut self, now: Time, under_way: bool) -> bool {
        let gap = match std::mem::take(&mut self.excused) {
            true => Duration::ZERO,
            false => now.since(self.last),
        };
        self.last = now;
        match under_way {
            true => self.streak.note(gap),
            false => self.streak.end(),
        }
        self.is_stream()
    }

    /// Whether writes come quickly.
    pub(super) fn is_stream(self) -> bool {
        self.streak.is_stream()
    }

    /// The write that was noted last ended at `now`.
    pub(super) fn end(&mut self, now: Time) {
        self.last = now;
    }

    /// The next write is not late, whenever it comes: this one waits.
    pub(super) fn excuse(&mut self) {
        self.excused = true;
    }

    /// The program read something: whoever reads about as often as it writes is in an exchange and waits for answers.
    pub(super) fn read(&mut self) {
        self.streak.less();
    }

    /// The write at `now` is gathered. Whether what is gathered has waited long enough.
    pub(super) fn gather(&mut self, now: Time) -> bool {
        if self.gathered == 0 {
            self.since = now;
        }
        self.gathered += 1;
        now.since(self.since) >= AGE
    }

    /// What is gathered leaves because no more may be: that says nothing of how quickly it came.
    pub(super) fn fill(&mut self) {
        self.gathered = 0;
    }

    /// What was gathered leaves.
    pub(super) fn leave(&mut self) {
        let count = std::mem::take(&mut self.gathered);
        if count > 0 && count < WORTH {
            self.streak.less();
        }
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
