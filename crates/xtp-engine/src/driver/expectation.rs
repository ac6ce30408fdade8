//! What the caller who drives waits for: handed over as it comes, if nothing else is to be done, and answered before
//! anything is booked. Everything that is not exactly that is left to the general calls.

use super::{Driver, Outlet};
use crate::engine::Welcomed;
use crate::event::{ContextId, ListenerId};
use crate::time::Time;
use crate::transmit::Datagram;
use bytes::Bytes;
use core::net::SocketAddr;

/// What somebody waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expectation {
    /// Whatever comes.
    #[default]
    Anything,
    /// Whatever comes; but behind an association that begins nothing is taken before its user had a turn, if that may
    /// answer it at once.
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

/// An expectation that was posted, or what met it.
#[derive(Debug, Default)]
pub(super) enum Posted {
    #[default]
    Anything,
    OneByOne,
    Answer {
        id: ContextId,
        limit: usize,
    },
    Message {
        listener: ListenerId,
        limit: usize,
    },
    /// The end of one that nobody holds came; the message is expected still.
    Parted {
        listener: ListenerId,
        limit: usize,
        id: ContextId,
    },
    /// The answer came, END was said.
    Answered(ContextId, Bytes),
    /// The message came from there.
    Came(SocketAddr, Welcomed),
}

/// What the datagrams that were just received meant to whoever posted an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// They were the engine's: its events tell.
    General,
    /// The end of an association nobody held: nothing is left of it.
    Ended(ContextId),
    /// The answer that is expected: [`Driver::take_answer`].
    Answered(ContextId),
    /// An association that begins with its whole message: [`Driver::take_message`].
    Began(ContextId, SocketAddr),
}

impl Posted {
    /// Whether there is something to wait for.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Answer { .. } | Self::Message { .. })
    }

    /// Whether it was met and its caller has not asked yet.
    fn is_met(&self) -> bool {
        matches!(self, Self::Answered(..) | Self::Came(..))
    }
}

impl Driver {
    /// From here on this is expected; whoever expected something before gets it in the general way.
    pub fn expect(&mut self, expectation: Expectation) {
        self.posted = match expectation {
            Expectation::Anything => Posted::Anything,
            Expectation::OneByOne => Posted::OneByOne,
            Expectation::Answer { id, limit } => Posted::Answer { id, limit },
            Expectation::Message { listener, limit } => Posted::Message { listener, limit },
        };
    }

    /// Nobody waits any more; what came is there to be taken.
    pub fn withdraw(&mut self) {
        if !self.posted.is_met() {
            self.posted = Posted::Anything;
        }
    }

    /// The association whose answer is expected.
    pub fn awaited(&self) -> Option<ContextId> {
        match self.posted {
            Posted::Answer { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Takes a datagram if it is what is expected; what answers it is in `out`.
    pub(super) fn meets(&mut self, now: Time, datagram: &Datagram<'_>) -> bool {
        let (engine, out) = (&mut self.engine, &mut self.out);
        let met = match self.posted {
            Posted::Answer { id, limit } => engine
                .receive_answer(now, id, datagram, limit, out)
                .map(|answer| Posted::Answered(id, answer)),
            Posted::Message { listener, limit } => match engine.whose_end(datagram) {
                Some(id) => {
                    engine
                        .receive_end(now, id, datagram)
                        .then_some(Posted::Parted { listener, limit, id })
                }
                None => engine
                    .receive_first(now, listener, datagram, limit, out)
                    .map(|welcomed| Posted::Came(datagram.src, welcomed)),
            },
            _ => None,
        };
        let is_met = met.is_some();
        if let Some(met) = met {
            self.posted = met;
        }
        is_met
    }

    /// Follows every receive call: sends what answers an expectation that was met, before anything is booked.
    pub fn reply(&mut self, now: Time, outlet: &mut impl Outlet) -> Reply {
        let reply = match self.posted {
            Posted::Parted { listener, limit, id } => {
                self.posted = Posted::Message { listener, limit };
                self.passing = true;
                return Reply::Ended(id);
            }
            Posted::Answered(id, _) => Reply::Answered(id),
            Posted::Came(peer, ref welcomed) => Reply::Began(welcomed.id, peer),
            _ => return Reply::General,
        };
        // A request is answered by its user, before anything is booked.
        if self.is_stalled() {
            self.send_out(now, outlet);
            self.engine.catch_up();
        }
        reply
    }

    /// The answer to `id`, if it came as expected.
    pub fn take_answer(&mut self, id: ContextId) -> Option<Bytes> {
        match core::mem::take(&mut self.posted) {
            Posted::Answered(of, answer) if of == id => Some(answer),
            other => {
                self.posted = other;
                None
            }
        }
    }

    /// The association that came as expected, with its message, and from where.
    pub fn take_message(&mut self) -> Option<(SocketAddr, Welcomed)> {
        match core::mem::take(&mut self.posted) {
            Posted::Came(peer, welcomed) => Some((peer, welcomed)),
            other => {
                self.posted = other;
                None
            }
        }
    }
}
