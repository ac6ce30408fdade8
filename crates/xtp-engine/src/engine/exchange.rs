//! Exchanges of messages (see `context::express`): for a user who waits for the next one of an association, and one who sends it.

use super::Engine;
use crate::context::{Awaited, Env, Exchange, LONGEST_TRAIN, TaggedMessage, Taken};
use crate::event::{ContextId, Unit};
use bytes::Bytes;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{Format, Header, Key, XDATA_LEN, XdataHead, parse_plain, size};

/// What a user waits for that has read all of an association before: the next of it, a unit of at most so many octets.
pub(crate) type Next = (ContextId, Unit, usize);

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
    pub(crate) fn receive_next(
        &mut self,
        now: Time,
        next: Next,
        joined: &Datagram<'_>,
        stride: usize,
    ) -> Option<TaggedMessage> {
        let Some((data, behind)) = joined
            .data
            .split_at_checked(stride)
            .filter(|cut| !cut.1.is_empty())
        else {
            return match self.predict(now, next, joined, 0) {
                Some(Taken::Handed(message)) => Some(message),
                Some(Taken::Partly) => self.take_rest(next),
                Some(Taken::Stored) => None,
                None => {
                    self.receive(now, *joined);
                    None
                }
            };
        };
        self.receive_train(now, next, Datagram { data, ..*joined }, behind)
    }

    /// The same of several datagrams: `first` and those `behind` it, each as long but the last.
    #[inline(never)]
    fn receive_train(
        &mut self,
        now: Time,
        next: Next,
        first: Datagram<'_>,
        behind: &[u8],
    ) -> Option<TaggedMessage> {
        // What is read as one is to lie in one place.
        let first = Datagram {
            backing: None,
            ..first
        };
        let taken = self.predict(now, next, &first, octets_of_train(&first, behind));
        self.begun = match &taken {
            Some(Taken::Partly) => self.contexts.find(next.0),
            _ => None,
        };
        if taken.is_none() {
            self.receive(now, first);
        }
        let rest = match self.begun {
            Some(slot) => self.follow_all(slot, &first, behind),
            None => behind,
        };
        for data in rest.chunks(first.data.len()) {
            self.receive(now, Datagram { data, ..first });
        }
        match taken {
            Some(Taken::Handed(message)) => Some(message),
            _ if self.begun.take().is_some() => self.take_rest(next),
            _ => None,
        }
    }

    /// Whether datagrams that came joined are those of a short message, which are taken one by one.
    pub(crate) fn is_short_train(joined: &[u8], stride: usize) -> bool {
        joined.len() <= stride * LONGEST_TRAIN && Header::is_of(joined, Format::Xdata)
    }

    /// Header prediction: takes the datagram if it is the packet that is to come next of the association whose user waits.
    /// `octets`: those that came joined.
    #[inline(always)]
    fn predict(&mut self, now: Time, next: Next, datagram: &Datagram<'_>, octets: usize) -> Option<Taken> {
        if !self.is_settled() {
            return None;
        }
        let (id, unit, limit) = next;
        let slot = self.contexts.find(id)?;
        let (head, segment) = XdataHead::parse(datagram.data)?;
        let (header, control) = (head.header(), head.control());
        let key = self.contexts.awake(slot)?.key;
        if header.key != Key::returned(key) {
            return None;
        }
        self.advance(now);
        let awaited = Awaited { unit, limit, octets };
        let packet = Exchange {
            head,
            header: &header,
            control: &control,
            segment: &segment,
        };
        let taken = self.arrive(slot, &packet, datagram, Some(awaited))?;
        self.stats.received += 1;
        Some(taken)
    }

    /// The same of the packets behind the first of a message; octets of those that are not what is to come next.
    fn follow_all<'a>(&mut self, slot: u32, first: &Datagram<'_>, behind: &'a [u8]) -> &'a [u8] {
        let mut rest = behind;
        let Some(context) = self.contexts.awake_mut(slot).filter(|context| !context.dirty) else {
            return rest;
        };
        let key = Key::returned(context.key);
        let mut env = Env {
            now: self.now,
            config: &self.config,
            events: &mut self.events,
            rng: &mut self.rng,
        };
        let followed = &mut self.trains.arrivals;
        while !rest.is_empty() && 1 + followed.len() < LONGEST_TRAIN {
            let (data, behind) = rest.split_at(first.data.len().min(rest.len()));
            let datagram = Datagram { data, ..*first };
            let packet = parse_plain(data).filter(|(header, _)| header.key == key);
            let later =
                packet.and_then(|(header, data)| context.follow(&mut env, (&header, data), &datagram, true));
            let Some(later) = later else {
                break;
            };
            followed.push(later);
            self.stats.received += 1;
            rest = behind;
        }
        rest
    }

    /// What is waited for, if all of it came; else the user is told of what came.
    #[inline]
    fn take_rest(&mut self, (id, unit, limit): Next) -> Option<TaggedMessage> {
        let slot = self.contexts.find(id)?;
        let context = self.contexts.awake_mut(slot)?;
        let mut message = None;
        if let Some(deferred) = &mut self.deferred
            && deferred.slot == slot
            && !context.dirty
        {
            message = context.take_whole(unit, limit);
            deferred.handed = message.is_some();
        }
        self.tell_readable(slot);
        message
    }

    /// The rest of what is waited for does not follow: events tell the user of what came, and of what will.
    pub(super) fn stop_waiting(&mut self) {
        if let Some(slot) = self.begun.take() {
            self.tell_readable(slot);
        }
    }

    /// Tells the user of what came the short way, which leaves everything else as it is.
    fn tell_readable(&mut self, slot: u32) {
        if let Some(context) = self.contexts.awake_mut(slot) {
            context.announce_readable(&mut Env {
                now: self.now,
                config: &self.config,
                events: &mut self.events,
                rng: &mut self.rng,
            });
        }
    }

    /// Puts `data` as one `unit`, behind `tag` if there is one, into a packet of `out`, or without a tag into a train of
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
        self.is_alone(slot, now) && self.leave_first(slot, now, out, Some((tag, data, unit)))
    }
}

/// Octets that lie in datagrams as long as the first of them, which is XDATA.
fn octets_of_train(first: &Datagram<'_>, behind: &[u8]) -> usize {
    let stride = first.data.len();
    let heads = size::packet(XDATA_LEN) + behind.len().div_ceil(stride.max(1)) * size::packet(0);
    (stride + behind.len()).saturating_sub(heads)
}
