//! Turns of pending initiators: FIRST leaves, then END; and their users let go.

use super::super::Engine;
use super::super::pending::is_compared;
use super::super::slab::Pending;
use super::super::turn::copy_of;
use super::template::Template;
use super::{Begun, State};
use crate::context::Context;
use crate::error::CloseReason;
use crate::event::{ContextId, Event};
use crate::stats::ContextStats;
use crate::transmit::TransmitBatch;
use std::sync::Arc;

impl Engine {
    /// The turn of one of these.
    pub(in super::super) fn turn_initiator(&mut self, slot: u32, out: &mut TransmitBatch) {
        let Some(record) = self.contexts.initiator(slot) else {
            return;
        };
        let usual = self.now < record.until && !self.memory.is_rationed();
        let had = match record.state {
            State::Due => usual && self.send_first(slot, out),
            State::Sent { .. } => true,
            State::Answered { .. } => usual && self.say_last(slot, out),
        };
        if !had {
            self.turn_with_context(slot, out);
        }
    }

    /// FIRST leaves as the last one of its kind did; false, and nothing done, if there was none.
    fn send_first(&mut self, slot: u32, out: &mut TransmitBatch) -> bool {
        let (now, limit, whole) = (self.now, self.config.overrides.max_whole, self.contexts.whole());
        let initiators = &mut self.initiators;
        let template = initiators.template.as_ref();
        let Some((record, template)) = self.contexts.initiator_mut(slot).zip(template) else {
            return false;
        };
        if !template.fits(record) {
            return false;
        }
        let at = out.arena.len();
        template.write(record, out);
        copy_of(&mut record.first, &out.arena[at..]);
        record.granted = template.granted();
        record.template = initiators.templates;
        let octets = record.request.len() as u64;
        let ending = initiators.ending.as_ref();
        let ending = ending.filter(|ending| ending.answers(initiators.templates, octets));
        // Where contexts are never parked, what is left of them is no record.
        let ending = ending.filter(|_| limit != usize::MAX && whole <= limit);
        if ending.is_none() {
            // Its context is made as soon as there is time.
            record.until = now;
            let generation = self.contexts.generation(slot);
            self.waiting.hurry(now, slot, generation);
        }
        let (left, ending) = (now, ending.map(Arc::clone));
        if let Some(record) = self.contexts.initiator_mut(slot) {
            record.state = State::Sent { left, ending };
        }
        self.stats.express += 1;
        self.unsettled = Some(slot);
        true
    }

    /// It takes a context to know what to say; the first FIRST of its kind is remembered.
    fn turn_with_context(&mut self, slot: u32, out: &mut TransmitBatch) {
        let Some(record) = self.promote_initiator(slot) else {
            return;
        };
        let last = self.initiators.template.as_ref();
        let is_new = record.left().is_none() && !last.is_some_and(|template| template.fits(&record));
        let before = out.begin();
        self.turn(slot, out);
        if is_new {
            self.settle_last();
            let context = self.contexts.awake(slot);
            let template = context.and_then(|context| Template::of(&record, context, out, before));
            self.initiators.template = template;
            self.initiators.templates += 1;
            self.initiators.begun = context.map(|context| Begun {
                slot,
                template: self.initiators.templates,
                segment: context.segment_size(),
            });
        }
        self.initiators.keep(record);
    }

    /// The last turn of one that was answered; false, and nothing done, if it is not known what that would be.
    fn say_last(&mut self, slot: u32, out: &mut TransmitBatch) -> bool {
        let Some(record) = self.contexts.initiator(slot) else {
            return false;
        };
        let Some((ending, answer)) = record.answered() else {
            return false;
        };
        if !ending.foresees(record, answer) {
            return false;
        }
        let (id, over) = (record.id(), ending.is_end());
        let released = record.is_released();
        if self.have_last_turn(slot, out) {
            self.stats.express += 1;
        }
        if !over {
            self.events.push_back((id, Event::Closed(CloseReason::Normal)));
        }
        if released {
            self.conclude(slot);
        }
        true
    }

    /// One that was answered says END, unless the answer did, and is over; whether a packet left.
    pub(super) fn have_last_turn(&mut self, slot: u32, out: &mut TransmitBatch) -> bool {
        let (now, protection) = (self.now, self.config.protection());
        let Some(record) = self.contexts.initiator_mut(slot) else {
            return false;
        };
        let State::Answered { ending, answer, .. } = &mut record.state else {
            return false;
        };
        answer.left = Some(now);
        let (ending, at) = (Arc::clone(ending), out.arena.len());
        let leaves = ending.write_end(record, protection, out);
        if leaves {
            copy_of(&mut record.end, &out.arena[at..]);
        }
        let (serial, key, ip) = (record.serial(), record.prepared.identity.key, record.peer.ip());
        let rtt = if ending.is_end() { ending.rtt(record) } else { None };
        let held = !record.is_released();
        if let Some(n) = serial {
            self.open_n.remove(n);
        }
        if ending.is_end() {
            self.demux.remove_own(key);
            if rtt.is_some() {
                self.peers.note(ip, now, |known| known.rtt = rtt);
            }
            if held {
                self.list_for_parking(slot, now);
            }
        }
        self.account(slot);
        leaves
    }

    /// The user lets go of one that is over, if nothing is owed.
    pub(in super::super) fn release_answered(&mut self, slot: u32) -> bool {
        let at = self.now;
        let record = self.contexts.initiator_mut(slot);
        let Some((ending, answer)) = record.and_then(super::Initiator::answered_mut) else {
            return false;
        };
        // Of one whose answer was the end nothing is owed but a turn, if all was read.
        let over = answer.left.is_some() || ending.is_end() && answer.read;
        if !over || answer.released.is_some() {
            return false;
        }
        answer.released = Some(at);
        if answer.left.is_some() {
            self.conclude(slot);
        }
        true
    }

    /// One had its last turn and was let go of: what is left of it takes its place.
    fn conclude(&mut self, slot: u32) {
        let key = self
            .contexts
            .initiator(slot)
            .map_or(0, |record| record.prepared.identity.key);
        if is_compared(key) {
            self.compare_with_context(slot);
        }
        let Some(record) = self.contexts.take_initiator(slot) else {
            return;
        };
        self.tidy_waiting();
        match record
            .answered()
            .and_then(|(ending, answer)| ending.time_wait_end(&record, answer))
        {
            Some(end) => self.keep_time_wait(slot, end),
            None => self.contexts.give_up(slot),
        }
        self.initiators.keep(record);
    }

    /// What is left of a record has to be what would be left of its context.
    fn compare_with_context(&self, slot: u32) {
        let Some(record) = self.contexts.initiator(slot) else {
            return;
        };
        let mut context = self.would_be(Pending::Initiator(record));
        assert_eq!(
            Some(context.stats_now()),
            self.count_ended(record),
            "something else was counted"
        );
        let Some((ending, answer)) = record.answered() else {
            return;
        };
        let (ours, theirs) = (ending.time_wait_end(record, answer), context.time_wait_end());
        assert!(ours == theirs, "something else is left");
        assert!(
            ours.is_some() || Context::is_disposable(&context),
            "nothing is left"
        );
    }

    /// What [`context`](Self::context) says of `id`, if it has ended and has no context; known without looking
    /// for it.
    pub(crate) fn parting_stats(&self, id: ContextId) -> Option<ContextStats> {
        let record = self.contexts.initiator(self.contexts.find(id)?)?;
        self.count_ended(record)
    }

    fn count_ended(&self, record: &super::Initiator) -> Option<ContextStats> {
        let (ending, _) = record.answered().filter(|_| record.is_over())?;
        Some(ending.count(record))
    }
}
