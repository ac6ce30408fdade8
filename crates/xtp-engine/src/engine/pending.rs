//! Associations of one message without a context: this end began them (`initiator`), or they came whole in their FIRST (`responder`).
//!
//! Each is a record in a slot of its own: found, counted and charged like a context, and with turns by the scheduler. At each moment it is
//! what its context would be, was told and has sent the same. Whatever has no rule of its own for a record makes that context
//! ([`promote`](Engine::promote)), or a copy of it to look at ([`context_of`](Engine::context_of)); so does time, if nothing comes for one.

use super::slab::Pending;
use super::{Engine, Read};
use crate::config::EngineConfig;
use crate::context::{Context, Env};
use crate::error::CloseReason;
use crate::event::{ContextId, Event};
use core::net::SocketAddr;
use core::time::Duration;
use rand_chacha::ChaCha20Rng;
use std::collections::VecDeque;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::Packet;

/// How long an association may do without a context: less than any timer of a context that asked for something
/// (WTIMER is 5 ms at least), and long enough for a host that sleeps meanwhile.
pub(super) const PATIENCE: Duration = Duration::from_micros(4_500);

/// Records by the moment from which on they have a context: their slots, and the generation of these. The first one is
/// there; of others nothing may be left.
#[derive(Default)]
pub(super) struct RecordTimers(VecDeque<(Time, u32, u32)>);

impl RecordTimers {
    /// One that began at `now`: the last of all, as all wait equally long.
    #[inline]
    pub(super) fn push(&mut self, now: Time, slot: u32, generation: u32) {
        self.0.push_back((now + PATIENCE, slot, generation));
    }

    /// One that is to wait no longer.
    pub(super) fn hurry(&mut self, now: Time, slot: u32, generation: u32) {
        self.0.push_front((now, slot, generation));
    }
}

/// Moments that have passed: what a context sends and tells in them was sent and told by its record.
pub(super) struct Past<'a> {
    config: &'a EngineConfig,
    rng: &'a mut ChaCha20Rng,
    events: VecDeque<(ContextId, Event)>,
    out: TransmitBatch,
}

impl<'a> Past<'a> {
    fn new(config: &'a EngineConfig, rng: &'a mut ChaCha20Rng) -> Self {
        Self {
            config,
            rng,
            events: VecDeque::new(),
            out: TransmitBatch::new(),
        }
    }

    pub(super) fn env(&mut self, now: Time) -> Env<'_> {
        Env {
            now,
            config: self.config,
            events: &mut self.events,
            rng: self.rng,
        }
    }

    /// A turn of then, in which the packet left that `writes` writes.
    pub(super) fn turn(
        &mut self,
        context: &mut Context,
        at: Time,
        writes: impl FnOnce(&EngineConfig, &mut TransmitBatch),
    ) {
        let mut env = Env {
            now: at,
            config: self.config,
            events: &mut self.events,
            rng: self.rng,
        };
        context.dirty = false;
        context.flush(&mut env, &mut self.out);
        if cfg!(debug_assertions) {
            let mut left = TransmitBatch::new();
            writes(self.config, &mut left);
            assert!(self.out.arena == left.arena, "another packet has left");
        }
        self.out.clear();
    }

    /// A turn of then in which none did, if there was one.
    pub(super) fn idle_turn(&mut self, context: &mut Context, at: Option<Time>) {
        if let Some(at) = at {
            self.turn(context, at, |_, _| ());
        }
    }

    /// So many events were told, unless its user had let go.
    pub(super) fn check_told(&self, events: usize, released: bool) {
        debug_assert!(
            self.events.len() == events || released,
            "other events than were told: {:?}",
            self.events
        );
    }
}

impl Engine {
    /// Makes the context of the one in `slot`, if there is one without.
    #[inline(never)]
    pub(super) fn promote(&mut self, slot: u32) {
        match self.contexts.pending(slot) {
            Some(Pending::Initiator(_)) => {
                if let Some(record) = self.promote_initiator(slot) {
                    self.initiators.keep(record);
                }
            }
            Some(Pending::Responder(_)) => {
                if let Some(record) = self.promote_responder(slot) {
                    self.responders.keep(record);
                }
            }
            None => {}
        }
    }

    /// The context in `slot`, whose record was taken out, is what `make` makes.
    pub(super) fn make_context(&mut self, slot: u32, make: impl FnOnce(&mut Context, &mut Past<'_>)) {
        self.tidy_waiting();
        self.contexts.fill(slot);
        if let Some(context) = self.contexts.at(slot) {
            make(context, &mut Past::new(&self.config, &mut self.rng));
        }
    }

    /// The context that a record would be, to look at.
    pub(super) fn context_of(&self, record: Pending<'_>) -> Box<Context> {
        let mut context = Context::memory();
        let mut rng = self.rng.clone();
        let past = &mut Past::new(&self.config, &mut rng);
        match record {
            Pending::Initiator(record) => record.make(&mut context, past),
            Pending::Responder(record) => record.make(&mut context, past),
        }
        context
    }

    /// Reads, if a record knows what there is.
    pub(super) fn read_pending(&mut self, now: Time, id: ContextId, max: usize) -> Option<Read> {
        let slot = self.contexts.find(id)?;
        match self.contexts.pending(slot)? {
            Pending::Initiator(_) => {
                self.advance(now);
                self.read_answer(slot, max)
            }
            Pending::Responder(_) => self.read_request(now, id, max),
        }
    }

    /// Takes no more of what came, if there is nothing unread; false, and nothing done, if there is.
    pub(super) fn discard_pending(&mut self, now: Time, id: ContextId) -> bool {
        let slot = self.contexts.find(id);
        match slot.and_then(|slot| self.contexts.pending(slot)) {
            Some(Pending::Initiator(record)) => record.has_read_all(),
            Some(Pending::Responder(_)) => self.discard_request(now, id),
            None => false,
        }
    }

    /// The user lets go of an association that is over, which takes next to nothing. False, and nothing done, if that is not so
    /// simple: that is for [`release`](Self::release).
    pub(crate) fn release_at_once(&mut self, now: Time, id: ContextId) -> bool {
        let Some(slot) = self.contexts.find(id) else {
            return false;
        };
        match self.contexts.pending(slot) {
            Some(Pending::Initiator(_)) => {
                self.advance(now);
                self.release_answered(slot)
            }
            Some(Pending::Responder(record)) if record.is_over() => self.release_response(now, id),
            _ => false,
        }
    }

    /// Takes a packet for a slot without a context; false if there is one, or from now on.
    #[inline]
    pub(super) fn take_for_pending(
        &mut self,
        slot: u32,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
    ) -> bool {
        match self.contexts.pending(slot) {
            None => false,
            Some(Pending::Initiator(_)) => self.take_answer(slot, packet, datagram),
            Some(Pending::Responder(_)) => self.take_end(slot, packet, datagram),
        }
    }

    /// The turn of a slot without a context.
    #[inline(never)]
    pub(super) fn turn_pending(&mut self, slot: u32, out: &mut TransmitBatch) {
        match self.contexts.pending(slot) {
            Some(Pending::Initiator(_)) => self.turn_initiator(slot, out),
            Some(Pending::Responder(_)) => self.turn_responder(slot, out),
            None => {}
        }
    }

    /// Puts right what came or had its turn, while its packet is under way.
    #[inline(never)]
    pub(super) fn settle_pending(&mut self, slot: u32) {
        if let Some(record) = self.contexts.responder(slot) {
            let waits = record.is_to_have_turn();
            self.remember(slot);
            if waits {
                return;
            }
        }
        self.list_for_parking(slot, self.now);
        self.account(slot);
    }

    /// When the next one that has no context is given one.
    #[inline]
    pub(super) fn waits_until(&self) -> Option<Time> {
        self.waiting.0.front().map(|(until, ..)| *until)
    }

    /// Gives those a context that waited too long without.
    #[inline]
    pub(super) fn promote_late(&mut self) {
        while let Some(&(until, slot, _)) = self.waiting.0.front()
            && until <= self.now
        {
            self.promote(slot);
        }
    }

    /// A record is gone, or waits for nothing any more: the first one that waits is there.
    pub(super) fn tidy_waiting(&mut self) {
        while let Some(&(_, slot, generation)) = self.waiting.0.front()
            && !self.contexts.waits(slot, generation)
        {
            self.waiting.0.pop_front();
        }
    }

    /// The carrier reports something about their peer.
    pub(super) fn promote_all_of(&mut self, peer: SocketAddr) {
        let waiting = self.waiting.0.iter();
        let slots: Vec<u32> = waiting
            .filter(|(_, slot, generation)| {
                self.contexts.waits(*slot, *generation)
                    && self.contexts.pending(*slot).map(Pending::peer) == Some(peer)
            })
            .map(|(_, slot, _)| *slot)
            .collect();
        for slot in slots {
            self.promote(slot);
        }
    }
}

impl Pending<'_> {
    pub(super) fn peer(self) -> SocketAddr {
        match self {
            Self::Initiator(record) => record.peer(),
            Self::Responder(record) => record.peer(),
        }
    }

    /// Octets to read.
    pub(super) fn readable(self) -> u64 {
        match self {
            Self::Initiator(record) => record.readable(),
            Self::Responder(record) => record.readable(),
        }
    }

    /// Its priority.
    pub(super) fn urgency(self) -> Option<u16> {
        match self {
            Self::Initiator(record) => record.urgency(),
            Self::Responder(record) => record.urgency(),
        }
    }

    /// How it ended, if it did.
    pub(super) fn close_reason(self) -> Option<CloseReason> {
        match self {
            Self::Initiator(record) => record.close_reason(),
            Self::Responder(record) => record.close_reason(),
        }
    }

    /// Whether a packet of it has to leave, or it has ended and is to be put away.
    pub(super) fn has_to_have_turn(self) -> bool {
        match self {
            Self::Initiator(record) => record.has_to_send(),
            Self::Responder(record) => record.has_to_have_turn(),
        }
    }
}
