//! A pending responder: an association that came wholly in its FIRST, without a context.
//!
//! `Received -> Answered -> Lingering`. Admission is as ever: whether it was seen before, who listens, whether its source may
//! be answered. Then its user is told of it and handed its message, and what the user does with it is noted (`user`); the answer
//! leaves from the last one to a FIRST that said the same (`answer`). The context is made afterwards, unless nothing but
//! END can follow soon: then it lingers without one (`linger`), and when END has come and its user has let go, what is left of
//! it is put in its place (`parting`). Whatever else happens makes the context: [`promote`](Engine::promote_responder) calls the
//! functions that would have made it, with the times of then.

use super::admission::Claim;
use super::retained::Retained;
use super::{Engine, Read};
use crate::context::{Context, Identity, begins_as_usual, largest_datagram};
use crate::error::Error;
use crate::event::{ContextId, Event, ListenerId};
use crate::time::Time;
use crate::transmit::{Datagram, Ecn, TransmitBatch};
use bytes::Bytes;
use clients::Answers;
use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use linger::{Linger, Step};
use parting::Parting;
use xtp_wire::{
    Address, Body, ClientId, ExtendedTraffic, First, Header, Options, Packet, Tlvs, Token, Traffic, service,
};

mod answer;
mod clients;
mod first;
mod linger;
mod parting;
mod user;
pub use first::Welcomed;

/// Messages and answers up to this length are worth it; they are one packet each.
pub(super) const SHORT: usize = 32 << 10;

/// An association that was admitted, without a context.
struct Responder {
    identity: Identity,
    source_token: Option<Token>,
    arrived: Time,
    kind: Kind,
    /// The peer's key, and the sync of its FIRST.
    key: u64,
    sync: u32,
    /// Octets of the datagram with FIRST, and where in it the message lies.
    octets: usize,
    message: Range<usize>,
    taken: bool,
    read: bool,
    answer: Option<Bytes>,
    closed: bool,
    /// The answer ends the association, if it is one packet.
    unconfirmed: bool,
    /// Time of creation and client, as its FIRST states them.
    claimed: (Option<u32>, Option<ClientId>),
    /// It is certainly new; what judging it changes is put off.
    unjudged: bool,
    state: State,
    /// The answer, for repetitions of FIRST, if it was the end.
    replay: Option<Bytes>,
}

enum State {
    /// Its user may answer.
    Received,
    /// The answer has left; the context is made as soon as there is time.
    Answered { left: Time },
    /// The answer has left, and no context is needed for what can follow soon.
    Lingering { left: Time, linger: Linger },
}

/// What of a FIRST, and of how it was taken, decides what the answer says.
#[derive(Clone, PartialEq)]
struct Kind {
    src: SocketAddr,
    dst: Option<IpAddr>,
    ecn: Ecn,
    listener: ListenerId,
    validated: bool,
    options: Options,
    sort: u16,
    seq: u64,
    length: usize,
    address: Address,
    traffic: ExtendedTraffic<'static>,
}

/// Responders without a context, and what is known from those before.
#[derive(Default)]
pub(super) struct Responders {
    pending: Option<Responder>,
    /// The one before, which is over, if nothing of it is left but what it leaves behind.
    parting: Option<Parting>,
    answers: Answers,
    /// The datagram with FIRST.
    datagram: Retained,
    /// What happened to the one that lingers.
    steps: Vec<(Time, Step)>,
    /// The packet with its END.
    end: Vec<u8>,
    /// The answer as it left, to compare: in debug builds only.
    sent: Vec<u8>,
    /// A datagram is taken by a caller that catches up.
    welcoming: bool,
}

impl Responder {
    /// One that came with `datagram`, in which its message lies at `message`; of which nothing else is known.
    #[inline]
    fn new(
        identity: Identity,
        kind: Kind,
        header: &Header,
        message: Range<usize>,
        datagram: &Datagram<'_>,
        arrived: Time,
    ) -> Self {
        Self {
            identity,
            source_token: None,
            arrived,
            kind,
            key: header.key.value(),
            sync: header.sync,
            octets: datagram.data.len(),
            message,
            taken: false,
            read: false,
            answer: None,
            closed: false,
            unconfirmed: false,
            claimed: (None, None),
            unjudged: false,
            state: State::Received,
            replay: None,
        }
    }

    /// Octets of the user's answer.
    fn answer_len(&self) -> u64 {
        self.answer.as_ref().map_or(0, Bytes::len) as u64
    }

    /// When its answer left.
    fn left(&self) -> Option<Time> {
        match self.state {
            State::Received => None,
            State::Answered { left } | State::Lingering { left, .. } => Some(left),
        }
    }

    fn has_answered(&self) -> bool {
        !matches!(self.state, State::Received)
    }

    fn linger(&self) -> Option<&Linger> {
        match &self.state {
            State::Lingering { linger, .. } => Some(linger),
            _ => None,
        }
    }

    fn linger_mut(&mut self) -> Option<&mut Linger> {
        match &mut self.state {
            State::Lingering { linger, .. } => Some(linger),
            _ => None,
        }
    }

    /// That its FIRST was seen is known already.
    fn is_remembered(&self) -> bool {
        self.linger().is_some_and(|linger| linger.remembered)
    }
}

impl Responders {
    #[inline]
    pub(super) fn has_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Whether there is one, or what one left is not in the books.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.pending.is_none() && self.parting.is_none()
    }

    /// Whether an answer of it may have to leave.
    pub(super) fn has_to_send(&self) -> bool {
        let pending = self.pending.as_ref();
        pending.is_some_and(|pending| !pending.has_answered() && !pending.user_owes_answer())
    }

    /// The one `id` names.
    #[inline]
    fn find(&self, id: ContextId) -> Option<&Responder> {
        self.pending.as_ref().filter(|pending| pending.identity.id == id)
    }
}

impl Engine {
    /// As [`receive`](Self::receive), but an association the datagram begins may be made only by
    /// [`catch_up`](Self::catch_up), which must be called before anything is asked of the engine about it; events are
    /// told and commands are taken as ever.
    pub fn receive_ahead(&mut self, now: Time, datagram: Datagram<'_>) {
        self.responders.welcoming = self.config.express;
        self.receive(now, datagram);
        self.responders.welcoming = false;
    }

    /// Takes in an admitted FIRST without making its context, if everything about it is as expected.
    pub(super) fn welcome(
        &mut self,
        packet: &Packet<'_>,
        first: &First<'_>,
        claim: &Claim,
        listener: ListenerId,
        validated: bool,
        datagram: &Datagram<'_>,
    ) -> bool {
        let Some(kind) = self.kind_of(packet, first, claim, (listener, validated), datagram) else {
            return false;
        };
        if self.responders.answers.is_for_another(datagram.src) {
            self.responders.answers.turn_to(datagram.src);
        }
        let header = &packet.header;
        let seconds = self.utc_ms() / 1_000;
        let source_token = claim
            .takes_cookie
            .then(|| self.mint.source_token(seconds, datagram.src));
        let identity = self.identity(datagram.src);
        let end = header.packet_len();
        self.events.push_back((
            identity.id,
            Event::Accepted {
                listener,
                peer: datagram.src,
                service: first.traffic.service(),
                port: first.address.port().unwrap_or(0),
            },
        ));
        self.events.push_back((identity.id, Event::Readable));
        self.responders.datagram.keep(datagram, first.data.data.len());
        let message = end - first.data.data.len()..end;
        let responder = Responder::new(identity, kind, header, message, datagram, self.now);
        let responder = self.responders.pending.insert(responder);
        responder.source_token = source_token;
        responder.claimed = claim.identity();
        true
    }

    /// What kind of responder a FIRST makes, if it is a simple one and nothing else is to be done.
    fn kind_of(
        &self,
        packet: &Packet<'_>,
        first: &First<'_>,
        claim: &Claim,
        (listener, validated): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> Option<Kind> {
        let header = &packet.header;
        let simple = self.responders.welcoming
            && !self.responders.has_pending()
            && self.scheduler.is_empty()
            // Its message may find no room.
            && !self.memory.is_rationed()
            && !claim.is_special
            && header.options - (Options::DREQ | Options::SREQ | Options::NOCHECK)
                == Options::EOM | Options::WCLOSE
            && matches!(
                first.traffic.service(),
                service::ACKNOWLEDGED | service::TRANSACTION
            )
            && header.seq == 0
            && first.data.tag.is_none()
            && (1..=SHORT).contains(&first.data.data.len());
        let entry = self.listeners.get(listener).filter(|_| simple)?;
        let tuning = &entry.options.tuning;
        // What the user answers is taken whole.
        let roomy = tuning.send_capacity >= SHORT as u64;
        if entry.options.unconfirmed_response || tuning.no_error || tuning.no_flow || tuning.reserve || !roomy
        {
            return None;
        }
        let Traffic::Extended(traffic) = &first.traffic else {
            return None;
        };
        let largest = largest_datagram(self.is_local(datagram.src), datagram.src, &self.config);
        if !begins_as_usual(traffic.maxdata, first.data.data.len(), largest, tuning) {
            return None;
        }
        Some(Kind {
            src: datagram.src,
            dst: datagram.dst,
            ecn: datagram.ecn,
            listener,
            validated,
            options: header.options,
            sort: header.sort,
            seq: header.seq,
            length: first.data.data.len(),
            address: first.address,
            traffic: ExtendedTraffic {
                time: 0,
                tlvs: Tlvs::default(),
                ..*traffic
            },
        })
    }

    /// Makes the context of the pending one.
    pub(super) fn settle_responder(&mut self) {
        if let Some(responder) = self.responders.pending.take() {
            self.promote_responder(&responder, None);
        }
    }

    /// Makes its context, by what admission, its user and END would have done, each with the time of then. The turn in which the
    /// answer left goes into `out`, or for nothing but what it leaves behind.
    fn promote_responder(&mut self, responder: &Responder, out: Option<&mut TransmitBatch>) {
        self.settle_parting_responder();
        if !responder.is_remembered() {
            self.remember(responder);
        }
        let now = std::mem::replace(&mut self.now, responder.arrived);
        // It was let in because memory was not rationed, and its answer may have promised as much.
        let rationed = self.memory.set_rationed(false);
        let (own, shared) = self.responders.datagram.lend();
        let octets = shared.as_deref().unwrap_or(&own);
        let (told, mut events, first) = (self.events.len(), 2, out.is_some());
        if let Ok(packet) = &Packet::parse(octets)
            && let Body::First(first) = &packet.body
        {
            let kind = &responder.kind;
            let datagram = Datagram {
                src: kind.src,
                dst: kind.dst,
                ecn: kind.ecn,
                data: octets,
                backing: shared.as_ref(),
            };
            let claim = Claim::of(&first.traffic);
            let mut identity = responder.identity;
            if responder.unjudged {
                identity.initial_rtt = self.peers.get(kind.src.ip(), responder.arrived).rtt;
            }
            let slot = self.admit_as(
                identity,
                responder.source_token,
                (packet, first, &claim),
                (kind.listener, kind.validated, false),
                &datagram,
            );
            if let Some(slot) = slot {
                self.count_copied(slot, self.responders.datagram.copied());
                self.repeat_for(slot, responder, out);
                events += self.retrace(slot, responder);
            }
        }
        if first {
            // Whether its answer ended it turned out only now.
            self.events.drain(told..told + events);
        } else {
            events += usize::from(responder.replay.is_some());
            debug_assert_eq!(self.events.len(), told + events, "other events than were told");
            self.events.truncate(told);
        }
        self.responders.datagram.take_back(own);
        self.memory.set_rationed(rationed);
        self.now = now;
    }

    /// Counts what was copied before there was a context.
    pub(super) fn count_copied(&mut self, slot: u32, copied: u64) {
        if copied > 0
            && let Some(context) = self.contexts.at(slot)
        {
            context.stats.octets_copied += copied;
        }
    }

    /// What its user did before the answer left, and the turn in which it did.
    fn repeat_for(&mut self, slot: u32, responder: &Responder, out: Option<&mut TransmitBatch>) {
        if responder.taken {
            self.leave_backlog(slot);
        }
        if let Some(context) = self.contexts.at(slot) {
            repeat(context, responder);
        }
        if let Some(left) = responder.left() {
            self.scheduler.remove(slot);
            let expected = std::mem::take(&mut self.responders.sent);
            self.turn_of_then(slot, left, out, &expected);
            self.responders.sent = expected;
        }
    }
}

fn repeat(context: &mut Context, responder: &Responder) {
    if responder.read {
        let read = context.read(usize::MAX);
        debug_assert!(
            matches!(&read, Ok(Read::Data { bytes, eom: true, .. }) if bytes.len() == responder.message.len()),
            "another message than was handed out"
        );
    }
    context.pattern.unconfirmed_response |= responder.unconfirmed;
    if let Some(answer) = &responder.answer {
        let sent = context.send(answer.clone(), true);
        debug_assert_eq!(sent, Ok(answer.len()));
    }
    if responder.closed {
        let closed = context.close_writer();
        debug_assert_eq!(closed, Ok::<(), Error>(()));
    }
}
