//! Short writes that come quickly are gathered until they fill a train of packets: a program that writes a line, a record or a
//! thousand octets at a time pays for a packet once for many of them. What is gathered leaves with the next turn, whoever has one,
//! and if nobody has, with the [flusher's](crate::flusher).

use std::time::Duration;

use xtp_engine::{ContextId, Time};

use super::streak::Streak;
use super::write_memory::{WRITE_BUFFER, train};
use super::{Core, Slot, ops};
use crate::error::Result;
use crate::flusher::Held;
use crate::sync::Arc;

/// Longer writes fill most of a train by themselves.
pub(super) const SHORT_WRITE: usize = 32 << 10;
/// What is sent and longer need not be copied, which is worth more.
pub(super) const SHORT_PIECE: usize = 16 << 10;
/// A gathering of less than so many writes was not worth it.
const WORTH: u32 = 4;
/// What has been gathered for so long leaves with the next write.
pub(crate) const AGE: Duration = Duration::from_micros(100);

/// How quickly one association is written to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
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

impl Pace {
    /// A write at `now`; `under_way`: something is not acknowledged yet. Whether it is one of a stream.
    fn note(&mut self, now: Time, under_way: bool) -> bool {
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

    fn is_stream(self) -> bool {
        self.streak.is_stream()
    }

    /// The write that was noted last ended at `now`.
    fn end(&mut self, now: Time) {
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
    fn gather(&mut self, now: Time) -> bool {
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

/// Whether somebody sends what is gathered if its writer does nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Flusher {
    /// Nobody yet.
    #[default]
    None,
    Running,
    /// Nobody, and so it stays.
    Refused,
}

/// What the last question did beside the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Aside {
    #[default]
    Nothing,
    /// It collected a write and nothing else.
    Collected,
    /// It would have, if there was a flusher.
    Wanted,
}

/// What is gathered of all associations.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// Associations of which something may be.
    streams: Vec<ContextId>,
    aside: Aside,
    /// The association for which something was handed on, until its caller goes.
    writes: Option<ContextId>,
    pub(crate) flusher: Flusher,
    pub(crate) held: Arc<Held>,
}

impl Gathering {
    /// What the question just asked did, once.
    pub(crate) fn take_aside(&mut self) -> Aside {
        std::mem::take(&mut self.aside)
    }

    /// Something of `id` is gathered.
    fn hold(&mut self, now: Time, id: ContextId) {
        self.aside = Aside::Collected;
        if self.streams.contains(&id) {
            return;
        }
        if self.streams.is_empty() {
            self.held.hold_writes(now);
        }
        self.streams.push(id);
    }

    /// What was gathered of `id` leaves.
    fn let_go(&mut self, id: ContextId) {
        self.aside = Aside::Nothing;
        self.streams.retain(|stream| *stream != id);
        if self.streams.is_empty() {
            self.held.release_writes();
        }
    }
}

impl Core {
    /// Notes that so many octets are written; whether they are gathered with others, if they are no more than `short`.
    pub(super) fn gathers(&mut self, now: Time, id: ContextId, octets: usize, short: usize) -> Result<bool> {
        if octets > short || self.gathering.flusher == Flusher::Refused {
            return Ok(false);
        }
        let slot = self.slot(id)?;
        if slot.corked || slot.nodelay {
            return Ok(false);
        }
        let known = slot.if_more().map(|more| more.pace.is_stream());
        let under_way = known == Some(true) || self.unacknowledged(id) > 0;
        if !under_way && known.is_none() {
            return Ok(false);
        }
        let quick = self.slot(id)?.more().pace.note(now, under_way);
        if quick && self.gathering.flusher == Flusher::None {
            self.gathering.aside = Aside::Wanted;
        }
        Ok(quick && self.gathering.flusher == Flusher::Running)
    }

    /// A write of `id` leaves, which takes its time.
    pub(super) fn begin_write(&mut self, id: ContextId) {
        self.gathering.writes = Some(id);
    }

    /// The caller who drove the endpoint goes: if it wrote, what follows is the program's time.
    #[inline]
    pub(crate) fn end_write(&mut self) {
        if let Some(id) = self.gathering.writes.take() {
            let now = self.now();
            if let Some(more) = self.slots.get_mut(&id).and_then(Slot::if_more) {
                more.pace.end(now);
            }
        }
    }

    /// How much is collected before it leaves: as much as a train carries in whole packets.
    pub(super) fn train(&mut self, id: ContextId) -> Result<usize> {
        let packet = self.engine.settled().context(id)?.packet_payload();
        Ok(train(packet).min(WRITE_BUFFER))
    }

    /// A write of `id` was collected. Whether what is has waited long enough; if not, it is held.
    pub(super) fn hold(&mut self, now: Time, id: ContextId) -> Result<bool> {
        let over = self.slot(id)?.more().pace.gather(now);
        if !over {
            self.gathering.hold(now, id);
        }
        Ok(over)
    }

    /// Hands on what was gathered of `id`; true if all of it was.
    pub(super) fn let_go(&mut self, now: Time, id: ContextId) -> Result<bool> {
        self.gathering.let_go(id);
        self.begin_write(id);
        ops::clear_backlog(self, now, id)
    }

    /// Hands on what was gathered, for the turn that begins.
    #[cold]
    pub(super) fn hand_on_gathered(&mut self, now: Time) {
        let mut streams = std::mem::take(&mut self.gathering.streams);
        for id in streams.drain(..) {
            // One that is gone or has ended says so to its user.
            let _ = ops::clear_backlog(self, now, id);
        }
        self.gathering.streams = streams;
        self.gathering.aside = Aside::Nothing;
        self.gathering.held.release_writes();
    }

    /// Whether something is gathered that did not leave.
    pub(crate) fn has_gathered(&self) -> bool {
        !self.gathering.streams.is_empty()
    }
}

#[cfg(test)]
#[path = "gathering_tests.rs"]
mod tests;
