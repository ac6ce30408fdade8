//! The short way through the engine: books that are done when a packet is under way (see `context::express`).
//!
//! At most one packet each way is not in the books at any moment. Every call but those of the exchange itself (receive,
//! read, send, flush) does them first, so nobody can tell.

use super::{Engine, Read};
use crate::context::{Arrival, Car, Context, Departure, Env, Follower};
use crate::error::Error;
use crate::event::ContextId;
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;
use xtp_wire::Packet;

/// Packets of one context whose books are open.
pub(super) struct Books {
    pub(super) slot: u32,
    /// Whose user has the message that arrived already, if he was waiting for it.
    pub(super) handed: Option<ContextId>,
    pub(super) arrival: Option<Arrival>,
    pub(super) departure: Option<Departure>,
}

/// The packets behind the first, of a message of several; empty but while books are open.
#[derive(Default)]
pub(super) struct Trains {
    pub(super) followers: Vec<Follower>,
    pub(super) cars: Vec<Car>,
}

/// Packets that may follow the first before the books are done: what takes more is no small message.
const MOST_FOLLOWERS: usize = 16;

/// Packets of an exchange after which it is asked what memory it keeps.
const LOOK_EVERY: u64 = 16;

impl Engine {
    /// Does what [`flush_ahead`](Self::flush_ahead) left, and the books of packets that took the short way: when these are
    /// under way. Without it the next call does them. Times are those of the packets.
    #[inline]
    pub(crate) fn catch_up(&mut self) {
        self.settle_last();
        self.promote_late();
        if let Some(books) = self.books.take() {
            self.do_books(books);
        }
    }

    #[inline(never)]
    fn do_books(&mut self, mut books: Books) {
        let slot = books.slot;
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        context.book_queue(books.arrival.as_ref(), books.departure.as_mut());
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        if let Some(arrival) = &books.arrival {
            env.now = arrival.now();
            context.book_arrival(&mut env, arrival, &self.trains.followers);
            self.trains.followers.clear();
            if books.handed.is_some() {
                context.note_delivery();
            }
        }
        let Some(departure) = &books.departure else {
            context.regular = false;
            self.mark_dirty(slot);
            return;
        };
        env.now = departure.now();
        let looks = context.stats.packets_sent.is_multiple_of(LOOK_EVERY);
        context.book_departure(&mut env, departure, &self.trains.cars);
        self.trains.cars.clear();
        // As of then: whoever does the books now may do so at another moment.
        let now = std::mem::replace(&mut self.now, departure.now());
        // Message for message an exchange keeps and promises the same: it is enough to look now and then.
        match looks {
            true => self.settle(slot),
            false => self.settle_context(slot),
        }
        self.park_some(1);
        self.now = now;
    }

    /// Takes a packet the short way; false if it has to go the long one.
    pub(super) fn arrive(&mut self, slot: u32, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let Some(context) = self.contexts.awake_mut(slot).filter(|context| context.regular) else {
            return false;
        };
        if self.memory.is_rationed() {
            return false;
        }
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        let Some(arrival) = context.arrive(&mut env, datagram, packet) else {
            return false;
        };
        self.books = Some(Books {
            slot,
            handed: None,
            arrival: Some(arrival),
            departure: None,
        });
        true
    }

    /// Takes a packet that continues what just came the short way; false if it does not.
    pub(super) fn follow(&mut self, now: Time, packet: &Packet<'_>, datagram: &Datagram<'_>) -> bool {
        let Some(books) = &self.books else { return false };
        let open = books.arrival.is_some() && books.departure.is_none();
        if !open || self.trains.followers.len() == MOST_FOLLOWERS {
            return false;
        }
        let slot = books.slot;
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
        if self
            .books
            .as_mut()
            .is_some_and(|books| books.handed.take().is_some())
        {
            context.note_delivery();
        }
        let Some(follower) = context.follow(&mut env, datagram, packet) else {
            return false;
        };
        self.now = env.now;
        self.trains.followers.push(follower);
        true
    }

    /// A regular context that is not dirty, for a command that leaves it so.
    fn regular(&mut self, now: Time, id: ContextId) -> Option<(u32, &mut Context)> {
        self.settle_last();
        let slot = self.contexts.find(id)?;
        self.now = self.now.max(now);
        let context = self.contexts.awake_mut(slot)?;
        if let Some(books) = self.books.as_mut().filter(|books| books.slot == slot) {
            context.book_queue(books.arrival.as_ref(), books.departure.as_mut());
        }
        context.regular.then_some((slot, context))
    }

    /// The same for one that adds to what is to be sent.
    fn regular_to_write(&mut self, now: Time, id: ContextId) -> Option<(u32, &mut Context)> {
        // What may be queued where memory is rationed is told by the general way.
        if self.memory.is_rationed() {
            return None;
        }
        self.regular(now, id)
    }

    pub(super) fn read_express(
        &mut self,
        now: Time,
        id: ContextId,
        max: usize,
    ) -> Option<Result<Read, Error>> {
        let (slot, context) = self.regular(now, id)?;
        let read = context.read(max);
        let update_due = context.reader.update_due;
        // Where contexts are to be parked, those with something unread were left out until their next turn.
        if update_due || self.too_many_whole() {
            self.mark_dirty(slot);
        }
        Some(read)
    }

    pub(super) fn send_express(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        eom: bool,
    ) -> Option<Result<usize, Error>> {
        let (slot, context) = self.regular_to_write(now, id)?;
        if data.is_empty() || data.len() as u64 > context.room() {
            return None;
        }
        let sent = context.send(std::mem::take(data), eom);
        self.mark_dirty(slot);
        Some(sent)
    }

    pub(super) fn send_tag_express(
        &mut self,
        now: Time,
        id: ContextId,
        tag: u64,
    ) -> Option<Result<(), Error>> {
        let (slot, context) = self.regular_to_write(now, id)?;
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
        let others = self.books.as_ref();
        let others = others.is_some_and(|books| books.slot != slot || books.departure.is_some());
        if others
            || self.memory.is_rationed()
            || !self.replies.is_empty()
            || self.next_timer().is_some_and(|at| at <= self.now)
        {
            return false;
        }
        let Some(context) = self.contexts.awake_mut(slot) else {
            return false;
        };
        let env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        let arrival = self.books.as_mut().and_then(|books| books.arrival.take());
        out.begin();
        let departure = context.depart(&env, out, arrival.is_some(), &mut self.trains.cars);
        let left = departure.is_some();
        if left {
            context.dirty = false;
            self.scheduler.pop(self.now);
            let packets = 1 + self.trains.cars.len() as u64;
            self.stats.sent += packets;
            self.stats.express += packets;
        }
        if left || arrival.is_some() {
            self.books = Some(Books {
                slot,
                handed: None,
                arrival,
                departure,
            });
        }
        left
    }
}
