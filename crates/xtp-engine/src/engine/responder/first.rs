//! A FIRST that was admitted and holds its whole message: a record, of which its user is told, or which goes to who waits for it.

use super::super::Engine;
use super::super::admission::Request;
use super::{Claimed, Responder, SHORT, Terms};
use crate::context::{begins_as_usual, largest_datagram, max_data_to_state};
use crate::event::{ContextId, Event, ListenerId};
use crate::matching::Offer;
use bytes::Bytes;
use core::ops::Range;
use std::sync::Arc;
use xtp_core::Rate;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{Caps, First, Header, Options, Traffic, service};

/// An association that was accepted, and the message it came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcomed {
    /// The association.
    pub id: ContextId,
    /// The service its FIRST names.
    pub service: u8,
    /// Its service number; 0 if it names none.
    pub port: u16,
    /// The message, which is read.
    pub message: Bytes,
}

impl Engine {
    /// Takes in an admitted FIRST without making its context; false, and nothing done, if it may need one.
    pub(in super::super) fn take_whole(
        &mut self,
        request: &Request<'_>,
        first: &First<'_>,
        (listener, validated): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> bool {
        let header = request.header;
        let Some(terms) = self.terms_of(request, first, (listener, validated), datagram) else {
            return false;
        };
        let (end, octets) = (header.packet_len(), first.data.data.len());
        let claimed = (request.claim.identity(), request.claim.takes_cookie);
        let slot = self.begin_responder(terms, header, end - octets..end, claimed, datagram);
        if self
            .matching
            .expected
            .meets(slot, Offer::Message(listener, octets))
        {
            return true;
        }
        let source = datagram.src.ip();
        let Some(record) = self.contexts.responder_mut(slot) else {
            return true;
        };
        let id = record.identity.id;
        record.waits = true;
        record.place = self.listeners.accepted(listener, id, source, validated);
        self.mark_pending_dirty(slot);
        let accepted = Event::Accepted {
            listener,
            peer: datagram.src,
            service: request.service,
            port: request.address.port().unwrap_or(0),
        };
        self.events.push_back((id, accepted));
        self.events.push_back((id, Event::Readable));
        true
    }

    /// What decides the answer to a FIRST, if it brings no part of a context into play that a record has no rule for.
    fn terms_of(
        &self,
        request: &Request<'_>,
        first: &First<'_>,
        (listener, validated): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> Option<Terms> {
        let Request { header, claim, .. } = request;
        let Traffic::Extended(traffic) = &first.traffic else {
            return None;
        };
        let (length, asked) = (
            first.data.data.len(),
            header.options & (Options::DREQ | Options::SREQ),
        );
        let simple = self.config.overrides.express
            // Its message may find no room.
            && !self.memory.is_rationed()
            && !claim.is_special
            && header.seq == 0
            && first.data.tag.is_none()
            && header.options - (Options::DREQ | Options::SREQ | Options::NOCHECK)
                == Options::EOM | Options::WCLOSE
            && (1..=SHORT).contains(&length);
        let served = match traffic.service {
            service::ACKNOWLEDGED => true,
            // What its user takes is said apart from what it answers.
            service::TRANSACTION => !asked.contains(Options::DREQ),
            _ => false,
        };
        let caps = self.config.overrides.caps & traffic.caps;
        let usual = caps.contains(Caps::XDATA) && !self.config.overrides.legacy && traffic.inrate == 0;
        let entry = self
            .listeners
            .get(listener)
            .filter(|_| simple && served && usual)?;
        let options = &entry.options;
        let odd = options.unconfirmed_response
            || options.tuning.no_error
            || options.tuning.no_flow
            || options.tuning.reserve
            || options.tuning.matched
            || options.tuning.out_rate != Rate::default()
            // What the user answers is taken whole.
            || options.tuning.send_capacity < SHORT as u64;
        if odd {
            return None;
        }
        let largest = largest_datagram(self.is_local(datagram.src), datagram.src, &self.config);
        let capacity = options.tuning.bounded_capacity(self.config.memory_limit / 8);
        let most = max_data_to_state(largest, capacity, &options.tuning);
        begins_as_usual(traffic.maxdata, length, most).then(|| Terms {
            src: datagram.src,
            dst: datagram.dst,
            ecn: datagram.ecn,
            listener,
            validated,
            options: header.options,
            sort: header.sort,
            service: traffic.service,
            port: first.address.port().unwrap_or(0),
            max_data: traffic.maxdata,
            tuning: Arc::clone(&entry.tuning),
        })
    }

    /// One that was admitted is in a slot from now on; nobody was told of it. That its FIRST is known has to be remembered before
    /// anything else comes, and what answers it leaves before.
    fn begin_responder(
        &mut self,
        terms: Terms,
        header: &Header,
        message: Range<usize>,
        (claimed, takes_cookie): (Claimed, bool),
        datagram: &Datagram<'_>,
    ) -> u32 {
        let (now, src) = (self.now, datagram.src);
        let source_token = takes_cookie.then(|| self.mint.source_token(self.utc_ms() / 1_000, src));
        let identity = self.identity(src);
        let slot = self.contexts.hold();
        self.waiting.push(now, slot, self.contexts.generation(slot));
        self.heard = slot;
        let octets = message.len();
        let named = (identity, source_token);
        let mut record = self
            .responders
            .record(named, terms, header, message, claimed, now);
        record.datagram.keep(datagram, octets);
        self.contexts.put_responder(slot, record);
        self.unsettled = Some(slot);
        slot
    }

    /// From now on the FIRST of the one in `slot` is known, and what follows it finds it.
    pub(in super::super) fn remember(&mut self, slot: u32) {
        let new = self
            .contexts
            .responder(slot)
            .filter(|record| record.known_at.is_none());
        let Some(record) = new else { return };
        // As of then.
        let now = record.arrived;
        let (src, key, (time, client)) = (record.peer(), record.key, record.claimed);
        if record.half_open {
            self.pressure.half_open_begins();
        }
        let utc = self.utc_ms_at(now);
        self.demux.insert_foreign(src, key, slot);
        let known_at = self.at_most_once.accept(now, utc, src, key, true, time, client);
        if let Some(record) = self.contexts.responder_mut(slot) {
            record.known_at = Some(known_at);
        }
    }

    /// The one in `slot`, whose message came for whoever waits for it, is accepted and read.
    pub(in super::super) fn welcome(&mut self, slot: u32, out: &mut TransmitBatch) -> Option<Welcomed> {
        let record = self.contexts.responder_mut(slot)?;
        let asks = record.terms.service;
        let welcomed = Welcomed {
            id: record.identity.id,
            service: asks,
            port: record.terms.port,
            message: record.take_message(),
        };
        match asks {
            service::ACKNOWLEDGED => self.confirm_at_once(slot, out),
            _ => self.mark_pending_dirty(slot),
        }
        Some(welcomed)
    }

    /// The message in `slot` is read: its peer is told before anything else is done.
    fn confirm_at_once(&mut self, slot: u32, out: &mut TransmitBatch) {
        let before = out.begin();
        match self.answer(slot, out) {
            true => self.had_turn(slot),
            false => self.turn_with_its_context(slot, out),
        }
        self.stats.sent += out.datagrams_from(before) as u64;
    }
}

impl Responder {
    /// Its message, which is read.
    pub(super) fn take_message(&mut self) -> Bytes {
        self.done.read = true;
        self.datagram.part(self.message.clone())
    }
}
