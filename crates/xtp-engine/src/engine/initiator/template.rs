//! FIRST leaves: as the last one to the same peer with the same options, of which a few fields differ from one association
//! to the next, or, the first of its kind, from its context.

use super::super::opening::Prepared;
use super::Initiator;
use crate::context::{COPY_LIMIT, Context};
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
    path_limit: Option<usize>,
    header: Header,
    /// Address and specifier.
    head: Vec<u8>,
    places: FirstPlaces,
    /// Most octets of data that fit.
    room: usize,
    /// Octets that it promised to keep.
    granted: u64,
}

impl Template {
    /// What left in the one train from number `before` on, if it may serve again.
    pub(super) fn of(
        initiator: &Initiator,
        context: &Context,
        out: &TransmitBatch,
        before: usize,
    ) -> Option<Self> {
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
            path_limit: initiator.prepared.identity.path_limit,
            header,
            head: head.to_vec(),
            places: FirstPlaces::of(head)?,
            room: context.room_of_first(head.len()),
            granted: context.reader_charge(),
        })
    }

    pub(super) fn room(&self) -> usize {
        self.room
    }

    pub(super) fn granted(&self) -> u64 {
        self.granted
    }

    pub(super) fn fits(&self, initiator: &Initiator) -> bool {
        let prepared = &initiator.prepared;
        self.peer == initiator.peer
            && self.token == prepared.opening.token
            && self.instance == prepared.opening.instance
            && self.path_limit == prepared.identity.path_limit
            && !prepared.legacy
            && initiator.request.len() <= self.room
            && self.options == initiator.options
    }

    /// The packet, into `out`.
    #[inline]
    pub(super) fn write(&self, initiator: &Initiator, out: &mut TransmitBatch) {
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
            sort: self.options.tuning.sort,
        };
        out.push_message(route, at, data, data.len() <= COPY_LIMIT);
    }
}
