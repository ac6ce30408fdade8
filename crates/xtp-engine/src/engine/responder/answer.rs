//! The answer leaves: as the last one to a FIRST that said the same, or, the first of its kind, from its context.

use super::super::Engine;
use super::super::turn::copy_of;
use super::first::Likeness;
use super::linger::Relic;
use super::{Kind, Responder, State};
use crate::context::{COPY_LIMIT, Context};
use crate::error::CloseReason;
use crate::event::Event;
use crate::time::Time;
use crate::transmit::{Ecn, Route, TransmitBatch};
use bytes::Bytes;
use core::net::IpAddr;
use xtp_wire::{Control, DELAY_NONE, Format, Header, Key, Options, service, size};

/// The last answer to its kind of FIRST.
pub(super) struct Answer {
    pub(super) kind: Kind,
    /// Known from the second of its kind on, if it can be told from others.
    pub(super) likeness: Option<Likeness>,
    pub(super) compared: bool,
    header: Header,
    /// Control segment and what stands before the data.
    pub(super) head: Vec<u8>,
    /// A message of the user was in it.
    answers: bool,
    /// Most octets of it that leave in one packet like this one.
    room: usize,
    src: Option<IpAddr>,
    ecn: Ecn,
    /// What is left of such a one when it has ended.
    pub(super) relic: Option<Relic>,
}

impl Engine {
    /// Answers, if that is all there is to do.
    pub(in super::super) fn flush_answer(&mut self, out: &mut TransmitBatch) -> bool {
        let now = self.now;
        let due = self.responders.pending.as_ref().is_some_and(Responder::is_due);
        if !due || !self.scheduler.is_empty() || !self.has_nothing_due() {
            return false;
        }
        let Some(responder) = &mut self.responders.pending else {
            return false;
        };
        responder.state = State::Answered { left: now };
        let before = out.begin();
        let data = responder.answer.as_ref().map_or(0, Bytes::len);
        let last = self.responders.answers.last();
        let known = last.filter(|known| known.fits(responder, data, responder.unconfirmed));
        if let Some(known) = known {
            let at = out.arena.len();
            known.write(responder, now, out);
            self.answer_left(out, at, now);
            return true;
        }
        // The first of its kind: as long as ever, and remembered.
        if let Some(responder) = self.responders.pending.take() {
            self.promote_responder(&responder, Some(&mut *out));
            self.stats.sent += out.datagrams_from(before) as u64;
            let slot = self.contexts.find(responder.identity.id);
            let context = slot.and_then(|slot| self.contexts.awake(slot));
            // One that took more than a packet says nothing of those that do not.
            let answer = context.and_then(|context| Answer::of(&responder, out, before, context));
            if let Some(answer) = answer {
                self.responders.answers.put(answer);
            }
        }
        true
    }

    /// The pending one answers at once with what is noted of it, by the last answer, which [fits](Answer::fits).
    #[inline]
    pub(super) fn answer_at_once(&mut self, now: Time, out: &mut TransmitBatch) {
        let (Some(responder), Some(known)) = (&mut self.responders.pending, self.responders.answers.last())
        else {
            return;
        };
        responder.state = State::Answered { left: now };
        out.begin();
        let at = out.arena.len();
        known.write(responder, now, out);
        self.answer_left(out, at, now);
    }

    /// The answer left as the last one did; it begins at `at` in the arena.
    #[inline(always)]
    fn answer_left(&mut self, out: &TransmitBatch, at: usize, now: Time) {
        copy_of(&mut self.responders.sent, &out.arena[at..]);
        self.count_ahead();
        self.let_linger(now);
        self.note_likeness();
        if self
            .responders
            .pending
            .as_ref()
            .is_some_and(|pending| pending.unconfirmed)
        {
            self.end_with_answer(out, at, now);
        }
    }

    /// The answer was the end.
    #[inline(never)]
    fn end_with_answer(&mut self, out: &TransmitBatch, at: usize, now: Time) {
        self.settle_parting_responder();
        let Some(responder) = &mut self.responders.pending else {
            return;
        };
        // Nothing follows; its user is about to go.
        if let Some(linger) = responder.linger_mut() {
            linger.ended = Some(now);
        }
        let mut packet = out.arena[at..].to_vec();
        if let Some(answer) = responder
            .answer
            .as_ref()
            .filter(|answer| answer.len() > COPY_LIMIT)
        {
            packet.extend_from_slice(answer);
        }
        responder.replay = Some(packet.into());
        let id = responder.identity.id;
        self.events.push_back((id, Event::Closed(CloseReason::Normal)));
    }
}

impl Responder {
    /// Whether its answer is due.
    fn is_due(&self) -> bool {
        let answers = self.kind.traffic.service == service::TRANSACTION;
        !self.has_answered() && self.taken && self.read && self.closed == answers
    }
}

impl Answer {
    /// What left in the one train from number `before` on, if it may serve again.
    fn of(responder: &Responder, out: &TransmitBatch, before: usize, context: &Context) -> Option<Self> {
        let (train, packet) = out.only_from(before)?;
        let (header, body) = Header::split(packet).ok()?;
        let answers = responder.answer.is_some();
        let simple = match header.format {
            Format::Cntl => !answers,
            Format::Data | Format::Xdata => answers,
            _ => false,
        };
        let data = responder.answer.as_ref().map_or(0, Bytes::len);
        let head = train.total.checked_sub(size::packet(data))?;
        (simple && train.count == 1 && body.len() >= head).then(|| Self {
            kind: responder.kind.clone(),
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

    /// Whether it serves for a responder that answers with so many octets, which are to be confirmed or not.
    pub(super) fn fits(&self, responder: &Responder, data: usize, unconfirmed: bool) -> bool {
        let ends = self.header.options.contains(Options::END);
        // An address that is not validated is sent three times as much as came; what comes near is left to what counts.
        let modest = size::packet(self.head.len() + data) <= 2 * responder.octets;
        // What is not judged yet was found to be like the one this answered.
        (responder.unjudged || self.kind == responder.kind)
            && (responder.kind.validated || modest)
            && data <= self.room
            && ends == unconfirmed
    }

    /// The packet, into `out`.
    fn write(&self, responder: &Responder, now: Time, out: &mut TransmitBatch) {
        let data = responder.answer.as_ref();
        let len = data.map_or(0, Bytes::len);
        debug_assert_eq!(self.answers, responder.answer.is_some());
        let header = Header {
            key: Key::returned(responder.key),
            sync: responder.identity.sync.wrapping_add(1),
            ..self.header
        };
        let change = |body: &mut [u8]| {
            Control::put_echo(body, responder.sync);
            if self.header.format == Format::Xdata {
                let micros = now.since(responder.arrived).as_micros();
                let micros = u32::try_from(micros).unwrap_or(u32::MAX).min(DELAY_NONE - 1);
                Control::put_delay(body, micros);
            }
        };
        let at = out.write_like(header, &self.head, change, data.iter().map(|data| &data[..]));
        let route = Route {
            dst: responder.kind.src,
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
