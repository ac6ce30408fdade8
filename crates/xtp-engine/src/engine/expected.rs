//! What a caller waits for goes to it as it comes, without an event, and is answered before anything else is done.
//!
//! A datagram takes the way of every other ([`Engine::receive`]). Where that way would tell the user by events, of an association that
//! is a record (see `pending`), it asks whether this is what is expected, and if so names the slot instead
//! ([`Expected::meets`](crate::matching::Expected::meets)). What its user would do next, read and let go, is then done here. What comes
//! next of an association with a context is predicted (see `exchange`). Whatever is not simple enough for that is told by events.

use super::Engine;
use super::responder::Welcomed;
use super::slab::Pending;
use crate::event::ContextId;
use crate::matching::Expectation;
use bytes::Bytes;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};

/// What met an [`Expectation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The answer, which is read and ends its association: empty if it only confirms.
    Answer(Bytes),
    /// An association that came, is accepted, and whose message is read.
    Message(Welcomed),
    /// To a caller that waits for an association: the end came of another, which no program holds any more, and nothing is left of that.
    /// What was expected is expected still.
    Ended(ContextId),
}

impl Engine {
    /// Takes one datagram as [`receive`](Self::receive) does. If it is what is `expected`, and nothing else is to be done first, no event
    /// tells of it: it is returned, and what answers it is in `out`, where a request that came is answered by its user. `None` if
    /// it is anything else, of which events tell. [`Expectation::Next`] is for [`receive_next`](Self::receive_next).
    pub(crate) fn receive_expected(
        &mut self,
        now: Time,
        expected: Expectation,
        datagram: Datagram<'_>,
        out: &mut TransmitBatch,
    ) -> Option<Delivery> {
        if !self.memory.is_rationed() && self.may_answer_at_once(self.now.max(now)) {
            self.matching.expected.open(expected);
        }
        self.receive(now, datagram);
        let slot = self.matching.expected.close()?;
        match self.contexts.pending(slot)? {
            Pending::Initiator(_) => self.take_expected_answer(slot, out).map(Delivery::Answer),
            Pending::Responder(record) if record.has_ended() => self.forget_ended(slot).map(Delivery::Ended),
            Pending::Responder(_) => self.welcome(slot, out).map(Delivery::Message),
        }
    }
}
