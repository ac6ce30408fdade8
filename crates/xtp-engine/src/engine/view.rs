//! What can be asked about one association: reading only, and the same whether it has a context, is parked, or is a record.

use super::Engine;
use super::express::Deferred;
use super::slab::{Pending, Seen};
use crate::context::{Context, PredictedArrival};
use crate::error::{CloseReason, Error};
use crate::event::ContextId;
use crate::matching::ReceiveError;
use crate::stats::ContextStats;
use core::net::SocketAddr;

/// One association, to be asked ([`Engine::context`]).
pub struct ContextView<'a> {
    engine: &'a Engine,
    seen: Seen<'a>,
}

impl Engine {
    /// The association `id`, to be asked: as of the last [`flush`](Self::flush) or command, what can be read as of now. A
    /// [driver](crate::Driver::settled) answers as of now.
    ///
    /// # Errors
    ///
    /// [`Error::NoContext`].
    pub fn context(&self, id: ContextId) -> Result<ContextView<'_>, Error> {
        let slot = self.contexts.find(id).ok_or(Error::NoContext)?;
        let seen = self.contexts.seen(slot).ok_or(Error::NoContext)?;
        Ok(ContextView { engine: self, seen })
    }

    /// Whether the peer waits for its octets to be read, so that releasing the association now would abort it.
    pub(crate) fn owes_delivery(&self, id: ContextId) -> Result<bool, Error> {
        let view = self.context(id)?;
        Ok(match view.seen {
            Seen::Record(Pending::Responder(record)) => record.owes_delivery(),
            _ => view.look(Context::owes_delivery),
        })
    }

    /// Octets of the user's that the peer acknowledged, with what a packet says that is not accounted for yet.
    pub(crate) fn octets_acknowledged(&self, id: ContextId) -> Result<u64, Error> {
        let view = self.context(id)?;
        Ok(match view.seen {
            Seen::Record(Pending::Responder(record)) => record.acknowledged(),
            Seen::Whole(context) => context.stats.octets_acknowledged + self.acknowledged_ahead(context),
            _ => view.stats().octets_acknowledged,
        })
    }

    fn acknowledged_ahead(&self, context: &Context) -> u64 {
        let arrival = self.arrival_of(context.id);
        arrival.map_or(0, |arrival| arrival.acknowledges() - context.una())
    }

    /// A packet of this association that is not accounted for yet, and that it has not answered.
    pub(crate) fn arrival_of(&self, id: ContextId) -> Option<&PredictedArrival> {
        let of_it = |deferred: &&Deferred| {
            deferred.departure.is_none() && self.contexts.find(id) == Some(deferred.slot)
        };
        self.deferred.as_ref().filter(of_it)?.arrival.as_ref()
    }
}

impl ContextView<'_> {
    /// Looks at the context, or at the one that it would be.
    fn look<R>(&self, look: impl FnOnce(&Context) -> R) -> R {
        match self.seen {
            Seen::Whole(context) => look(context),
            Seen::Parked(parked) => {
                let mut context = Context::memory();
                parked.clone().unpack_into(&mut context);
                look(&context)
            }
            Seen::Record(record) => look(&self.engine.context_of(record)),
        }
    }

    /// The peer's address.
    pub fn peer(&self) -> SocketAddr {
        match self.seen {
            Seen::Record(record) => record.peer(),
            _ => self.look(|context| context.peer.addr),
        }
    }

    /// Whether the peer has shown that it receives what is sent to its address (§7.3); one that was asked to begin by this end
    /// need not show it.
    pub fn is_proved(&self) -> bool {
        match self.seen {
            Seen::Record(Pending::Initiator(_)) => true,
            Seen::Record(Pending::Responder(record)) => record.is_proved(),
            _ => self.look(|context| !context.is_responder() || context.peer.validated),
        }
    }

    /// Whether an address of the peer's host was proved of late (§7.3), be it by another association.
    pub fn is_of_known_host(&self) -> bool {
        self.engine.validated.contains(self.engine.now, self.peer().ip())
    }

    /// Its priority (§5.4), smaller is more urgent: the more urgent of what both ends say. `None` if neither says one.
    pub fn urgency(&self) -> Option<u16> {
        match self.seen {
            Seen::Record(record) => record.urgency(),
            _ => self.look(Context::urgency),
        }
    }

    /// Octets of user data a full packet carries at present: the path's longest datagram, or what the peer accepts, less the
    /// header. It may change with the path.
    pub fn packet_payload(&self) -> usize {
        self.look(Context::segment_size)
    }

    /// Room left for [`Engine::send`], octets.
    pub fn writable(&self) -> u64 {
        self.look(Context::room)
    }

    /// Octets of this end's stream, from its beginning on, that the peer's host has: what is acknowledged beyond a hole is not among them.
    pub fn confirmed(&self) -> u64 {
        self.look(Context::confirmed)
    }

    /// Octets that can be read at once.
    pub fn readable(&self) -> u64 {
        match self.seen {
            Seen::Record(record) => record.readable(),
            _ => self.look(Context::readable),
        }
    }

    /// Whether a whole message, or all of the peer's stream that will come, can be read at once.
    pub fn holds_message(&self) -> bool {
        match self.seen {
            // It came whole.
            Seen::Record(Pending::Responder(_)) => true,
            _ => self.look(Context::holds_message),
        }
    }

    /// Why no more messages will come than wait, if so, where messages are matched ([`Tuning::matched`](crate::Tuning::matched)).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`] where they are not.
    pub fn no_more_messages(&self) -> Result<Option<ReceiveError>, Error> {
        match self.seen {
            Seen::Whole(context) if context.tuning.matched => Ok(context.no_more_messages()),
            Seen::Parked(parked) if parked.is_matched() => Ok(self.look(Context::no_more_messages)),
            _ => Err(Error::InvalidOption(
                "`Tuning::matched` is not set for this association",
            )),
        }
    }

    /// How it ended, if it did.
    pub fn close_reason(&self) -> Option<CloseReason> {
        match self.seen {
            Seen::Record(record) => record.close_reason(),
            _ => self.look(|context| context.closed.clone()),
        }
    }

    /// Its counters.
    pub fn stats(&self) -> ContextStats {
        self.look(Context::stats_now)
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
