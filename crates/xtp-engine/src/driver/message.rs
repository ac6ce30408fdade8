//! Messages from their users into packets, and associations nobody holds any more.

use super::{Driver, Outlet};
use crate::error::Error;
use crate::event::{ContextId, MarkAt, MarkId, Unit};
use crate::options::{Confirm, OpenOptions};
use crate::stats::ContextStats;
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_core::time::Time;

/// Associations that are over, kept until there is time to put them away.
const SPENT: usize = 32;

/// What becomes of an association whose user has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// It was released.
    Released,
    /// It is released by [`Driver::release_detached`] after the next turn.
    Leaving,
    /// What it sent is to be confirmed first: [`Driver::detach`] when this mark is reached, if there is one.
    Awaits(Option<MarkId>),
}

impl Driver {
    /// Opens an association of one message and, if all of it finds room, closes the writer. What was accepted is gone
    /// from `data`. Nothing leaves before the next turn.
    ///
    /// # Errors
    ///
    /// As [`Engine::open`](crate::Engine::open); the association is released if the message cannot be queued.
    pub fn begin_message(
        &mut self,
        now: Time,
        peer: SocketAddr,
        options: OpenOptions,
        data: &mut Bytes,
    ) -> Result<ContextId, Error> {
        self.make_room(now);
        self.engine.open_ahead(now, peer, options, data)
    }

    /// Puts away what is over where there is too much of it; at the limit of associations it makes room.
    pub fn make_room(&mut self, now: Time) {
        if self.spent.len() >= SPENT || (!self.spent.is_empty() && self.engine.is_full()) {
            self.tidy(now);
        }
    }

    /// Sends `data` as one `unit` in one packet, behind `tag` if there is one, without a tag also in a few that leave
    /// together, if it may leave now and nothing else has to; false, and nothing done, if not: that is for
    /// [`Engine::send`](crate::Engine::send) and a turn.
    #[inline]
    pub fn hand_out(
        &mut self,
        now: Time,
        id: ContextId,
        (tag, data): (Option<u64>, &mut Bytes),
        unit: Unit,
        outlet: &mut impl Outlet,
    ) -> bool {
        if !self.is_at_rest() || !self.engine.hand_out(now, id, (tag, data), unit, &mut self.out) {
            return false;
        }
        self.send_out(now, outlet);
        // The bookkeeping is done while the packet is under way.
        self.engine.catch_up();
        true
    }

    /// Answers a request that came a moment ago and closes the writer, if that is one packet and nothing else has to
    /// leave; `data` is empty then. False, and nothing done, if not. `unconfirmed`: the answer ends the association.
    pub fn respond_at_once(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        unconfirmed: bool,
        outlet: &mut impl Outlet,
    ) -> bool {
        let out = &mut self.out;
        if !out.is_empty()
            || !self.leaving.is_empty()
            || !self.engine.respond_at_once(now, id, data, unconfirmed, out)
        {
            return false;
        }
        self.send_out(now, outlet);
        self.engine.catch_up();
        true
    }

    /// What an association that came to a good end cost.
    pub fn final_stats(&mut self, id: ContextId) -> Option<ContextStats> {
        // Known without the last bookkeeping, as a rule: that may wait until the next packet is under way.
        let known = self.engine.parting_stats(id);
        known.or_else(|| self.settled().context(id).ok().map(|context| context.stats()))
    }

    /// The user lets go of an association that is over. It is put away when nothing is waiting: as a rule while the packet of
    /// the user's next call is under way.
    pub fn detach_ended(&mut self, id: ContextId) {
        self.spent.push(id);
    }

    /// The user of an association that lives is gone: it takes no more of its input, its writer is closed, and what it
    /// wrote, up to offset `written`, is to be confirmed before it is let go of.
    pub fn close(&mut self, now: Time, id: ContextId, written: u64) -> Parting {
        let _ = self.engine.close_writer(now, id);
        if self.unacknowledged(id, written) == 0 {
            return match self.engine.owes_delivery(id) {
                // Both closes then leave in one packet.
                Ok(false) => {
                    self.release(now, id);
                    Parting::Released
                }
                _ => {
                    self.detach(id);
                    Parting::Leaving
                }
            };
        }
        let _ = self.engine.forgo_reader(now, id);
        // Paradigms that are never acknowledged have no mark: their end comes when everything has left.
        let mark = self
            .engine
            .mark(now, id, MarkAt::Offset(written), Confirm::Received)
            .ok();
        self.engine.note_user_gone(id);
        Parting::Awaits(mark)
    }

    /// Everything of an association nobody holds is confirmed: what remains of the close is the engine's business alone.
    pub fn detach(&mut self, id: ContextId) {
        self.leaving.push(id);
    }

    /// Follows a turn and its events: releases whoever was to leave, and says whom; if there was anybody, another turn
    /// is to follow.
    #[must_use]
    pub fn release_detached(&mut self, now: Time) -> Vec<ContextId> {
        let leaving = core::mem::take(&mut self.leaving);
        for id in &leaving {
            let _ = self.engine.release(now, *id);
        }
        leaving
    }

    /// Lets go of an association now.
    pub fn release(&mut self, now: Time, id: ContextId) {
        self.leaving.retain(|leaving| *leaving != id);
        let _ = self.engine.release(now, id);
    }

    /// Octets of an association that were not acknowledged, of `written`.
    pub fn unacknowledged(&mut self, id: ContextId, written: u64) -> u64 {
        // What just came says it without bookkeeping, which would keep an answer from the short way.
        if self.engine.arrival_of(id).is_none() {
            self.engine.catch_up();
        }
        match self.engine.octets_acknowledged(id) {
            Ok(acknowledged) => written.saturating_sub(acknowledged),
            Err(_) => 0,
        }
    }
}
