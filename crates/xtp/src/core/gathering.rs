//! Short writes that come quickly are gathered until they fill a train of packets: a program that writes a line, a record or a
//! thousand octets at a time pays for a packet once for many of them. What is gathered leaves with the next turn, whoever has one,
//! and if nobody has, with the [flusher's](crate::flusher).

use xtp_engine::{ContextId, Time};

use super::gathered_writes::{Aside, Flusher};
use super::write_memory::{WRITE_BUFFER, train};
use super::writing::clear_backlog;
use super::{Core, Slot};
use crate::error::Result;

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
    pub(super) fn hand_on(&mut self, now: Time, id: ContextId) -> Result<bool> {
        self.gathering.hand_on(id);
        self.begin_write(id);
        clear_backlog(self, now, id)
    }

    /// Hands on what was gathered, for the turn that begins.
    #[cold]
    pub(super) fn hand_on_gathered(&mut self, now: Time) {
        let mut streams = std::mem::take(&mut self.gathering.streams);
        for id in streams.drain(..) {
            // One that is gone or has ended says so to its user.
            let _ = clear_backlog(self, now, id);
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
