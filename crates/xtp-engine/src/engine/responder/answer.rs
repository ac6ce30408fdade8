//! The answer leaves: as the last one to a FIRST that said the same. The first of its kind is that of a context.

use super::super::Engine;
use super::super::pending::PATIENCE;
use super::super::turn::copy_of;
use super::{Responder, Step, Terms};
use crate::context::{COPY_LIMIT, Context, State};
use crate::error::CloseReason;
use crate::event::Event;
use crate::time::Time;
use crate::time_wait::TimeWait;
use crate::transmit::{Ecn, Route, TransmitBatch};
use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use xtp_wire::{Control, DELAY_NONE, Format, Header, Key, Options, size};

/// The last answer to its kind of FIRST.
pub(super) struct Answer {
    pub(super) terms: Arc<Terms>,
    header: Header,
    /// Control segment and what stands before the data.
    head: Vec<u8>,
    /// A message of the user was in it.
    answers: bool,
    /// Most octets of it that leave in one packet like this one.
    room: usize,
    src: Option<IpAddr>,
    ecn: Ecn,
    urgency: Option<u16>,
    after_end: AfterEnd,
}

/// What is left of those it answered, when they have ended.
struct AfterEnd {
    wait: TimeWait,
    /// END gives a round trip.
    samples: bool,
}

impl Engine {
    /// The one in `slot` is answered as the last one of its kind was; false, and nothing done, if there was none.
    pub(super) fn answer(&mut self, slot: u32, out: &mut TransmitBatch) -> bool {
        let (now, whole) = (self.now, self.contexts.whole());
        let Some(record) = self.contexts.responder_mut(slot) else {
            return false;
        };
        let known = self.responders.answers.to(record.peer());
        // Where contexts are to be parked, what waits is to be one.
        let Some(known) =
            known.filter(|known| whole <= self.config.overrides.max_whole && known.answer.fits(record))
        else {
            return false;
        };
        let at = out.arena.len();
        known.answer.write(record, now, out);
        known.note_likeness(record, self.listeners.changes());
        copy_of(&mut record.sent, &out.arena[at..]);
        record.answered = Some((now, Arc::clone(&known.answer)));
        record.steps.push((now, Step::Answer));
        self.stats.express += 1;
        if record.unconfirmed {
            self.end_with_answer(slot, &out.arena[at..]);
        }
        true
    }

    /// The answer was the end; what of its packet lies in one place is `head`.
    #[inline(never)]
    fn end_with_answer(&mut self, slot: u32, head: &[u8]) {
        let now = self.now;
        let Some(record) = self.contexts.responder_mut(slot) else {
            return;
        };
        record.ended = Some(now);
        let mut packet = head.to_vec();
        if let Some(answer) = record.answer.as_ref().filter(|answer| answer.len() > COPY_LIMIT) {
            packet.extend_from_slice(answer);
        }
        record.replay = Some(packet.into());
        self.events
            .push_back((record.identity.id, Event::Closed(CloseReason::Normal)));
        self.leave_remains(slot);
    }
}

impl AfterEnd {
    /// What will be left of a context whose answer has just left; `None` if more than END may follow.
    fn of(context: &Context) -> Option<Self> {
        if !context.extended_first || context.has_untaken() {
            return None;
        }
        let wait = context.time_wait();
        if context.cached.is_some() {
            // Its answer has ended it.
            let over = context.closed == Some(CloseReason::Normal) && context.state == State::Gone;
            return over.then_some(Self { wait, samples: false });
        }
        let soon = context
            .deadline()
            .is_some_and(|at| at < context.touched + PATIENCE);
        (context.awaits_only_end() && !soon).then(|| Self {
            wait,
            samples: context.asks_for_end(),
        })
    }
}

impl Answer {
    /// What left in the one train from number `before` on, if it may serve again.
    pub(super) fn of(
        responder: &Responder,
        out: &TransmitBatch,
        before: usize,
        context: &Context,
    ) -> Option<Self> {
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
        let after_end = AfterEnd::of(context)?;
        (simple && train.count == 1 && body.len() >= head).then(|| Self {
            terms: Arc::clone(&responder.terms),
            header,
            head: body[..head].to_vec(),
            answers,
            room: context.room_of_answer(head),
            src: train.src,
            ecn: train.ecn,
            urgency: train.sort,
            after_end,
        })
    }

    pub(super) fn peer(&self) -> SocketAddr {
        self.terms.kind.src
    }

    /// Whether it is to such a FIRST.
    fn is_to(&self, terms: &Arc<Terms>) -> bool {
        Arc::ptr_eq(&self.terms, terms) || self.terms.kind == terms.kind
    }

    /// Whether it serves for a responder.
    fn fits(&self, responder: &Responder) -> bool {
        self.serves(responder, responder.answer_len() as usize, responder.unconfirmed)
    }

    /// Whether it serves for one that answers with so many octets, which are to be confirmed or not.
    pub(super) fn serves(&self, responder: &Responder, data: usize, unconfirmed: bool) -> bool {
        let ends = self.header.options.contains(Options::END);
        // An address that is not validated is sent three times as much as came; what comes near is left to what counts.
        let modest = || self.octets(data) <= 2 * responder.datagram.octets().len();
        self.is_to(&responder.terms)
            && (responder.terms.kind.validated || modest())
            && data <= self.room
            && ends == unconfirmed
    }

    /// Octets of the packet with so many of the user.
    fn octets(&self, data: usize) -> usize {
        size::packet(self.head.len() + data)
    }

    /// The packet, into `out`.
    fn write(&self, responder: &Responder, now: Time, out: &mut TransmitBatch) {
        let data = responder.answer.as_ref();
        let len = data.map_or(0, Bytes::len);
        debug_assert_eq!(self.answers, data.is_some());
        let header = Header {
            key: Key::returned(responder.key),
            sync: responder.newest_sync(),
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
            dst: responder.peer(),
            src: self.src,
            ecn: self.ecn,
            sort: self.urgency,
        };
        match data {
            Some(data) => {
                out.push_message(route, at, data, len <= COPY_LIMIT);
            }
            None => out.push(route, false, at, &[]),
        }
    }

    /// What one that was answered so and has ended leaves behind: numbers, and the octets that it sent.
    pub(super) fn remains(&self, responder: &Responder) -> (TimeWait, u64) {
        // Of an answer that ended it nothing came after FIRST.
        let newest = responder.sync.wrapping_add(u32::from(!responder.unconfirmed));
        let wait = TimeWait {
            key: Key::returned(responder.key),
            // No packet told its key.
            own: 0,
            seq: responder.answer_len(),
            echo: Some(newest),
            sync: responder.newest_sync(),
            ..self.after_end.wait
        };
        (wait, self.octets(responder.answer_len() as usize) as u64)
    }

    /// Whether END gives a round trip.
    pub(super) fn samples(&self) -> bool {
        self.after_end.samples
    }
}
