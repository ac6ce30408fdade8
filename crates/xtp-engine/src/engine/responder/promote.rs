//! The context that a record would be: by what admission, its user and END would have done, each with the time of then.

use super::super::pending::Tools;
use super::super::{Engine, Read};
use super::{Responder, Step};
use crate::context::{Acceptance, Context, FirstFormat, Input, Transition};
use crate::error::Error;
use crate::options::Confirm;
use crate::time::Time;
use crate::transmit::Ecn;
use xtp_wire::{Body, Packet};

impl Engine {
    /// Makes the context of the one in `slot`, if it is one of these; the record that it was, which is to be
    /// [kept](super::Responders::keep).
    pub(in super::super) fn promote_responder(&mut self, slot: u32) -> Option<Box<Responder>> {
        self.remember(slot);
        let record = self.contexts.take_responder(slot)?;
        self.make_context(slot, |context, tools| record.make(context, tools));
        if !record.over {
            // No packet of a record tells its key, and few look for those of a peer.
            self.demux.insert_own(record.identity.key, slot);
            self.demux.insert_peer(record.peer(), slot);
        }
        let had_turn = |(_, step): &(Time, Step)| matches!(step, Step::Turn | Step::Answer);
        if record.steps.iter().any(had_turn) {
            let at = self.contexts.awake(slot).and_then(Context::deadline);
            self.deadlines.set(slot, at);
            self.account(slot);
        }
        Some(record)
    }
}

impl Responder {
    pub(in super::super) fn make(&self, context: &mut Context, mut tools: Tools<'_>) {
        let Ok(packet) = &Packet::parse(self.datagram.octets()) else {
            return;
        };
        let Body::First(first) = &packet.body else { return };
        let kind = &self.terms.kind;
        let acceptance = Acceptance {
            header: &packet.header,
            first,
            src: kind.src,
            dst: kind.dst,
            listener: kind.listener,
            tuning: self.terms.tuning.clone(),
            unconfirmed_response: false,
            validated: kind.validated,
            source_token: self.source_token,
        };
        context.begin_responder(self.identity, &acceptance, &mut tools.env(self.arrived));
        context.transition(Transition::FirstAccepted);
        context.first = FirstFormat::Extended;
        let octets = self.datagram.octets().len();
        self.hear(context, (packet, octets), kind.ecn, self.arrived, &mut tools);
        context.stats.octets_copied += self.datagram.copied();
        for (at, step) in &self.steps {
            self.repeat(context, *at, *step, &mut tools);
        }
        let marked = usize::from(self.mark.is_some() && self.ended.is_some());
        let told = 1 + usize::from(self.ended.is_some()) + marked;
        debug_assert!(
            tools.events.len() == told || self.released,
            "other events than were told: {:?}",
            tools.events
        );
        // The engine's part of it is as it is now.
        context.listener = self.waits.then_some(kind.listener);
        context.place = self.place;
        (context.half_open, context.retired, context.dirty) = (self.half_open, self.over, self.dirty);
    }

    /// Takes a packet that came in so many octets.
    fn hear(
        &self,
        context: &mut Context,
        (packet, octets): (&Packet<'_>, usize),
        ecn: Ecn,
        at: Time,
        tools: &mut Tools<'_>,
    ) {
        let kind = &self.terms.kind;
        let input = Input {
            src: kind.src,
            dst: kind.dst,
            ecn,
            octets,
            backing: self.datagram.shared(),
            packet,
        };
        context.regular = false;
        context.receive(&mut tools.env(at), &input);
        context.dirty = true;
    }

    fn repeat(&self, context: &mut Context, at: Time, step: Step, tools: &mut Tools<'_>) {
        context.regular &= matches!(step, Step::Turn | Step::Answer);
        match step {
            Step::Read => {
                let read = context.read(usize::MAX);
                debug_assert!(
                    matches!(read, Ok(Read::Data { eom: true, .. } | Read::End)),
                    "something else was read: {read:?}"
                );
            }
            Step::Discard => context.discard(0, &mut tools.env(at)),
            Step::Forgo => context.forgo_reader(&mut tools.env(at)),
            Step::Unconfirmed(on) => context.pattern.unconfirmed_response = on,
            Step::Send => {
                let answer = self.answer.clone().unwrap_or_default();
                let sent = context.send(answer, true);
                debug_assert_eq!(sent, Ok(self.answer_len() as usize));
            }
            Step::Close => {
                let closed = context.close_writer();
                debug_assert_eq!(closed, Ok::<(), Error>(()));
            }
            Step::Mark => {
                if let Some(mark) = self.mark {
                    let (octets, what) = (self.answer_len(), Confirm::Received);
                    let marked = context.mark(mark, octets, what, false, &mut tools.env(at));
                    debug_assert_eq!(marked, Ok::<(), Error>(()));
                }
            }
            Step::Release => context.release(&mut tools.env(at)),
            Step::End => {
                if let Ok(packet) = &Packet::parse(&self.end) {
                    self.hear(context, (packet, self.end.len()), self.ecn, at, tools);
                }
            }
            Step::Answer => tools.turn(context, at, &self.sent),
            Step::Turn => tools.turn(context, at, &[]),
        }
        context.dirty = !matches!(step, Step::Turn | Step::Answer);
    }
}
