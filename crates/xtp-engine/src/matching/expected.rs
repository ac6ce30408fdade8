//! What the caller that drives an endpoint waits for: the one pending receive that is met without an event.

use crate::event::{ContextId, ListenerId, Unit};

/// What a caller that drives an endpoint waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expectation {
    /// Whatever comes.
    #[default]
    Anything,
    /// Whatever comes; but behind an association that begins nothing is taken before its user had a turn, if that may
    /// answer it at once. To an [`Engine`](crate::Engine) this is [`Anything`](Self::Anything): the order of datagrams is its
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
    /// What comes next of an association, of which all that came before was read.
    Next {
        /// The association.
        id: ContextId,
        /// A whole message, or what came together.
        unit: Unit,
        /// Most octets of it that the user takes.
        limit: usize,
    },
}

/// What in a packet may meet an expectation.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    /// The answer to an association, and its octets.
    Answer(ContextId, usize),
    /// An association that came at a listener, and the octets of its message.
    Message(ListenerId, usize),
    /// The end of an association that no program holds.
    End,
}

/// What is expected while a datagram is taken, and the slot of what met it.
#[derive(Default)]
pub(crate) struct Expected {
    expectation: Expectation,
    met: Option<u32>,
}

impl Expected {
    /// What comes is offered to `expectation` until [`close`](Self::close).
    pub(crate) fn open(&mut self, expectation: Expectation) {
        self.expectation = expectation;
    }

    /// The slot of what met it, if anything did; nothing is expected any more.
    pub(crate) fn close(&mut self) -> Option<u32> {
        self.expectation = Expectation::Anything;
        self.met.take()
    }

    /// Whether what came for the record in `slot` is what is expected: then it is delivered at once, and no event tells of it.
    #[inline]
    pub(crate) fn meets(&mut self, slot: u32, offer: Offer) -> bool {
        let meets = match (self.expectation, offer) {
            (Expectation::Answer { id, limit }, Offer::Answer(of, octets)) => id == of && octets <= limit,
            (Expectation::Message { listener, limit }, Offer::Message(at, octets)) => {
                listener == at && octets <= limit
            }
            (Expectation::Message { .. }, Offer::End) => true,
            _ => false,
        };
        if meets {
            self.met = Some(slot);
        }
        meets
    }
}

#[cfg(test)]
#[path = "expected_tests.rs"]
mod tests;
