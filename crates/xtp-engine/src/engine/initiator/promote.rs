//! The context that a record would be: by what opening, sending, closing and the answer would have done, each with the time of then.

use super::super::{Engine, Read};
use super::answer::Answer;
use super::{Begun, Initiator, State};
use crate::config::EngineConfig;
use crate::context::{Context, Env, Input};
use crate::event::{ContextId, Event};
use crate::time::Time;
use crate::transmit::TransmitBatch;
use rand_chacha::ChaCha20Rng;
use std::collections::VecDeque;
use xtp_wire::Packet;

/// What making a context needs of its engine. What it sends and tells was sent and told when it happened.
struct Tools<'a> {
    config: &'a EngineConfig,
    rng: &'a mut ChaCha20Rng,
    events: VecDeque<(ContextId, Event)>,
    out: &'a mut TransmitBatch,
}

impl Engine {
    /// Makes the context of the one in `slot`, if there is one without; the record that it was.
    #[inline(never)]
    pub(in super::super) fn promote(&mut self, slot: u32) -> bool {
        let record = self.promote_record(slot);
        let found = record.is_some();
        if let Some(record) = record {
            self.initiators.keep(record);
        }
        found
    }

    /// The same; the record is to be [kept](super::Initiators::keep).
    pub(super) fn promote_record(&mut self, slot: u32) -> Option<Box<Initiator>> {
        let record = self.contexts.take_initiator(slot)?;
        self.tidy_waiting();
        self.contexts.fill(slot);
        let mut scratch = std::mem::take(&mut self.scratch);
        let context = self.contexts.at(slot)?;
        record.make(
            context,
            Tools {
                config: &self.config,
                rng: &mut self.rng,
                events: VecDeque::new(),
                out: &mut scratch,
            },
        );
        self.scratch = scratch;
        let ended = record.answered().filter(|(_, answer)| answer.left.is_some());
        match ended.is_some_and(|(ending, _)| ending.is_end()) {
            // Put away with its last turn, but for itself.
            true => context.retired = true,
            false => self.demux.insert_peer(record.peer, slot),
        }
        match &record.state {
            // It may have to state less credit than others did.
            State::Due => self.ration_opening(slot),
            state => {
                if let State::Sent { .. } = state {
                    self.initiators.begun = self.contexts.awake(slot).map(|context| Begun {
                        slot,
                        template: record.template,
                        segment: context.segment_size(),
                    });
                }
                let at = self.contexts.awake(slot).and_then(Context::deadline);
                self.deadlines.set(slot, at);
                self.account(slot);
            }
        }
        Some(record)
    }

    /// Looks at a context, or at the one that a record would be.
    pub(in super::super) fn see<R>(&self, slot: u32, look: impl FnOnce(&Context) -> R) -> Option<R> {
        match self.contexts.initiator(slot) {
            Some(record) => Some(look(&self.would_be(record))),
            None => self.contexts.see(slot, look),
        }
    }

    pub(super) fn would_be(&self, record: &Initiator) -> Box<Context> {
        let mut context = Context::memory();
        record.make(
            &mut context,
            Tools {
                config: &self.config,
                rng: &mut self.rng.clone(),
                events: VecDeque::new(),
                out: &mut TransmitBatch::new(),
            },
        );
        context
    }
}

impl Initiator {
    fn make(&self, context: &mut Context, mut tools: Tools<'_>) {
        let env = tools.env(self.asked);
        self.prepared.begin(context, self.peer, &self.options, &env);
        // A context that was just made takes what fits its FIRST.
        let _ = context.send(self.request.clone(), true);
        let _ = context.close_writer();
        context.dirty = true;
        if let Some(left) = self.left() {
            tools.turn(context, left, &self.first);
        }
        if let Some((ending, answer)) = self.answered() {
            self.hear(context, answer, &mut tools);
            if let Some(left) = answer.left {
                let said: &[u8] = if ending.is_end() { &[] } else { &self.end };
                tools.turn(context, left, said);
                context.serial = None;
            }
            let closed = usize::from(ending.is_end() || answer.left.is_some());
            debug_assert_eq!(tools.events.len(), 2 + closed, "other events than were told");
            if let Some(at) = answer.released {
                context.release(&mut tools.env(at));
            }
        }
    }

    /// What the answer changed, and what its user did with it.
    fn hear(&self, context: &mut Context, answer: &Answer, tools: &mut Tools<'_>) {
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
            passed: answer.read,
        };
        context.regular = false;
        context.receive(&mut tools.env(answer.arrived), &input);
        context.dirty = true;
        match answer.read {
            true => {
                let read = context.read(usize::MAX);
                debug_assert!(matches!(read, Ok(Read::Data { eom: true, .. })));
            }
            false => context.stats.octets_copied += self.datagram.copied(),
        }
    }
}

impl Tools<'_> {
    fn env(&mut self, now: Time) -> Env<'_> {
        Env {
            now,
            config: self.config,
            events: &mut self.events,
            rng: self.rng,
        }
    }

    /// A turn of then, whose packet has left.
    fn turn(&mut self, context: &mut Context, at: Time, said: &[u8]) {
        let mut env = Env {
            now: at,
            config: self.config,
            events: &mut self.events,
            rng: self.rng,
        };
        context.dirty = false;
        context.flush(&mut env, self.out);
        debug_assert!(self.out.arena == said, "another packet has left");
        self.out.clear();
    }
}
