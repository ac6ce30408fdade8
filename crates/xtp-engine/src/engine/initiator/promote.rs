//! The context that a record would be. Its fields are named once, where a context takes a packet or a command: a record gives it those
//! that came, each with the time of then.

use super::super::pending::Past;
use super::super::{Engine, Read};
use super::answer::ReceivedAnswer;
use super::{Initiator, InitiatorState};
use crate::context::{Context, Input};
use xtp_wire::Packet;

impl Engine {
    /// Makes the context of the one in `slot`, if it is one of these; the record that it was, which is to be
    /// [kept](super::Initiators::keep).
    pub(in super::super) fn promote_initiator(&mut self, slot: u32) -> Option<Box<Initiator>> {
        let record = self.contexts.take_initiator(slot)?;
        self.make_context(slot, |context, past| record.make(context, past));
        let context = self.contexts.at(slot)?;
        let ended = record.answered().filter(|answer| answer.left.is_some());
        match ended.is_some_and(|answer| answer.ends) {
            // Put away with its last turn, but for itself.
            true => context.retired = true,
            false => self.demux.insert_peer(record.peer, slot),
        }
        match &record.state {
            // It may have to state less credit than others did.
            InitiatorState::Due => self.ration_opening(slot),
            // What its answer changed is charged with the turn that follows.
            InitiatorState::Answered { answer, .. } if answer.left.is_none() => self.time(slot),
            _ => {
                self.time(slot);
                self.account(slot);
            }
        }
        Some(record)
    }

    /// The context in `slot` is looked at when it next has to be.
    fn time(&mut self, slot: u32) {
        let at = self.contexts.awake(slot).and_then(Context::deadline);
        self.deadlines.set(slot, at);
    }
}

impl Initiator {
    pub(in super::super) fn make(&self, context: &mut Context, past: &mut Past<'_>) {
        let env = past.env(self.asked);
        self.prepared.begin(context, self.peer, &self.options, &env);
        // A context that was just made takes what fits its FIRST.
        let _ = context.send(self.request.clone(), true);
        let _ = context.close_writer();
        context.dirty = true;
        if let Some(left) = self.left() {
            past.turn(context, left, |config, out| {
                self.write_first(config, out);
            });
        }
        if let Some(answer) = self.answered() {
            self.hear(context, answer, past);
            if let Some(left) = answer.left {
                past.turn(context, left, |config, out| {
                    self.write_end(config, out);
                });
                context.serial = None;
            }
            let closed = usize::from(answer.ends || answer.left.is_some());
            past.check_told(2 + closed, false);
            if let Some(at) = answer.released {
                context.release(&mut past.env(at));
            }
        }
    }

    /// What the answer changed, and what its user did with it.
    fn hear(&self, context: &mut Context, answer: &ReceivedAnswer, past: &mut Past<'_>) {
        let octets = self.datagram.octets();
        let Ok(packet) = Packet::parse(octets) else { return };
        let (dst, ecn) = answer.came;
        let input = Input {
            src: self.peer,
            dst,
            ecn,
            octets: octets.len(),
            backing: self.datagram.shared(),
            packet: &packet,
        };
        context.regular = false;
        context.receive(&mut past.env(answer.arrived), &input);
        context.dirty = true;
        context.stats.octets_copied += self.datagram.copied();
        if answer.read {
            let read = context.read(usize::MAX);
            debug_assert!(matches!(read, Ok(Read::Data { eom: true, .. })));
        }
    }
}
