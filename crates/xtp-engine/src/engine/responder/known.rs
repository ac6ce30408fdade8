//! A FIRST that says what the last one of its client said, but for the numbers of its association: it is compared, not taken apart.
//! What follows, judging and admitting it, is what every FIRST goes through.

use super::super::Engine;
use super::super::admission::{Claim, Request};
use super::clients::Last;
use super::{Kind, Responder};
use crate::time::Time;
use crate::transmit::Datagram;
use std::sync::Arc;
use xtp_wire::{Body, FirstPlaces, Format, Header, Packet, parse_head};

/// The last FIRST of its kind, without its message.
pub(super) struct Likeness {
    /// Everything before the data.
    head: Vec<u8>,
    places: FirstPlaces,
    takes_cookie: bool,
    /// Of the listeners, when this one was found among them.
    changes: u64,
}

impl Engine {
    /// Takes a FIRST that begins an association, if it says what the last one of its client said; false, and nothing but the time changed, for any
    /// other datagram.
    pub(in super::super) fn take_known_first(&mut self, now: Time, datagram: &Datagram<'_>) -> bool {
        // Its message may find no room.
        if !self.config.overrides.express || self.memory.is_rationed() {
            return false;
        }
        // Of a stranger the check field is looked at once, by whoever takes the packet apart.
        let Some(last) = self.responders.answers.to(datagram.src) else {
            return false;
        };
        let Some((header, payload)) = parse_head(datagram.data) else {
            return false;
        };
        let Some((claim, changes)) = last.claim_if_like(&header, payload, datagram) else {
            return false;
        };
        let terms = Arc::clone(&last.answer.terms);
        // Its listener may be gone.
        if changes != self.listeners.changes() {
            return false;
        }
        self.advance(now);
        // It may be there already.
        if self.demux.foreign(datagram.src, header.key.value()).is_some() {
            return false;
        }
        let request = Request {
            header: &header,
            service: terms.kind.traffic.service,
            address: terms.kind.address,
            claim,
            known: Some(terms),
        };
        self.take_request(&request, None, datagram);
        true
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

    /// What a FIRST claims, if it is like the one this answered but for what differs from one to the next; with it which listeners
    /// there were.
    #[inline]
    fn claim_if_like(
        &self,
        header: &Header,
        payload: &[u8],
        datagram: &Datagram<'_>,
    ) -> Option<(Claim, u64)> {
        let (kind, likeness) = (&self.answer.terms.kind, self.likeness.as_ref()?);
        let same = (datagram.src, datagram.dst) == (kind.src, kind.dst)
            && datagram.ecn == kind.ecn
            && !header.key.is_returned()
            && header.key.value() != 0
            && header.format == Format::First
            && (header.options, header.sort, header.seq) == (kind.options, kind.sort, 0)
            && payload.len() == likeness.head.len() + kind.length;
        if !same {
            return None;
        }
        let (time, client) = likeness.places.take(&likeness.head, payload)?;
        (time != 0).then(|| {
            (
                Claim::usual(time, client, likeness.takes_cookie),
                likeness.changes,
            )
        })
    }
}
