//! Marks: exactly one event when everything below an offset is acknowledged or delivered.

use super::{Context, Env};
use crate::event::{Event, MarkId};
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
pub(crate) const MAX_MARKS: usize = 65_536;

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
}

impl Context {
    /// Up to where everything written is confirmed in this sense.
    pub(super) fn confirmed(&self, what: Confirm) -> u64 {
        match what {
            Confirm::Received => self.writer.una.max(self.writer.delivered),
            Confirm::Delivered => self.writer.delivered,
        }
    }

    /// Reports the marks that are reached by now.
    pub(super) fn reach_marks(&mut self, env: &mut Env<'_>) {
        if self.marks.open.is_empty() {
            return;
        }
        let (received, delivered) = (self.confirmed(Confirm::Received), self.writer.delivered);
        let mut reached = Vec::new();
        self.marks.open.retain(|mark| {
            let level = match mark.what {
                Confirm::Received => received,
                Confirm::Delivered => delivered,
            };
            let open = level < mark.seq;
            if !open {
                reached.push(mark.id);
            }
            open
        });
        for id in reached {
            self.event(env, Event::Marked(id));
        }
    }
}
