//! A FIRST like the last goes to the acceptor who waits for it in one: what it has to be is compared, not taken apart,
//! and what is certainly new is judged in full later, with the time of its arrival.

use super::super::Engine;
use super::super::admission::Claim;
use super::answer::Answer;
use super::parting::Parting;
use super::{Kind, Responder, SHORT};
use crate::admit::{Credentials, Decision, Verdict};
use crate::event::{ContextId, ListenerId};
use crate::time::Time;
use crate::transmit::{Datagram, TransmitBatch};
use bytes::Bytes;
use core::net::SocketAddr;
use xtp_wire::{Body, ClientId, FirstPlaces, Format, Header, Packet, parse_head, service};

/// The last FIRST of its kind, without its message.
pub(super) struct Likeness {
    /// Everything before the data.
    head: Vec<u8>,
    places: FirstPlaces,
    takes_cookie: bool,
    /// Of the listeners, when this one was found among them.
    changes: u64,
}

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
    /// Takes a datagram that begins an association at `listener` and holds its whole message, of at most `limit` octets,
    /// for a user who waits for both: it is accepted and read. No event tells of it. What answers it at once is in `out`;
    /// a request is answered by its user. `None`, and nothing done, for any other: that is for
    /// [`receive_ahead`](Self::receive_ahead).
    ///
    /// To be followed by [`catch_up`](Self::catch_up), but this may wait while there is a request without its answer, and
    /// while [`is_hosting`](Self::is_hosting).
    pub fn receive_first(
        &mut self,
        now: Time,
        listener: ListenerId,
        datagram: &Datagram<'_>,
        limit: usize,
        out: &mut TransmitBatch,
    ) -> Option<Welcomed> {
        let now = self.now.max(now);
        let (header, payload) = parse_head(datagram.data)?;
        let known = self.responders.answers.last()?;
        let Some(claimed) = known.is_like(&header, payload, listener, datagram) else {
            let other = self.turn_to_client(datagram.src);
            return other
                .then(|| self.receive_first(now, listener, datagram, limit, out))
                .flatten();
        };
        if known.kind.length > limit || self.responders.has_pending() || !self.may_answer_at_once(now) {
            return None;
        }
        if !self.admits(now, &header, claimed.1, datagram) {
            return None;
        }
        let answer = self.responders.answers.last()?;
        let takes_cookie = answer.likeness.as_ref().is_some_and(|first| first.takes_cookie);
        let kind = answer.kind.clone();
        self.now = now;
        let seconds = self.utc_ms() / 1_000;
        self.mint.advance(seconds);
        let source_token = takes_cookie.then(|| self.mint.source_token(seconds, datagram.src));
        // The round trip is looked up when what came before is in the books.
        let identity = self.identity_knowing(datagram.src, None);
        let message = datagram.data.len() - kind.length..datagram.data.len();
        self.responders.datagram.keep(datagram, kind.length);
        let welcomed = Welcomed {
            id: identity.id,
            service: kind.traffic.service,
            port: kind.address.port().unwrap_or(0),
            message: self.responders.datagram.part(message.clone()),
        };
        self.stats.received += 1;
        let responder = Responder::new(identity, kind, &header, message, datagram, now);
        let responder = self.responders.pending.insert(responder);
        responder.source_token = source_token;
        responder.claimed = (Some(claimed.0), Some(claimed.1));
        (responder.taken, responder.read, responder.unjudged) = (true, true, true);
        if welcomed.service == service::ACKNOWLEDGED {
            self.flush_answer(out);
        }
        Some(welcomed)
    }

    /// [`send`](Self::send) of one message and [`close_writer`](Self::close_writer) in one, if `id` is an association whose
    /// request was the last that came, and if its answer, which is then in `out`, is all there is to send; `data` is
    /// empty then. `unconfirmed`: as [`set_unconfirmed_response`](Self::set_unconfirmed_response) before. False, and nothing
    /// done, if not.
    ///
    /// To be followed by [`catch_up`](Self::catch_up), but this may wait while [`is_hosting`](Self::is_hosting).
    pub fn respond_at_once(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        unconfirmed: bool,
        out: &mut TransmitBatch,
    ) -> bool {
        let now = self.now.max(now);
        let Some(pending) = self.responders.find(id) else {
            return false;
        };
        let responds = pending.responds()
            && pending.taken
            && (1..=SHORT).contains(&data.len())
            && self.scheduler.is_empty()
            && self.replies.is_empty();
        let fits = |known: &Answer| known.fits(pending, data.len(), unconfirmed);
        let known = responds && self.responders.answers.last().is_some_and(fits);
        // One that ends the association is worth the long way here: its user goes at once.
        if !responds || !known && !unconfirmed || self.has_timer_due(now) {
            return false;
        }
        let Some(pending) = &mut self.responders.pending else {
            return false;
        };
        self.now = now;
        pending.answer = Some(std::mem::take(data));
        (pending.closed, pending.unconfirmed) = (true, unconfirmed);
        match known {
            true => self.answer_at_once(now, out),
            false => return self.flush_answer(out),
        }
        true
    }

    /// Makes the last answer to this client the last one, if it is another.
    #[inline(never)]
    fn turn_to_client(&mut self, src: SocketAddr) -> bool {
        let another = self.responders.pending.is_none() && self.responders.answers.is_for_another(src);
        if another {
            self.settle_parting_responder();
            self.responders.answers.turn_to(src);
        }
        another && !self.responders.answers.is_for_another(src)
    }

    /// Whether a FIRST like the last would be admitted without being counted.
    fn admits(&mut self, now: Time, header: &Header, client: ClientId, datagram: &Datagram<'_>) -> bool {
        let Some((known, likeness)) = self
            .responders
            .answers
            .last()
            .and_then(|known| Some((known, known.likeness.as_ref()?)))
        else {
            return false;
        };
        let (src, key) = (datagram.src, header.key.value());
        let free = self.has_room_for(false)
            && self
                .responders
                .parting
                .as_ref()
                .is_none_or(Parting::is_remembered)
            && likeness.changes == self.listeners.changes()
            && self.listeners.check(known.kind.listener, header.options).is_ok()
            && (!self.instance.is_young(now) || self.is_local(src))
            && self
                .listeners
                .place_for_stranger(known.kind.listener, src.ip(), true)
                .is_ok()
            && self.demux.foreign(src, key).is_none()
            && self.at_most_once.is_surely_new(now, src, key, client);
        if !free {
            return false;
        }
        // What is listed is not counted, so that asking changes nothing.
        let credentials = Credentials {
            token: false,
            listed: self.validated.contains(now, src.ip()),
            takes_cookie: likeness.takes_cookie,
        };
        let decision = |pressure: &mut crate::admit::Pressure| pressure.decide(now, src.ip(), credentials);
        credentials.listed && decision(&mut self.pressure) == Decision::Accept
    }

    /// Remembers what the pending one came with, if it is the second of its kind: there may be more.
    pub(super) fn note_likeness(&mut self) {
        let changes = self.listeners.changes();
        if let Some(answer) = self
            .responders
            .answers
            .last_mut()
            .filter(|answer| !answer.compared)
        {
            answer.compared = true;
            answer.likeness = Likeness::of(self.responders.datagram.octets(), &answer.kind, changes);
        }
    }

    /// Judges it as of its arrival, if that was put off.
    pub(super) fn judge_late(&mut self, responder: &Responder) {
        if !responder.unjudged {
            return;
        }
        let (arrived, (time, client)) = (responder.arrived, responder.claimed);
        let (utc, src) = (self.utc_ms_at(arrived), responder.kind.src);
        let verdict = self
            .at_most_once
            .judge_first(arrived, utc, src, responder.key, true, time, client);
        debug_assert_eq!(verdict, Verdict::New, "what was seen before was let in");
    }
}

impl Likeness {
    /// Of a FIRST whose context was made; `None` if others like it could not be told.
    pub(super) fn of(octets: &[u8], kind: &Kind, changes: u64) -> Option<Self> {
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

impl Answer {
    /// Whether a FIRST is like the one this answered but for what differs from one to the next; then what it claims.
    #[inline]
    fn is_like(
        &self,
        header: &Header,
        payload: &[u8],
        listener: ListenerId,
        datagram: &Datagram<'_>,
    ) -> Option<(u32, ClientId)> {
        let (kind, likeness) = (&self.kind, self.likeness.as_ref()?);
        let same = kind.listener == listener
            && (datagram.src, datagram.dst) == (kind.src, kind.dst)
            && datagram.ecn == kind.ecn
            && !header.key.is_returned()
            && header.key.value() != 0
            && header.format == Format::First
            && (header.options, header.sort, header.seq) == (kind.options, kind.sort, kind.seq)
            && payload.len() == likeness.head.len() + kind.length;
        if !same {
            return None;
        }
        let claimed = likeness.places.take(&likeness.head, payload);
        claimed.filter(|(stated, _)| *stated != 0)
    }
}
