//! What a caller waits for goes to it as it comes, without an event, and is answered before anything else is done.
//!
//! A datagram takes the way of every other ([`Engine::receive`]). Where that way would tell the user by events, of an association that
//! is a record (see `pending`), it asks whether this is what is expected, and if so names the slot instead ([`Engine::meets`]). What its
//! user would do next, read and let go, is then done here. Whatever is not simple enough for that is told by events.

use super::Engine;
use super::responder::Welcomed;
use super::slab::Pending;
use crate::event::{ContextId, ListenerId};
use bytes::Bytes;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};

/// What somebody waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expectation {
    /// Whatever comes.
    #[default]
    Anything,
    /// Whatever comes; but behind an association that begins nothing is taken before its user had a turn, if that may
    /// answer it at once. To an [`Engine`] this is [`Anything`](Self::Anything): the order of datagrams is its
    /// [driver's](crate::Driver).
    OneByOne,
    /// The answer of at most `limit` octets to an association of one message.
    Answer {
        /// The association.
        id: ContextId,
        /// Longest answer, octets.
        limit: usize,
    },
    /// An association that comes with its whole message.
    Message {
        /// Where.
        listener: ListenerId,
        /// Longest message, octets.
        limit: usize,
    },
}

/// What met an [`Expectation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The answer, which is read and ends its association: empty if it only confirms.
    Answer(Bytes),
    /// An association that came, is accepted, and whose message is read.
    Message(Welcomed),
    /// To whoever waits for an association: the end came of another, which nobody holds any more, and nothing is left of that. What
    /// was expected is expected still.
    Ended(ContextId),
}

/// What in a packet may meet an expectation.
#[derive(Clone, Copy)]
pub(super) enum Offer {
    /// The answer to an association, and its octets.
    Answer(ContextId, usize),
    /// An association that came at a listener, and the octets of its message.
    Message(ListenerId, usize),
    /// The end of an association that nobody holds.
    End,
}

/// What is expected while a datagram is taken, and the slot of what met it.
#[derive(Default)]
pub(super) struct Expected {
    expectation: Expectation,
    met: Option<u32>,
}

impl Engine {
    /// Takes one datagram as [`receive`](Self::receive) does. If it is what is `expected`, and nothing else is to be done first, no event
    /// tells of it: it is returned, and what answers it is in `out`, where a request that came is answered by its user. `None` if
    /// it is anything else, of which events tell.
    pub(crate) fn receive_expected(
        &mut self,
        now: Time,
        expected: Expectation,
        datagram: Datagram<'_>,
        out: &mut TransmitBatch,
    ) -> Option<Delivery> {
        if !self.memory.is_rationed() && self.may_answer_at_once(self.now.max(now)) {
            self.expected.expectation = expected;
        }
        self.receive(now, datagram);
        self.expected.expectation = Expectation::Anything;
        let slot = self.expected.met.take()?;
        match self.contexts.pending(slot)? {
            Pending::Initiator(_) => self.take_expected_answer(slot, out).map(Delivery::Answer),
            Pending::Responder(record) if record.has_ended() => self.forget_ended(slot).map(Delivery::Ended),
            Pending::Responder(_) => self.welcome(slot, out).map(Delivery::Message),
        }
    }

    /// Whether what came for the record in `slot` is what is expected: then it is delivered at once, and no event tells of it.
    #[inline]
    pub(super) fn meets(&mut self, slot: u32, offer: Offer) -> bool {
        let meets = match (self.expected.expectation, offer) {
            (Expectation::Answer { id, limit }, Offer::Answer(of, octets)) => id == of && octets <= limit,
            (Expectation::Message { listener, limit }, Offer::Message(at, octets)) => {
                listener == at && octets <= limit
            }
            (Expectation::Message { .. }, Offer::End) => true,
            _ => false,
        };
        if meets {
            self.expected.met = Some(slot);
        }
        meets
    }
}
