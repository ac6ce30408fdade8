//! The short way through the engine: bookkeeping that is deferred until a packet is under way (see `context::express`).
//!
//! At most one packet each way is not accounted for at any moment. Every call but those of the exchange itself (receive,
//! read, send, flush) does the deferred bookkeeping first, so nobody can tell.

use super::{Engine, Read};
use crate::context::{
    Awaited, Context, Departure, Env, Exchange, LONGEST_TRAIN, LaterArrival, PredictedArrival, Taken,
    Transmission,
};
use crate::error::Error;
use crate::event::{ContextId, Unit};
use bytes::Bytes;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{Body, DataSegment, Packet};

/// Packets of one context that are not accounted for yet.
pub(super) struct Deferred {
    pub(super) slot: u32,
    /// Its user has the message that arrived already, having waited for it.
    pub(super) handed: bool,
    pub(super) arrival: Option<PredictedArrival>,
    pub(super) departure: Option<Departure>,
}

/// What came behind the first packet of an arrival, and all packets of a departure; empty but while bookkeeping is deferred.
#[derive(Default)]
pub(super) struct Trains {
    pub(super) arrivals: Vec<LaterArrival>,
    pub(super) departures: Vec<Transmission>,
}

/// Packets of an exchange after which it is asked what memory it keeps.
const LOOK_EVERY: u64 = 16;

impl Engine {
    /// Does what [`flush_ahead`](Self::flush_ahead) left, and accounts for packets that took the short way: when these are
    /// under way. Without it the next call does them. Times are those of the packets.
    #[inline]
    pub(crate) fn catch_up(&mut self) {
        if self.unsettled.is_some() {
            self.settle_last();
            self.park_some(1);
        }
        self.promote_late();
        if let Some(deferred) = self.deferred.take() {
            self.do_deferred(deferred);
        }
    }

    #[inline(never)]
    fn do_deferred(&mut self, mut deferred: Deferred) {
        let slot = deferred.slot;
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        context.account_queue(deferred.arrival.as_ref(), deferred.departure.as_mut());
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        if let Some(arrival) = &deferred.arrival {
            env.now = arrival.now();
            context.account_arrival(&mut env, arrival, &self.trains.arrivals);
            self.trains.arrivals.clear();
            if deferred.handed {
                context.note_delivery();
            }
        }
        let Some(departure) = &deferred.departure else {
            context.regular = false;
            self.mark_dirty(slot);
            return;
        };
        env.now = departure.now();
        let looks = context.stats.packets_sent.is_multiple_of(LOOK_EVERY) || self.memory.is_rationed();
        context.account_departure(&mut env, &self.trains.departures);
        self.trains.departures.clear();
        // As of then: it is accounted for at another moment, perhaps.
        let now = std::mem::replace(&mut self.now, departure.now());
        // Message for message an exchange keeps and promises the same: it is enough to look now and then.
        match looks {
            true => self.settle(slot),
            false => self.settle_context(slot),
        }
        self.park_some(1);
        self.now = now;
    }

    /// Takes a packet the short way, for `user` if it waits for what comes next: what became of it. `None` if it has to go the long
    /// one.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        slot: u32,
        packet: &Exchange<'_>,
        datagram: &Datagram<'_>,
        user: Option<Awaited>,
    ) -> Option<Taken> {
        match self.memory.is_rationed() {
            true => self.arrive_rationed(slot, packet, datagram, user),
            false => self.take_expected(slot, packet, datagram, user),
        }
    }

    /// The same where memory is rationed.
    #[inline(never)]
    fn arrive_rationed(
        &mut self,
        slot: u32,
        packet: &Exchange<'_>,
        datagram: &Datagram<'_>,
        user: Option<Awaited>,
    ) -> Option<Taken> {
        if !self.contexts.awake(slot)?.regular {
            return None;
        }
        self.ration(slot, datagram.data.len());
        if !self.contexts.awake(slot)?.has_room_for(packet, user) {
            return None;
        }
        // A reference keeps a whole buffer of the carrier's.
        let datagram = Datagram {
            backing: None,
            ..*datagram
        };
        let taken = self.take_expected(slot, packet, &datagram, user)?;
        if let Some((deferred, context)) = self.deferred.as_ref().zip(self.contexts.awake_mut(slot)) {
            context.account_queue(deferred.arrival.as_ref(), None);
        }
        self.account(slot);
        Some(taken)
    }

    #[inline(always)]
    fn take_expected(
        &mut self,
        slot: u32,
        packet: &Exchange<'_>,
        datagram: &Datagram<'_>,
        user: Option<Awaited>,
    ) -> Option<Taken> {
        let context = self.contexts.awake_mut(slot).filter(|context| context.regular)?;
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        let taken = context.arrive(&mut env, datagram, packet, user)?;
        let matched = context.is_matched();
        self.deferred = Some(Deferred {
            slot,
            handed: matches!(taken, Taken::Handed(_)),
            arrival: Some(PredictedArrival::of(
                self.now,
                datagram,
                datagram.data.len(),
                packet.head,
            )),
            departure: None,
        });
        if matched {
            self.match_arrived(slot);
        }
        Some(taken)
    }

    /// The same of a packet whose context was looked up.
    pub(super) fn arrive_parsed(&mut self, slot: u32, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        Exchange::of(packet, datagram.data)
            .is_some_and(|packet| self.arrive(slot, &packet, datagram, None).is_some())
    }

    /// Takes a packet that continues what just came the short way; false if it does not.
    pub(super) fn follow(&mut self, now: Time, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let (Some(deferred), Body::Data(DataSegment { tag: None, data })) = (&self.deferred, packet.body)
        else {
            return false;
        };
        let open = deferred.arrival.is_some() && deferred.departure.is_none();
        if !open || 1 + self.trains.arrivals.len() == LONGEST_TRAIN || self.memory.is_rationed() {
            return false;
        }
        let slot = deferred.slot;
        if self.lookup(&packet.header, datagram.src) != Some(slot) {
            return false;
        }
        let Some(context) = self.contexts.awake_mut(slot).filter(|context| !context.dirty) else {
            return false;
        };
        let mut env = Env {
            now: self.now.max(now),
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        // What the user took is judged by what had come when it took it.
        if let Some(deferred) = &mut self.deferred
            && std::mem::take(&mut deferred.handed)
        {
            context.note_delivery();
        }
        let quietly = self.begun == Some(slot);
        let Some(later) = context.follow(&mut env, (&packet.header, data), datagram, quietly) else {
            return false;
        };
        self.now = env.now;
        let matched = context.is_matched();
        self.trains.arrivals.push(later);
        if matched {
            self.match_arrived(slot);
        }
        true
    }

    /// A regular context that is not dirty, for a command that leaves it so.
    pub(super) fn regular(&mut self, now: Time, id: ContextId) -> Option<(u32, &mut Context)> {
        self.settle_last();
        let slot = self.contexts.find(id)?;
        self.now = self.now.max(now);
        if self.memory.is_rationed() {
            self.ration_regular(slot);
        }
        let context = self.contexts.awake_mut(slot)?;
        if let Some(deferred) = self.deferred.as_mut().filter(|deferred| deferred.slot == slot) {
            context.account_queue(deferred.arrival.as_ref(), deferred.departure.as_mut());
        }
        context.regular.then_some((slot, context))
    }

    /// Where memory is rationed, what a regular context may have is said before its user changes it.
    #[inline(never)]
    fn ration_regular(&mut self, slot: u32) {
        let Some(context) = self.contexts.awake_mut(slot).filter(|context| context.regular) else {
            return;
        };
        if let Some(deferred) = self.deferred.as_mut().filter(|deferred| deferred.slot == slot) {
            context.account_queue(deferred.arrival.as_ref(), deferred.departure.as_mut());
        }
        self.ration(slot, 0);
    }

    pub(super) fn read_express(
        &mut self,
        now: Time,
        id: ContextId,
        max: usize,
    ) -> Option<Result<Read, Error>> {
        let (slot, context) = self.regular(now, id)?;
        let read = context.read(max);
        let update_due = context.update_is_due();
        // Those with something unread are parked only after another turn.
        if update_due || self.is_left_out(slot) {
            self.mark_dirty(slot);
        }
        self.account_if_rationed(slot);
        Some(read)
    }

    pub(super) fn send_express(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        eom: bool,
    ) -> Option<Result<usize, Error>> {
        let (slot, context) = self.regular(now, id)?;
        if data.is_empty() || data.len() as u64 > context.room() {
            return None;
        }
        let sent = context.send(std::mem::take(data), eom);
        self.account_if_rationed(slot);
        self.mark_dirty(slot);
        Some(sent)
    }

    pub(super) fn send_tag_express(
        &mut self,
        now: Time,
        id: ContextId,
        tag: u64,
    ) -> Option<Result<(), Error>> {
        let (slot, context) = self.regular(now, id)?;
        let sent = context.send_tag(tag);
        self.mark_dirty(slot);
        Some(sent)
    }

    /// Sends the one message that waits, if that is all there is to do.
    pub(super) fn flush_express(&mut self, out: &mut TransmitBatch) -> bool {
        let Some(slot) = self.scheduler.lone() else {
            return false;
        };
        // Asked first: nearly every other flush ends here.
        if !self.contexts.awake(slot).is_some_and(|context| context.regular) {
            return false;
        }
        let left = self.leave_first(slot, self.now, out, None);
        if left {
            self.scheduler.pop(self.now);
        }
        left
    }

    /// Lets packets of the context in `slot` leave before anything is accounted for, if nothing else is to be done: those of
    /// `message`, or of what it has queued. Whether they did.
    #[inline(always)]
    pub(super) fn leave_first(
        &mut self,
        slot: u32,
        now: Time,
        out: &mut TransmitBatch,
        message: Option<(Option<u64>, &mut Bytes, Unit)>,
    ) -> bool {
        let others = |deferred: &Deferred| deferred.slot != slot || deferred.departure.is_some();
        if self.unsettled.is_some()
            || self.deferred.as_ref().is_some_and(others)
            || !self.replies.is_empty()
            || self.has_timer_due(now)
        {
            return false;
        }
        if self.memory.is_rationed() {
            let queued = message.as_ref().map_or(0, |(tag, data, _)| octets_of(*tag, data));
            self.ration_departure(slot, queued);
        }
        let Some(context) = self.contexts.awake_mut(slot) else {
            return false;
        };
        let env = Env {
            now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        let acknowledged = self.deferred.is_some();
        context.end_idleness(&env);
        out.begin();
        let left = &mut self.trains.departures;
        let departure = match message {
            Some(message) => context.depart_message(&env, message, out, acknowledged, left),
            None => context.depart(&env, out, acknowledged, left),
        };
        let Some(departure) = departure else {
            return false;
        };
        context.dirty = false;
        self.now = now;
        self.stats.sent += left.len() as u64;
        self.stats.express += left.len() as u64;
        let deferred = self.deferred.get_or_insert(Deferred {
            slot,
            handed: false,
            arrival: None,
            departure: None,
        });
        deferred.departure = Some(departure);
        true
    }

    /// Where memory is rationed, what may be granted is said before `queued` octets more leave.
    #[inline(never)]
    fn ration_departure(&mut self, slot: u32, queued: u64) {
        let arrival = self
            .deferred
            .as_ref()
            .and_then(|deferred| deferred.arrival.as_ref());
        let acknowledged = arrival.map_or(0, PredictedArrival::acknowledges);
        self.ration_ahead(slot, queued, acknowledged);
    }

    #[inline]
    fn account_if_rationed(&mut self, slot: u32) {
        if self.memory.is_rationed() {
            self.account(slot);
        }
    }

    /// Whether no association but that in `slot` waits for a turn: one that has nothing to send has it now.
    #[inline(always)]
    pub(super) fn is_alone(&mut self, slot: u32, now: Time) -> bool {
        let others = |deferred: &Deferred| deferred.slot != slot;
        match self.scheduler.is_empty() && !self.deferred.as_ref().is_some_and(others) {
            true => true,
            false => self.let_other_finish(slot, now),
        }
    }

    /// Its own turn it has not yet: what it owes goes with what is to leave.
    #[inline(never)]
    fn let_other_finish(&mut self, slot: u32, now: Time) -> bool {
        self.catch_up();
        match self.scheduler.lone() {
            Some(other) => other != slot && self.turn_quietly(other, now),
            None => self.scheduler.is_empty(),
        }
    }

    /// The turn of the only association that waits for one, if nothing leaves in it. If something does, nothing was done that its turn
    /// would not do.
    fn turn_quietly(&mut self, slot: u32, now: Time) -> bool {
        if !self.is_settled() || !self.replies.is_empty() || self.has_timer_due(now) {
            return false;
        }
        self.now = self.now.max(now);
        self.ration(slot, 0);
        let Some(context) = self.contexts.awake_mut(slot) else {
            return false;
        };
        let env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        if self.routes.enter(context, env.now) || !context.turn_quietly(&env) {
            return false;
        }
        self.scheduler.pop(now);
        self.settle(slot);
        true
    }
}

/// Octets that a message takes in a queue.
fn octets_of(tag: Option<u64>, data: &[u8]) -> u64 {
    DataSegment { tag, data }.sequence_len() as u64
}
