//! Associations whose user has gone: they end in good order by themselves, and what fails is remembered.

use xtp_engine::{CloseReason, ContextId, Event, MarkId, Parting, Time};

use super::{Core, SlotHolder};

impl Core {
    /// The user let go of an association: it closes gracefully in the background.
    pub(crate) fn orphan(&mut self, now: Time, id: ContextId) {
        let Ok(slot) = self.slot(id) else {
            return;
        };
        let over = slot.closed.is_some() || slot.fault_ends;
        let started = slot.started;
        slot.drop_wakers();
        self.watch.remove(super::PollSource::Stream(id));
        if over || !started {
            // Ended, or packets do not leave: nothing follows. Never started: no packet says that it existed, and none should.
            self.release(now, id);
            return;
        }
        // First, so that nothing unread keeps it from being let go of.
        self.discard(now, id);
        self.adopt(now, id);
    }

    /// Throws away what came, so that the peer can finish: none of it was delivered, nor the part of a message that was
    /// collected for the user.
    pub(crate) fn discard(&mut self, now: Time, id: ContextId) {
        let collected = self.slots.get(&id).map_or(0, |slot| slot.partial_octets() as u64);
        let _ = self.engine.command().discard(now, id, collected);
        if let Ok(slot) = self.slot(id) {
            slot.drop_partial();
        }
    }

    /// Makes an orphan of an association and closes it.
    pub(super) fn adopt(&mut self, now: Time, id: ContextId) {
        if let Ok(slot) = self.slot(id) {
            slot.used_by = SlotHolder::Orphan(None);
            slot.drop_partial();
            self.orphans += 1;
        }
        self.close_orphan(now, id);
    }

    /// Closes the writer of an orphan once everything it was given is queued, and lets go of it once that is
    /// confirmed.
    fn close_orphan(&mut self, now: Time, id: ContextId) {
        // What a peer refused cannot be queued any more, and what waits for room comes back here with `Writable`.
        if let Ok(false) = super::ops::clear_backlog(self, now, id) {
            return;
        }
        let Ok(slot) = self.slot(id) else {
            return;
        };
        slot.writer_closed = true;
        let written = slot.written;
        match self.engine.close(now, id, written) {
            Parting::Released => self.dismiss(id),
            Parting::Leaving => {}
            Parting::Awaits(mark) => {
                if let Ok(slot) = self.slot(id) {
                    slot.used_by = SlotHolder::Orphan(mark);
                }
            }
        }
    }

    /// An event of an association without user.
    pub(super) fn orphan_event(&mut self, now: Time, id: ContextId, mark: Option<MarkId>, event: &Event) {
        match event {
            Event::Closed(reason) => {
                self.note_lost(id, reason.clone());
                self.release(now, id);
            }
            // Everything is confirmed: what remains of the close is the engine's business alone.
            Event::Marked(reached) if Some(*reached) == mark => self.engine.detach(id),
            Event::Readable => self.discard(now, id),
            Event::Writable if self.slots.get(&id).is_some_and(|slot| !slot.writer_closed) => {
                self.close_orphan(now, id);
            }
            _ => {}
        }
    }

    /// Octets of an association that were not acknowledged.
    pub(crate) fn unacknowledged(&mut self, id: ContextId) -> u64 {
        let written = self.slots.get(&id).map_or(0, |slot| slot.written);
        self.engine.unacknowledged(id, written)
    }

    /// Gives up on all orphans: what they had not confirmed goes on the list.
    pub(crate) fn abandon_orphans(&mut self, now: Time) {
        let orphans: Vec<ContextId> = self
            .slots
            .iter()
            .filter(|(_, slot)| matches!(slot.used_by, SlotHolder::Orphan(_)))
            .map(|(id, _)| *id)
            .collect();
        for id in orphans {
            let octets = self.unacknowledged(id);
            self.note_lost(id, CloseReason::Unconfirmed { octets });
            self.release(now, id);
        }
    }
}
