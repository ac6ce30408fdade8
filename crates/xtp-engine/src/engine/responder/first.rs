//! A FIRST that was admitted and holds its whole message. One like the last goes to the acceptor who waits for it in one: what it has to be is
//! compared, not taken apart.

use super::super::Engine;
use super::super::admission::Claim;
use super::answer::Answer;
use super::clients::Last;
use super::{Kind, Responder, SHORT, Step, Terms};
use crate::admit::{Credentials, Decision, Verdict};
use crate::context::{begins_as_usual, largest_datagram};
use crate::event::{ContextId, Event, ListenerId};
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;
use core::ops::Range;
use std::sync::Arc;
use xtp_wire::{
    Body, ClientId, ExtendedTraffic, First, FirstPlaces, Format, Header, Options, Packet, Tlvs, Traffic,
    parse_head, service,
};

/// The last FIRST of its kind, without its message.
pub(super) struct Likeness {
    /// Everything before the data.
    head: Vec<u8>,
    places: FirstPlaces,
    takes_cookie: bool,
    /// Of the listeners, when this one was found among them.
    changes: u64,
}

/// What a FIRST claims: a time of creation, a client; and whether it takes a cookie.
type Claimed = ((Option<u32>, Option<ClientId>), bool);

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
        packet: &Packet<'_>,
        first: &First<'_>,
        claim: &Claim,
        (listener, validated): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> bool {
        let header = &packet.header;
        let Some(terms) = self.terms_of(header, first, claim, (listener, validated), datagram) else {
            return false;
        };
        let end = header.packet_len();
        let message = end - first.data.data.len()..end;
        let claimed = (claim.identity(), claim.takes_cookie);
        let slot = self.begin_responder(terms, header, message, claimed, datagram);
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
            service: first.traffic.service(),
            port: first.address.port().unwrap_or(0),
        };
        self.events.extend([(id, accepted), (id, Event::Readable)]);
        true
    }

    /// What decides the answer to a FIRST, if it is a simple one.
    fn terms_of(
        &mut self,
        header: &Header,
        first: &First<'_>,
        claim: &Claim,
        (listener, validated): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> Option<Arc<Terms>> {
        let length = first.data.data.len();
        let simple = self.config.express
            // Its message may find no room.
            && !self.memory.is_rationed()
            && !claim.is_special
            && header.seq == 0
            && first.data.tag.is_none();
        let Traffic::Extended(traffic) = &first.traffic else {
            return None;
        };
        let kind = Kind {
            src: datagram.src,
            dst: datagram.dst,
            ecn: datagram.ecn,
            listener,
            validated,
            options: header.options,
            sort: header.sort,
            length,
            address: first.address,
            traffic: ExtendedTraffic {
                time: 0,
                tlvs: Tlvs::default(),
                ..*traffic
            },
        };
        let known = self.responders.answers.to(datagram.src).filter(|_| simple);
        if let Some(known) = known.filter(|known| known.answer.terms.kind == kind) {
            return Some(Arc::clone(&known.answer.terms));
        }
        let suits = simple
            && header.options - (Options::DREQ | Options::SREQ | Options::NOCHECK)
                == Options::EOM | Options::WCLOSE
            && [service::ACKNOWLEDGED, service::TRANSACTION].contains(&traffic.service)
            && (1..=SHORT).contains(&length);
        let entry = self.listeners.get(listener).filter(|_| suits)?;
        let mut tuning = entry.options.tuning.clone();
        tuning.bound(self.config.memory_limit / 8);
        // What the user answers is taken whole.
        let roomy = tuning.send_capacity >= SHORT as u64;
        let largest = largest_datagram(self.is_local(datagram.src), datagram.src, &self.config);
        let odd = entry.options.unconfirmed_response || tuning.no_error || tuning.no_flow || tuning.reserve;
        let usual = !odd && roomy && begins_as_usual(traffic.maxdata, length, largest, &tuning);
        usual.then(|| Arc::new(Terms { kind, tuning }))
    }

    /// One that was admitted is in a slot from now on, and its FIRST is known; nobody was told of it.
    fn begin_responder(
        &mut self,
        terms: Arc<Terms>,
        header: &Header,
        message: Range<usize>,
        ((time, client), takes_cookie): Claimed,
        datagram: &Datagram<'_>,
    ) -> u32 {
        let (now, utc, src) = (self.now, self.utc_ms(), datagram.src);
        let key = header.key.value();
        let source_token = takes_cookie.then(|| self.mint.source_token(utc / 1_000, src));
        let identity = self.identity(src);
        self.at_most_once.accept(now, utc, src, key, true, time, client);
        let slot = self.contexts.hold();
        self.demux.insert_foreign(src, key, slot);
        if !terms.kind.validated {
            self.pressure.half_open_begins();
        }
        let until = self.waiting.push(now, slot, self.contexts.generation(slot));
        self.heard = slot;
        let octets = terms.kind.length;
        let named = (identity, source_token);
        let mut record = self
            .responders
            .record(named, terms, header, message, (now, until));
        record.datagram.keep(datagram, octets);
        self.contexts.put_responder(slot, record);
        slot
    }

    /// Takes a datagram that begins an association at `listener` and holds its whole message, of at most `limit` octets,
    /// for a user who waits for both: it is accepted and read. No event tells of it. What answers it at once is in `out`;
    /// a request is answered by its user. `None`, and nothing done, for any other: that is for [`receive`](Self::receive).
    pub(crate) fn receive_first(
        &mut self,
        now: Time,
        listener: ListenerId,
        datagram: &Datagram<'_>,
        limit: usize,
        out: &mut TransmitBatch,
    ) -> Option<Welcomed> {
        let now = self.now.max(now);
        let (header, payload) = parse_head(datagram.data)?;
        let known = self.responders.answers.to(datagram.src)?;
        let (time, client) = known.is_like(&header, payload, listener, datagram)?;
        let (terms, likeness) = (Arc::clone(&known.answer.terms), known.likeness.as_ref()?);
        let (takes_cookie, changes) = (likeness.takes_cookie, likeness.changes);
        let kind = &terms.kind;
        let usual = kind.length <= limit && changes == self.listeners.changes() && !self.memory.is_rationed();
        if !usual || !self.may_answer_at_once(now) {
            return None;
        }
        if !self.admits(now, &header, (time, client), takes_cookie, kind) {
            return None;
        }
        self.now = now;
        self.stats.received += 1;
        self.mint.advance(self.utc_ms() / 1_000);
        let (asks, port) = (kind.traffic.service, kind.address.port().unwrap_or(0));
        let message = datagram.data.len() - kind.length..datagram.data.len();
        let claimed = ((Some(time), Some(client)), takes_cookie);
        let slot = self.begin_responder(terms, &header, message, claimed, datagram);
        let record = self.contexts.responder_mut(slot)?;
        let welcomed = Welcomed {
            id: record.identity.id,
            service: asks,
            port,
            message: record.take_message(),
        };
        record.steps.push((now, Step::Read));
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

    /// Whether a FIRST like the last is admitted, which nobody counts.
    fn admits(
        &mut self,
        now: Time,
        header: &Header,
        (time, client): (u32, ClientId),
        takes_cookie: bool,
        kind: &Kind,
    ) -> bool {
        let (src, key, listener) = (kind.src, header.key.value(), kind.listener);
        let free = self.has_room_for(false)
            && self.listeners.check(listener, header.options).is_ok()
            && (!self.instance.is_young(now) || self.is_local(src))
            && self
                .listeners
                .place_for_stranger(listener, src.ip(), true)
                .is_ok()
            && self.demux.foreign(src, key).is_none();
        // What is listed is not counted, so that asking changes nothing.
        let credentials = Credentials {
            token: false,
            listed: free && self.validated.contains(now, src.ip()),
            takes_cookie,
        };
        credentials.listed
            && self.pressure.decide(now, src.ip(), credentials) == Decision::Accept
            // The same again if it is judged once more for this.
            && self.at_most_once.judge_first(
                now,
                self.utc_ms_at(now),
                src,
                key,
                true,
                Some(time),
                Some(client),
            ) == Verdict::New
    }
}

impl Likeness {
    /// Of a FIRST whose context was made; `None` if others like it could not be told.
    fn of(octets: &[u8], kind: &Kind, changes: u64) -> Option<Self> {
        let Body::First(first) = Packet::parse(octets).ok()?.body else {
            return None;
        };
        let claim = Claim::of(&first.traffic);
        let (Some(_), Some(client)) = claim.identity() else {
            return None;
        };
        let (_, payload) = parse_head(octets)?;
        let head = payload.get(..payload.len().checked_sub(kind.length)?)?;
        let plain = !claim.has_token() && !kind.validated && client.n != 0;
        let places = FirstPlaces::of(head).filter(|_| plain)?;
        Some(Self {
            head: head.to_vec(),
            places,
            takes_cookie: claim.takes_cookie,
            changes,
        })
    }
}

impl Last {
    /// Remembers what one came with that is answered so, if it is the second of its kind: there may be more.
    pub(super) fn note_likeness(&mut self, responder: &Responder, changes: u64) {
        if !std::mem::replace(&mut self.compared, true) {
            self.likeness = Likeness::of(responder.datagram.octets(), &responder.terms.kind, changes);
        }
    }

    /// Whether a FIRST is like the one this answered but for what differs from one to the next; then what it claims.
    #[inline]
    fn is_like(
        &self,
        header: &Header,
        payload: &[u8],
        listener: ListenerId,
        datagram: &Datagram<'_>,
    ) -> Option<(u32, ClientId)> {
        let Answer { terms, .. } = &*self.answer;
        let (kind, likeness) = (&terms.kind, self.likeness.as_ref()?);
        let same = kind.listener == listener
            && (datagram.src, datagram.dst) == (kind.src, kind.dst)
            && datagram.ecn == kind.ecn
            && !header.key.is_returned()
            && header.key.value() != 0
            && header.format == Format::First
            && (header.options, header.sort, header.seq) == (kind.options, kind.sort, 0)
            && payload.len() == likeness.head.len() + kind.length;
        if !same {
            return None;
        }
        let claimed = likeness.places.take(&likeness.head, payload);
        claimed.filter(|(stated, _)| *stated != 0)
    }
}

impl Responder {
    /// Its message, which is read.
    pub(super) fn take_message(&mut self) -> Bytes {
        self.read = true;
        self.datagram.part(self.message.clone())
    }
}
