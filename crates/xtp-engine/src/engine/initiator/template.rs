//! FIRST leaves: as the last one to the same peer with the same options, of which a few fields differ from one association
//! to the next, or, the first of its kind, from its context.

use super::super::Engine;
use super::super::opening::Prepared;
use super::super::turn::copy_of;
use super::{Initiator, PATIENCE, State};
use crate::context::COPY_LIMIT;
use crate::event::ContextId;
use crate::options::OpenOptions;
use crate::transmit::{Ecn, Route, TransmitBatch};
use core::net::SocketAddr;
use core::num::NonZeroU64;
use xtp_wire::{FirstPlaces, Header, Key, Token};

/// The last FIRST of its kind.
pub(super) struct Template {
    peer: SocketAddr,
    options: OpenOptions,
    token: Option<Token>,
    instance: Option<NonZeroU64>,
    header: Header,
    /// Address and specifier.
    head: Vec<u8>,
    places: FirstPlaces,
    /// Most octets of data that fit.
    room: usize,
}

impl Engine {
    /// Sends FIRST of what was asked for, if that is all there is to do.
    pub(in super::super) fn flush_due(&mut self, out: &mut TransmitBatch) -> bool {
        let now = self.now;
        let pending = self.initiators.pending.as_ref();
        let due = |last: &Initiator| matches!(last.state, State::Due) && now < last.asked + PATIENCE;
        if !pending.is_some_and(due) {
            return false;
        }
        let over = self.lone_that_is_over();
        if over.is_none() && !self.scheduler.is_empty() || !self.has_nothing_due() {
            return false;
        }
        let Some(initiator) = &mut self.initiators.pending else {
            return false;
        };
        let template = self.initiators.template.as_ref();
        let known = template.filter(|template| template.fits(initiator));
        if known.is_none() && over.is_some() {
            return false;
        }
        initiator.state = State::Sent {
            left: now,
            until: None,
        };
        let before = out.begin();
        if let Some(template) = known {
            let at = out.arena.len();
            template.write(initiator, out);
            copy_of(&mut initiator.first, &out.arena[at..]);
            self.count_ahead();
            self.let_wait();
            if let Some(slot) = over {
                self.see_off(slot, out);
            }
            return true;
        }
        // The first of its kind: as long as ever, and remembered.
        if let Some(initiator) = self.initiators.pending.take() {
            self.initiators.templates += 1;
            self.promote(&initiator, Some(&mut *out));
            self.stats.sent += out.datagrams_from(before) as u64;
            self.initiators.template = Template::of(&initiator, out, before).map(|template| Template {
                room: self.room_of_first(initiator.id(), template.head.len()),
                ..template
            });
        }
        true
    }

    /// The only context that is to have a turn, if all that is left to do about it is to put it away.
    fn lone_that_is_over(&self) -> Option<u32> {
        let slot = self.scheduler.lone()?;
        let context = self.contexts.awake(slot)?;
        (context.is_disposable() && context.is_quiet_for_good(self.now)).then_some(slot)
    }

    /// Its turn, once what was begun has the slot it was promised.
    fn see_off(&mut self, slot: u32, out: &mut TransmitBatch) {
        let unmade = |last: &mut Initiator| last.slot.is_none();
        if let Some(initiator) = self.initiators.pending.take_if(unmade) {
            self.promote(&initiator, None);
        }
        self.scheduler.remove(slot);
        self.turn(slot, out);
        self.settle_last();
    }

    fn room_of_first(&self, id: ContextId, ahead: usize) -> usize {
        let slot = self.contexts.find(id);
        let context = slot.and_then(|slot| self.contexts.awake(slot));
        context.map_or(0, |context| context.room_of_first(ahead))
    }
}

impl Template {
    /// What left in the one train from number `before` on, if it may serve again.
    fn of(initiator: &Initiator, out: &TransmitBatch, before: usize) -> Option<Self> {
        let (train, packet) = out.only_from(before)?;
        if train.count != 1 || train.src.is_some() || train.ecn != Ecn::NotEct {
            return None;
        }
        let opening = &initiator.prepared.opening;
        let (header, body) = Header::split(packet).ok()?;
        let head = &body[..(header.dlen as usize).checked_sub(initiator.request.len())?];
        Some(Self {
            peer: initiator.peer,
            options: initiator.options.clone(),
            token: opening.token,
            instance: opening.instance,
            header,
            head: head.to_vec(),
            places: FirstPlaces::of(head)?,
            room: 0,
        })
    }

    pub(super) fn room(&self) -> usize {
        self.room
    }

    fn fits(&self, initiator: &Initiator) -> bool {
        let prepared = &initiator.prepared;
        self.peer == initiator.peer
            && self.token == prepared.opening.token
            && self.instance == prepared.opening.instance
            && !prepared.legacy
            && initiator.request.len() <= self.room
            && self.options == initiator.options
    }

    /// The packet, into `out`.
    #[inline]
    fn write(&self, initiator: &Initiator, out: &mut TransmitBatch) {
        let Prepared {
            identity, opening, ..
        } = &initiator.prepared;
        let data = &initiator.request;
        let header = Header {
            key: Key::own(identity.key),
            sync: initiator.sync(),
            ..self.header
        };
        let change = |body: &mut [u8]| {
            if let Some(client) = opening.client {
                self.places.put(body, opening.time, client);
            }
        };
        let at = out.write_like(header, &self.head, change, [&data[..]]);
        let route = Route {
            dst: initiator.peer,
            src: None,
            ecn: Ecn::NotEct,
        };
        out.push_message(route, at, data, data.len() <= COPY_LIMIT);
    }
}
