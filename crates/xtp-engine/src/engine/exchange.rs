//! Exchanges of messages (see `context::express`): for a user who waits for the next one of an association, and one who sends it.

use super::Engine;
use crate::context::{Awaited, Context, LONGEST_TRAIN, TaggedMessage, Unit};
use crate::event::ContextId;
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;
use xtp_wire::{Format, Header, Key, XDATA_LEN, XdataHead, size};

/// What a user waits for who has read all that came of an association before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The next of this association.
    pub id: ContextId,
    /// A whole message, or what one packet carries.
    pub unit: Unit,
    /// Most octets of it that the user takes.
    pub limit: usize,
}

/// The user who waits while datagrams are taken, and what it got.
#[derive(Default)]
pub(super) struct Wants {
    open: Option<Open>,
    handed: Option<TaggedMessage>,
}

#[derive(Clone, Copy)]
struct Open {
    slot: u32,
    awaited: Awaited,
    /// The beginning of it came, and nobody was told.
    begun: bool,
}

impl Wants {
    /// What is waited for of the context in `slot`, if nothing of it came.
    #[inline]
    pub(super) fn of(&self, slot: u32) -> Option<Awaited> {
        let open = self.open.filter(|open| open.slot == slot && !open.begun);
        open.map(|open| open.awaited)
    }

    /// Whether what comes in this slot is the rest of what is waited for.
    #[inline]
    pub(super) fn has_begun(&self, slot: u32) -> bool {
        self.open.is_some_and(|open| open.slot == slot && open.begun)
    }

    /// It came.
    #[inline]
    pub(super) fn hand(&mut self, message: TaggedMessage) {
        (self.open, self.handed) = (None, Some(message));
    }

    /// Its beginning came.
    pub(super) fn begin(&mut self) {
        if let Some(open) = &mut self.open {
            open.begun = true;
        }
    }

    /// Events tell of whatever comes.
    pub(super) fn withdraw(&mut self) {
        self.open = None;
    }
}

impl Engine {
    /// Whether what comes next for association `id` might go to a user who waits for it.
    #[inline]
    pub(crate) fn awaits_message(&self, id: ContextId) -> bool {
        let context = self.contexts.find(id).and_then(|slot| self.contexts.awake(slot));
        context.is_some_and(|context| context.regular && context.may_hand_on())
    }

    /// Takes datagrams that came joined, one every `stride` octets, as [`receive`](Self::receive) does, for a user who waits. If what it
    /// waits for came and that is all there is to do, no event tells of it: it is returned. Of whatever else came events tell.
    #[inline]
    pub(crate) fn receive_wanted(
        &mut self,
        now: Time,
        wanted: Wanted,
        datagram: &Datagram<'_>,
        stride: usize,
    ) -> Option<TaggedMessage> {
        let Wanted { id, unit, limit } = wanted;
        let octets = octets_of_train(datagram.data.len(), stride);
        let awaited = Awaited { unit, limit, octets };
        let begun = false;
        self.wanted.open = self.contexts.find(id).map(|slot| Open { slot, awaited, begun });
        if datagram.data.len() <= stride {
            self.receive(now, *datagram);
        } else {
            for data in datagram.data.chunks(stride) {
                // What is read as one lies in one place.
                let backing = None;
                self.receive(
                    now,
                    Datagram {
                        data,
                        backing,
                        ..*datagram
                    },
                );
            }
        }
        match self.wanted.handed.take() {
            None => self.take_rest(),
            message => message,
        }
    }

    /// Whether datagrams that came joined are those of a short message, which are taken one by one.
    pub(crate) fn is_short_train(joined: &[u8], stride: usize) -> bool {
        joined.len() <= stride * LONGEST_TRAIN && Header::is_of(joined, Format::Xdata)
    }

    /// Header prediction: takes the datagram if it is the packet that is to come next of the association whose user waits.
    #[inline(always)]
    pub(super) fn predict(&mut self, now: Time, datagram: &Datagram<'_>) -> bool {
        let Some(Open { slot, .. }) = self.wanted.open.filter(|_| self.is_settled()) else {
            return false;
        };
        let Some((head, segment)) = XdataHead::parse(datagram.data) else {
            return false;
        };
        let own = self.contexts.awake(slot).map(|context| context.key);
        if own.is_none_or(|key| head.header().key != Key::returned(key)) {
            return false;
        }
        self.advance(now);
        self.arrive(slot, (head, &segment), datagram)
    }

    /// What is waited for, if all of it came in several packets; else the user is told of what came.
    #[inline(never)]
    fn take_rest(&mut self) -> Option<TaggedMessage> {
        let Open { slot, awaited, .. } = self.wanted.open.take().filter(|open| open.begun)?;
        let context = self.contexts.awake_mut(slot)?;
        let mut message = None;
        if let Some(deferred) = &mut self.deferred
            && deferred.slot == slot
            && !context.dirty
        {
            message = context.take_whole(awaited.limit);
            deferred.handed = message.is_some();
        }
        self.with(slot, Context::announce_readable);
        message
    }

    /// The rest of what is waited for does not follow: events tell the user of what came, and of what will.
    pub(super) fn stop_waiting(&mut self) {
        if let Some(Open { slot, .. }) = self.wanted.open.take().filter(|open| open.begun) {
            self.with(slot, Context::announce_readable);
        }
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

/// Octets that lie in so many of datagrams of `stride` octets, the first of which is XDATA.
fn octets_of_train(joined: usize, stride: usize) -> usize {
    let count = joined.div_ceil(stride.max(1));
    let heads = size::packet(XDATA_LEN) + count.saturating_sub(1) * size::packet(0);
    joined.saturating_sub(heads)
}
