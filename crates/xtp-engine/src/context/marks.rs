//! Marks: exactly one event when everything below an offset is acknowledged or delivered.

use crate::event::MarkId;
use crate::options::Confirm;

/// A mark that was not reached.
#[derive(Copy, Clone, Debug)]
struct OpenMark {
    id: MarkId,
    /// Sequence number everything below which is meant.
    seq: u64,
    what: Confirm,
}

/// The marks of one writer, in the order they were set.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    open: Vec<OpenMark>,
}

/// Marks a writer may have open at once.
const MAX_MARKS: usize = 65_536;

impl Marks {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn add(&mut self, id: MarkId, seq: u64, what: Confirm) -> bool {
        if self.open.len() >= MAX_MARKS {
            return false;
        }
        self.open.push(OpenMark { id, seq, what });
        true
    }

    /// Takes out those that are reached, where what was written is acknowledged and delivered up to there.
    pub(super) fn reach(&mut self, received: u64, delivered: u64) -> Vec<MarkId> {
        let level = |what: Confirm| match what {
            Confirm::Received => received,
            Confirm::Delivered => delivered,
        };
        let mut reached = Vec::new();
        self.open.retain(|mark| {
            let open = level(mark.what) < mark.seq;
            if !open {
                reached.push(mark.id);
            }
            open
        });
        reached
    }
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
