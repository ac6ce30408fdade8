//! What the caller who drives waits for: handed over as it comes, if nothing else is to be done, and answered before
//! any bookkeeping. Everything that is not exactly that is left to the general calls.

use super::Arrived;
use super::{Driver, Outlet};
use crate::context::TaggedMessage;
use crate::engine::{Delivery, Next, Welcomed};
use crate::event::ContextId;
use crate::matching::Expectation;
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_core::time::Time;
use xtp_core::transmit::Datagram;

/// An expectation that is open, or what met it.
#[derive(Debug)]
pub(super) enum ExpectationState {
    Open(Expectation),
    /// The end of one that nobody holds came; this is expected still.
    Parted(Expectation, ContextId),
    /// The answer came, END was said.
    Answered(ContextId, Bytes),
    /// The message came from there.
    Came(SocketAddr, Welcomed),
    /// What comes next of an association came.
    Handed(ContextId, TaggedMessage),
}

impl Default for ExpectationState {
    fn default() -> Self {
        Self::Open(Expectation::Anything)
    }
}

/// What the datagrams that were just received meant to the caller that expects something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// They were the engine's: its events tell.
    General,
    /// The end of an association that no program held: nothing is left of it.
    Ended(ContextId),
    /// The answer that is expected: [`Driver::take_answer`].
    Answered(ContextId),
    /// An association that begins with its whole message: [`Driver::take_message`].
    Began(ContextId, SocketAddr),
    /// What comes next of an association: [`Driver::take_next`].
    Handed(ContextId),
}

impl ExpectationState {
    /// What is waited for, if it may be met by one datagram of an association without a context.
    #[inline]
    pub(super) fn open(&self) -> Option<Expectation> {
        match self {
            Self::Open(expectation @ (Expectation::Answer { .. } | Expectation::Message { .. })) => {
                Some(*expectation)
            }
            _ => None,
        }
    }

    /// Whether it was met and its caller has not asked yet.
    fn is_met(&self) -> bool {
        matches!(self, Self::Answered(..) | Self::Came(..) | Self::Handed(..))
    }
}

impl Driver {
    /// From here on this is expected; what was expected before comes in the general way.
    pub fn expect(&mut self, expectation: Expectation) {
        self.awaited = ExpectationState::Open(expectation);
    }

    /// Nothing is expected any more; what came is there to be taken.
    pub fn withdraw(&mut self) {
        if !self.awaited.is_met() {
            self.awaited = ExpectationState::default();
        }
    }

    /// The association whose answer is expected.
    pub fn awaited(&self) -> Option<ContextId> {
        match self.awaited {
            ExpectationState::Open(Expectation::Answer { id, .. }) => Some(id),
            _ => None,
        }
    }

    /// Takes what came; whether it is what comes `next` of an association.
    #[inline]
    pub(super) fn meets_next(&mut self, now: Time, next: Next, arrived: &Arrived<'_>) -> bool {
        let message = self
            .engine
            .receive_next(now, next, &arrived.joined, arrived.stride);
        let Some(message) = message else { return false };
        self.awaited = ExpectationState::Handed(next.0, message);
        true
    }

    /// Takes a datagram; whether it is what is expected. What answers it is in `out` then.
    pub(super) fn meets(&mut self, now: Time, expected: Expectation, datagram: Datagram<'_>) -> bool {
        let src = datagram.src;
        let delivery = self
            .engine
            .receive_expected(now, expected, datagram, &mut self.out);
        let met = match (delivery, expected) {
            (Some(Delivery::Answer(answer)), Expectation::Answer { id, .. }) => {
                ExpectationState::Answered(id, answer)
            }
            (Some(Delivery::Message(welcomed)), _) => ExpectationState::Came(src, welcomed),
            (Some(Delivery::Ended(id)), _) => ExpectationState::Parted(expected, id),
            _ => return false,
        };
        self.awaited = met;
        true
    }

    /// Follows every receive call: sends what answers an expectation that was met, before the bookkeeping; but an END that
    /// [may wait](Self::defer_ends) does.
    pub fn reply(&mut self, now: Time, outlet: &mut impl Outlet) -> Reply {
        let reply = match self.awaited {
            ExpectationState::Parted(expected, id) => {
                self.awaited = ExpectationState::Open(expected);
                self.passing = true;
                return Reply::Ended(id);
            }
            ExpectationState::Answered(id, _) => Reply::Answered(id),
            ExpectationState::Came(peer, ref welcomed) => Reply::Began(welcomed.id, peer),
            // What it acknowledges is accounted for with what its user sends next.
            ExpectationState::Handed(id, _) => return Reply::Handed(id),
            _ => return Reply::General,
        };
        // A request is answered by its user, before the bookkeeping.
        if self.is_stalled() {
            let waits = matches!(reply, Reply::Answered(_)) && self.deferred_end.takes(now, &mut self.out);
            if !waits {
                self.send_out(now, outlet);
            }
            self.engine.catch_up();
        }
        reply
    }

    /// The answer to `id`, if it came as expected.
    pub fn take_answer(&mut self, id: ContextId) -> Option<Bytes> {
        match core::mem::take(&mut self.awaited) {
            ExpectationState::Answered(of, answer) if of == id => Some(answer),
            other => {
                self.awaited = other;
                None
            }
        }
    }

    /// What came next of an association, if it came as expected.
    #[inline]
    pub fn take_next(&mut self) -> Option<TaggedMessage> {
        match core::mem::take(&mut self.awaited) {
            ExpectationState::Handed(_, message) => Some(message),
            other => {
                self.awaited = other;
                None
            }
        }
    }

    /// The association that came as expected, with its message, and from where.
    pub fn take_message(&mut self) -> Option<(SocketAddr, Welcomed)> {
        match core::mem::take(&mut self.awaited) {
            ExpectationState::Came(peer, welcomed) => Some((peer, welcomed)),
            other => {
                self.awaited = other;
                None
            }
        }
    }
}
