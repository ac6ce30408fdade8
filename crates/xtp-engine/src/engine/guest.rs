//! An association that is wholly in its FIRST is answered before its context is made.
//!
//! Admission is as ever: whether it was seen before, who listens, whether its source may be answered. Then its user is
//! told of it and handed its message, and what he does with it is noted; the answer leaves from a template, the last one
//! to a FIRST that said the same. The context, its tables and its timers come after, made by the functions that would
//! have made them at once, with the times of then; the packet they build is the one that has left.

use super::Engine;
use super::admission::Claim;
use super::stay::Relic;
use super::turn::copy_of;
use crate::context::{COPY_LIMIT, Context, Identity, begins_as_usual, largest_datagram};
use crate::engine::Read;
use crate::error::{CloseReason, Error};
use crate::event::{ContextId, Event, ListenerId};
use crate::time::Time;
use crate::transmit::{Datagram, Ecn, Route, TransmitBatch};
use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
use xtp_wire::{
    Address, Body, ClientId, Control, DELAY_NONE, ExtendedTraffic, First, Format, Header, Key, Options,
    Packet, Tlvs, Token, Traffic, service, size,
};

mod answers;
mod at_once;
pub(super) use answers::Answers;
pub use at_once::Welcomed;

/// Messages and answers up to this length are worth it; they are one packet each.
pub(super) const SHORT: usize = 32 << 10;

/// An association that was admitted and is not made yet.
pub(super) struct Guest {
    pub(super) identity: Identity,
    pub(super) listener: ListenerId,
    pub(super) validated: bool,
    pub(super) source_token: Option<Token>,
    pub(super) arrived: Time,
    pub(super) src: SocketAddr,
    pub(super) dst: Option<IpAddr>,
    pub(super) ecn: Ecn,
    kind: Kind,
    pub(super) key: u64,
    pub(super) sync: u32,
    /// Octets of the datagram he came with, and where in it the message lies.
    pub(super) octets: usize,
    pub(super) message: core::ops::Range<usize>,
    pub(super) taken: bool,
    pub(super) read: bool,
    pub(super) answer: Option<Bytes>,
    pub(super) closed: bool,
    /// The answer ends the association, if it is one packet.
    pub(super) unconfirmed: bool,
    pub(super) left: Option<Time>,
    /// Time of creation and client, as its FIRST states them.
    pub(super) claimed: (Option<u32>, Option<ClientId>),
    /// He is certainly new; what judging him changes is put off.
    unjudged: bool,
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

/// The last answer to its kind of FIRST.
pub(super) struct Answer {
    kind: Kind,
    /// Known from the second of its kind on, if he could be told from others.
    likeness: Option<at_once::Likeness>,
    compared: bool,
    header: Header,
    /// Control segment and what stands before the data.
    pub(super) head: Vec<u8>,
    /// A message of the user was in it.
    answers: bool,
    /// Most octets of it that leave in one packet like this one.
    room: usize,
    src: Option<IpAddr>,
    ecn: Ecn,
    /// What is left of such a guest when he has ended.
    pub(super) relic: Option<Relic>,
}

impl Guest {
    /// One who came with `datagram`, in which his message lies at `message`; of whom nothing else is known.
    #[inline]
    fn new(
        identity: Identity,
        kind: Kind,
        header: &Header,
        message: core::ops::Range<usize>,
        datagram: &Datagram<'_>,
        arrived: Time,
    ) -> Self {
        Self {
            identity,
            listener: kind.listener,
            validated: false,
            source_token: None,
            arrived,
            src: datagram.src,
            dst: datagram.dst,
            ecn: datagram.ecn,
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
            left: None,
            claimed: (None, None),
            unjudged: false,
        }
    }

    /// Octets of the user's answer.
    pub(super) fn answer_len(&self) -> u64 {
        self.answer.as_ref().map_or(0, Bytes::len) as u64
    }

    pub(super) fn has_left(&self) -> bool {
        self.left.is_some()
    }

    /// Whether his user has his request, and owes the answer.
    fn responds(&self) -> bool {
        self.read
            && self.answer.is_none()
            && !self.closed
            && self.left.is_none()
            && self.kind.traffic.service == service::TRANSACTION
    }
}

impl Engine {
    /// As [`receive`](Self::receive), but an association the datagram begins may be made only by
    /// [`catch_up`](Self::catch_up), which must be called before anything is asked of the engine about it; events are
    /// told and commands are taken as ever.
    pub fn receive_ahead(&mut self, now: Time, datagram: Datagram<'_>) {
        if self.answer_pending(now, &datagram) {
            return;
        }
        self.welcoming = self.config.express;
        self.receive(now, datagram);
        self.welcoming = false;
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
        if self.answers.is_for_another(datagram.src) {
            self.answers.turn_to(datagram.src);
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
        self.datagram.keep(datagram, first.data.data.len());
        let message = end - first.data.data.len()..end;
        let guest = Guest::new(identity, kind, header, message, datagram, self.now);
        let guest = self.guest.insert(guest);
        guest.validated = validated;
        guest.source_token = source_token;
        guest.claimed = claim.identity();
        true
    }

    /// What kind of guest a FIRST is, if it is a simple one and nothing else is to be done.
    fn kind_of(
        &self,
        packet: &Packet<'_>,
        first: &First<'_>,
        claim: &Claim,
        (listener, validated): (ListenerId, bool),
        datagram: &Datagram<'_>,
    ) -> Option<Kind> {
        let header = &packet.header;
        let simple = self.welcoming
            && !self.is_ahead()
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

    /// The guest a command is about, if its books allow that the command is only noted.
    fn guest_of(&mut self, now: Time, id: ContextId) -> Option<&mut Guest> {
        let guest = self.guest.as_mut()?;
        if guest.identity.id != id || guest.left.is_some() {
            return None;
        }
        self.now = self.now.max(now);
        Some(guest)
    }

    pub(super) fn accepted_guest(&mut self, id: ContextId) -> bool {
        let now = self.now;
        let guest = self.guest_of(now, id).filter(|guest| !guest.taken);
        guest.map(|guest| guest.taken = true).is_some()
    }

    pub(super) fn read_guest(&mut self, now: Time, id: ContextId, max: usize) -> Option<Read> {
        let guest = self.guest_of(now, id)?;
        if guest.read || guest.message.len() > max {
            return None;
        }
        guest.read = true;
        let message = guest.message.clone();
        Some(Read::Data {
            offset: 0,
            bytes: self.datagram.part(message),
            eom: true,
        })
    }

    pub(super) fn send_to_guest(&mut self, now: Time, id: ContextId, data: &mut Bytes, eom: bool) -> bool {
        let Some(guest) = self.guest_of(now, id).filter(|guest| guest.responds()) else {
            return false;
        };
        if !eom || !(1..=SHORT).contains(&data.len()) {
            return false;
        }
        guest.answer = Some(std::mem::take(data));
        true
    }

    /// The guest's user says whether his answer is to be confirmed, before he gives it.
    pub(super) fn confirm_guest(&mut self, now: Time, id: ContextId, unconfirmed: bool) -> bool {
        let guest = self.guest_of(now, id).filter(|guest| guest.responds());
        guest.map(|guest| guest.unconfirmed = unconfirmed).is_some()
    }

    pub(super) fn close_guest(&mut self, now: Time, id: ContextId) -> bool {
        let guest = self.guest_of(now, id).filter(|guest| guest.answer.is_some());
        guest.map(|guest| guest.closed = true).is_some()
    }

    /// Whether the guest's answer is due.
    fn guest_is_ready(&self) -> bool {
        self.guest.as_ref().is_some_and(|guest| {
            let answers = guest.kind.traffic.service == service::TRANSACTION;
            guest.left.is_none() && guest.taken && guest.read && guest.closed == answers
        })
    }

    /// Whether nothing is to be sent to the guest before its user has answered it.
    pub(super) fn guest_is_patient(&self) -> bool {
        self.guest.as_ref().is_some_and(|guest| {
            guest.left.is_none()
                && guest.read
                && guest.answer.is_none()
                && guest.kind.traffic.service == service::TRANSACTION
                && !guest.kind.options.intersects(Options::SREQ | Options::DREQ)
        })
    }

    /// Whether an association came, whole, that its user has not answered: if he does before anything else comes, no
    /// context need be made at once.
    pub fn is_serving(&self) -> bool {
        self.guest.as_ref().is_some_and(|guest| guest.left.is_none())
    }

    /// Answers the guest, if that is all there is to do.
    pub(super) fn flush_guest(&mut self, out: &mut TransmitBatch) -> bool {
        let idle = self.guest_is_ready()
            && self.scheduler.is_empty()
            && self.replies.is_empty()
            && self.next_timer().is_none_or(|at| at > self.now);
        let now = self.now;
        let Some(guest) = self.guest.as_mut().filter(|_| idle) else {
            return false;
        };
        guest.left = Some(now);
        let before = out.begin();
        let data = guest.answer.as_ref().map_or(0, Bytes::len);
        let known = self
            .answers
            .last()
            .filter(|known| known.fits(guest, data, guest.unconfirmed));
        if let Some(known) = known {
            let at = out.arena.len();
            known.write(guest, now, out);
            self.guest_left(out, at, now);
            return true;
        }
        // The first of its kind: as long as ever, and remembered.
        if let Some(guest) = self.guest.take() {
            self.make(&guest, Some(&mut *out));
            self.stats.sent += out.datagrams_from(before) as u64;
            let slot = self.contexts.find(guest.identity.id);
            let context = slot.and_then(|slot| self.contexts.awake(slot));
            // One that took more than a packet says nothing of those that do not.
            let answer = context.and_then(|context| Answer::of(&guest, out, before, context));
            if let Some(answer) = answer {
                self.answers.put(answer);
            }
        }
        true
    }

    /// The guest's answer left from a template; it begins at `at` in the arena.
    #[inline(always)]
    fn guest_left(&mut self, out: &TransmitBatch, at: usize, now: Time) {
        copy_of(&mut self.left, &out.arena[at..]);
        self.count_ahead();
        self.let_stay(now);
        self.note_likeness();
        if self.guest.as_ref().is_some_and(|guest| guest.unconfirmed) {
            self.end_guest(out, at, now);
        }
    }

    /// His answer was the end.
    #[inline(never)]
    fn end_guest(&mut self, out: &TransmitBatch, at: usize, now: Time) {
        self.settle_parted();
        // Nothing follows; his user is about to go.
        self.stay.ended = self.stay.until.map(|_| now);
        let Some(guest) = &self.guest else { return };
        let mut packet = out.arena[at..].to_vec();
        if let Some(answer) = guest.answer.as_ref().filter(|answer| answer.len() > COPY_LIMIT) {
            packet.extend_from_slice(answer);
        }
        self.stay.replay = Some(packet.into());
        self.events
            .push_back((guest.identity.id, Event::Closed(CloseReason::Normal)));
    }

    /// Makes the context of the guest.
    pub(super) fn settle_guest(&mut self) {
        if let Some(guest) = self.guest.take() {
            self.make(&guest, None);
        }
    }

    /// Does what was put off, and the turn after it if there was one.
    fn make(&mut self, guest: &Guest, out: Option<&mut TransmitBatch>) {
        self.settle_parted();
        if !self.stay.remembered {
            self.judge_late(guest);
        }
        let now = std::mem::replace(&mut self.now, guest.arrived);
        // It was let in because memory was not rationed, and its answer may have promised as much.
        let rationed = self.memory.set_rationed(false);
        let (own, shared) = self.datagram.lend();
        let octets = shared.as_deref().unwrap_or(&own);
        let (told, mut events, first) = (self.events.len(), 2, out.is_some());
        if let Ok(packet) = &Packet::parse(octets)
            && let Body::First(first) = &packet.body
        {
            let datagram = Datagram {
                src: guest.src,
                dst: guest.dst,
                ecn: guest.ecn,
                data: octets,
                backing: shared.as_ref(),
            };
            let claim = Claim::of(&first.traffic);
            let mut identity = guest.identity;
            if guest.unjudged {
                identity.initial_rtt = self.peers.get(guest.src.ip(), guest.arrived).rtt;
            }
            let slot = self.admit_as(
                identity,
                guest.source_token,
                (packet, first, &claim),
                (guest.listener, guest.validated, false),
                &datagram,
            );
            if let Some(slot) = slot {
                self.count_copied(slot, self.datagram.copied());
                self.repeat_for(slot, guest, out);
                events += self.retrace(slot, guest);
            }
        }
        if first {
            // Whether its answer ended it turned out only now.
            self.events.drain(told..told + events);
        } else {
            events += usize::from(self.stay.replay.take().is_some());
            debug_assert_eq!(self.events.len(), told + events, "other events than were told");
            self.events.truncate(told);
        }
        self.datagram.take_back(own);
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

    /// What the user did with the guest.
    fn repeat_for(&mut self, slot: u32, guest: &Guest, out: Option<&mut TransmitBatch>) {
        if guest.taken {
            self.leave_backlog(slot);
        }
        if let Some(context) = self.contexts.at(slot) {
            repeat(context, guest);
        }
        if let Some(left) = guest.left {
            self.scheduler.remove(slot);
            let expected = std::mem::take(&mut self.left);
            self.turn_of_then(slot, left, out, &expected);
            self.left = expected;
        }
    }
}

fn repeat(context: &mut Context, guest: &Guest) {
    if guest.read {
        let read = context.read(usize::MAX);
        debug_assert!(
            matches!(&read, Ok(Read::Data { bytes, eom: true, .. }) if bytes.len() == guest.message.len()),
            "another message than was handed out"
        );
    }
    context.pattern.unconfirmed_response |= guest.unconfirmed;
    if let Some(answer) = &guest.answer {
        let sent = context.send(answer.clone(), true);
        debug_assert_eq!(sent, Ok(answer.len()));
    }
    if guest.closed {
        let closed = context.close_writer();
        debug_assert_eq!(closed, Ok::<(), Error>(()));
    }
}

impl Answer {
    /// What left in the one train from number `before` on, if it may serve again.
    fn of(guest: &Guest, out: &TransmitBatch, before: usize, context: &Context) -> Option<Self> {
        let (train, packet) = out.only_from(before)?;
        let (header, body) = Header::split(packet).ok()?;
        let answers = guest.answer.is_some();
        let simple = match header.format {
            Format::Cntl => !answers,
            Format::Data | Format::Xdata => answers,
            _ => false,
        };
        let data = guest.answer.as_ref().map_or(0, Bytes::len);
        let head = train.total.checked_sub(size::packet(data))?;
        (simple && train.count == 1 && body.len() >= head).then(|| Self {
            kind: guest.kind.clone(),
            likeness: None,
            compared: false,
            header,
            head: body[..head].to_vec(),
            answers,
            room: context.room_of_answer(head),
            src: train.src,
            ecn: train.ecn,
            relic: Relic::of(context),
        })
    }

    /// Whether it serves for a guest who is answered with so many octets, which are to be confirmed or not.
    fn fits(&self, guest: &Guest, data: usize, unconfirmed: bool) -> bool {
        let ends = self.header.options.contains(Options::END);
        // Who is not validated is sent three times as much as came; what comes near is left to those who count.
        let modest = size::packet(self.head.len() + data) <= 2 * guest.octets;
        // Whoever is not judged yet was found to be like the one this answered.
        (guest.unjudged || self.kind == guest.kind)
            && (guest.validated || modest)
            && data <= self.room
            && ends == unconfirmed
    }

    /// The packet, into `out`.
    fn write(&self, guest: &Guest, now: Time, out: &mut TransmitBatch) {
        let data = guest.answer.as_ref();
        let len = data.map_or(0, Bytes::len);
        debug_assert_eq!(self.answers, guest.answer.is_some());
        let header = Header {
            key: Key::returned(guest.key),
            sync: guest.identity.sync.wrapping_add(1),
            ..self.header
        };
        let change = |body: &mut [u8]| {
            Control::put_echo(body, guest.sync);
            if self.header.format == Format::Xdata {
                let micros = now.since(guest.arrived).as_micros();
                let micros = u32::try_from(micros).unwrap_or(u32::MAX).min(DELAY_NONE - 1);
                Control::put_delay(body, micros);
            }
        };
        let at = out.write_like(header, &self.head, change, data.iter().map(|data| &data[..]));
        let route = Route {
            dst: guest.src,
            src: self.src,
            ecn: self.ecn,
        };
        match data {
            Some(data) => {
                out.push_message(route, at, data, len <= COPY_LIMIT);
            }
            None => out.push(route, false, at, &[]),
        }
    }
}
