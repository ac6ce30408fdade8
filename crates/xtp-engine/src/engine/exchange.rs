//! Exchanges of messages the shortest way (see `context::exchange`): for a caller who waits for the next message of an
//! association, and one who sends it. Both do nothing and say so wherever anything else is to be done.

use super::Engine;
use super::express::Deferred;
use crate::context::{Arrival, TaggedMessage, Unit};
use crate::event::ContextId;
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;

impl Engine {
    /// Whether the next packet of association `id` might be a message for [`hand_in`](Self::hand_in).
    #[inline]
    pub(crate) fn awaits_message(&self, id: ContextId) -> bool {
        let context = self.contexts.find(id).and_then(|slot| self.contexts.awake(slot));
        context.is_some_and(|context| {
            context.regular && !context.dirty && context.readable() == 0 && !context.tuning.matched
        })
    }

    /// Takes a datagram that is the next `unit` of association `id`, whose user waits for it and has read all before; no
    /// event tells of it. Of a message in several packets that came joined, `datagram.data` holds all, and one begins every
    /// `stride` octets. `None`, and nothing done, for any other: that is for [`receive`](Self::receive).
    #[inline]
    pub(crate) fn hand_in(
        &mut self,
        now: Time,
        id: ContextId,
        datagram: &Datagram<'_>,
        stride: usize,
        unit: Unit,
    ) -> Option<TaggedMessage> {
        let rest = self.is_settled() && self.replies.is_empty();
        if !rest || self.too_many_whole() {
            return None;
        }
        let slot = self.contexts.find(id)?;
        let context = self.contexts.awake_mut(slot)?;
        let now = self.now.max(now);
        if context.dirty {
            return None;
        }
        let later = &mut self.trains.arrivals;
        let (head, message) = context.take_message(now, datagram, stride, unit, later)?;
        self.now = now;
        self.stats.received += 1 + later.len() as u64;
        let octets = datagram.data.len().min(stride);
        self.deferred = Some(Deferred {
            slot,
            handed: Some(id),
            arrival: Some(Arrival::of(now, datagram, octets, head)),
            departure: None,
        });
        Some(message)
    }

    /// Puts `data` as one `unit`, behind `tag` if there is one, into a packet of `out`, or an untagged message into a train of
    /// few, if that may leave at once and nothing else has to; true if it did. If not, `data` is left and nothing was done: that
    /// is for [`send`](Self::send). To be followed by [`catch_up`](Self::catch_up) when the packet is under way.
    #[inline]
    pub(crate) fn hand_out(
        &mut self,
        now: Time,
        id: ContextId,
        (tag, data): (Option<u64>, &mut Bytes),
        unit: Unit,
        out: &mut TransmitBatch,
    ) -> bool {
        let now = self.now.max(now);
        let Some(slot) = self.contexts.find(id) else {
            return false;
        };
        self.scheduler.is_empty() && self.leave_first(slot, now, out, Some((tag, data, unit)))
    }
}
