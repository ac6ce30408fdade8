//! The context that a record would be. Its fields are named once, where a context takes a packet or a command: a record gives it those
//! that came, each with the time of then.

use super::super::pending::Past;
use super::super::{Engine, Read};
use super::{CameEnd, Responder};
use crate::context::{Acceptance, Context, FirstFormat, Input, Transition};
use crate::error::Error;
use crate::options::{Confirm, Tuning};
use xtp_core::time::Time;
use xtp_core::transmit::Ecn;
use xtp_wire::{Body, Packet};

impl Engine {
    /// Makes the context of the one in `slot`, if it is one of these; the record that it was, which is to be
    /// [kept](super::Responders::keep).
    pub(in super::super) fn promote_responder(&mut self, slot: u32) -> Option<Box<Responder>> {
        self.remember(slot);
        let record = self.contexts.take_responder(slot)?;
        self.make_context(slot, |context, past| record.make(context, past));
        if !record.over {
            // No packet of a record tells its key, and few look for those of a peer.
            self.demux.insert_own(record.identity.key, slot);
            self.demux.insert_peer(record.peer(), slot);
        }
        if record.turned.is_some() {
            let at = self.contexts.awake(slot).and_then(Context::deadline);
            self.deadlines.set(slot, at);
            self.account(slot);
        }
        Some(record)
    }
}

impl Responder {
    pub(in super::super) fn make(&self, context: &mut Context, past: &mut Past<'_>) {
        self.begin(context, past);
        match self.left() {
            None => {
                let (before, after) = self.around_user(self.turned);
                past.idle_turn(context, before);
                self.read_and_respond(context);
                self.discard(context, past);
                past.idle_turn(context, after);
            }
            Some(left) => {
                self.read_and_respond(context);
                past.turn(context, left, |config, out| self.write_answer(config, left, out));
                self.follow_answer(context, left, past);
            }
        }
        let marked = usize::from(self.done.mark.is_some() && self.has_ended());
        past.check_told(
            1 + usize::from(self.has_ended()) + marked,
            self.done.released.is_some(),
        );
        // The engine's part of it is as it is now.
        if !self.waits {
            let _ = context.leave_backlog();
        }
        if let Some(backlog) = &mut context.backlog {
            backlog.set_place(self.place);
        }
        context.regular &= !self.dirty;
        (context.half_open, context.retired, context.dirty) = (self.half_open, self.over, self.dirty);
    }

    /// Admission takes FIRST.
    fn begin(&self, context: &mut Context, past: &mut Past<'_>) {
        let octets = self.datagram.octets();
        let Ok(packet) = &Packet::parse(octets) else {
            return;
        };
        let Body::First(first) = &packet.body else { return };
        let acceptance = Acceptance {
            header: &packet.header,
            first,
            src: self.terms.src,
            dst: self.terms.dst,
            listener: self.terms.listener,
            tuning: Tuning::clone(&self.terms.tuning),
            unconfirmed_response: false,
            validated: self.terms.validated,
            source_token: self.source_token,
        };
        context.begin_responder(self.identity, &acceptance, &mut past.env(self.arrived));
        context.transition(Transition::FirstAccepted);
        context.first = FirstFormat::Extended;
        let came = (octets.len(), self.terms.ecn, self.arrived);
        self.hear(context, packet, came, past);
        context.stats.octets_copied += self.datagram.copied();
    }

    /// Takes a packet that came in so many octets, marked so, at a moment.
    fn hear(
        &self,
        context: &mut Context,
        packet: &Packet<'_>,
        (octets, ecn, at): (usize, Ecn, Time),
        past: &mut Past<'_>,
    ) {
        let input = Input {
            src: self.terms.src,
            dst: self.terms.dst,
            ecn,
            octets,
            backing: self.datagram.shared(),
            packet,
        };
        context.regular = false;
        context.receive(&mut past.env(at), &input);
        context.dirty = true;
    }

    /// A turn without a packet: before what its user did, if that is to have another; else after it.
    fn around_user(&self, idle: Option<Time>) -> (Option<Time>, Option<Time>) {
        if self.dirty { (idle, None) } else { (None, idle) }
    }

    /// What its user did that time does not change.
    fn read_and_respond(&self, context: &mut Context) {
        let done = &self.done;
        for _ in 0..usize::from(done.read) + usize::from(done.read_end) {
            let read = context.read(usize::MAX);
            debug_assert!(
                matches!(read, Ok(Read::Data { eom: true, .. } | Read::End)),
                "something else was read: {read:?}"
            );
        }
        context.pattern.unconfirmed_response = done.unconfirmed;
        if let Some(answer) = &done.answer {
            let sent = context.send(answer.clone(), true);
            debug_assert_eq!(sent, Ok(answer.len()));
        }
        if done.closed {
            let closed = context.close_writer();
            debug_assert_eq!(closed, Ok::<(), Error>(()));
        }
        context.regular = false;
        context.dirty = true;
    }

    fn discard(&self, context: &mut Context, past: &mut Past<'_>) {
        if let Some(at) = self.done.discarded {
            context.discard(0, &mut past.env(at));
        }
    }

    /// What came behind its answer, which left at `left`.
    fn follow_answer(&self, context: &mut Context, left: Time, past: &mut Past<'_>) {
        let (end, over) = (self.came_end(), self.over);
        let idle = self.turned.filter(|at| left < *at && !over);
        let (before, after) = self.around_user(idle);
        past.idle_turn(context, before);
        self.follow_user(context, past);
        past.idle_turn(context, after);
        let Some(end) = end else { return };
        self.hear_end(context, end, past);
        past.idle_turn(context, self.turned.filter(|_| over));
        if let Some(at) = self.done.released.filter(|_| !end.released_before) {
            context.release(&mut past.env(at));
        }
    }

    /// What its user did with one that was answered, before END came.
    fn follow_user(&self, context: &mut Context, past: &mut Past<'_>) {
        self.discard(context, past);
        if let Some((mark, at)) = self.done.mark {
            let (octets, what) = (self.answer_len(), Confirm::Received);
            let marked = context.mark(mark, octets, what, false, &mut past.env(at));
            debug_assert_eq!(marked, Ok::<(), Error>(()));
        }
        if let Some(at) = self.done.forgone {
            context.forgo_reader(&mut past.env(at));
        }
        let before = self.came_end().is_none_or(|end| end.released_before);
        if let Some(at) = self.done.released.filter(|_| before) {
            context.release(&mut past.env(at));
        }
    }

    /// Takes the END that came.
    fn hear_end(&self, context: &mut Context, end: CameEnd, past: &mut Past<'_>) {
        let (header, control) = self.end_of_client(end.alloc);
        let packet = Packet {
            header,
            body: Body::Cntl(control),
            padding: 0,
        };
        self.hear(context, &packet, (end.octets, end.ecn, end.at), past);
    }
}
