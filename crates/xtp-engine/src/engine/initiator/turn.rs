//! Turns of pending initiators: FIRST leaves, then END; and their users let go.

use super::super::Engine;
use super::InitiatorState;
use crate::error::CloseReason;
use crate::event::{ContextId, Event};
use crate::stats::ContextStats;
use xtp_core::transmit::TransmitBatch;

impl Engine {
    /// The turn of one of these.
    pub(in super::super) fn turn_initiator(&mut self, slot: u32, out: &mut TransmitBatch) {
        let Some(record) = self.contexts.initiator(slot) else {
            return;
        };
        let usual = self.now < record.until && !self.memory.is_rationed();
        let had = match record.state {
            InitiatorState::Due => {
                if usual {
                    self.send_first(slot, out);
                }
                usual
            }
            InitiatorState::Sent { .. } => true,
            InitiatorState::Answered { .. } => usual && self.say_last(slot, out),
        };
        if !had {
            self.turn_with_context(slot, out);
        }
    }

    /// FIRST leaves.
    fn send_first(&mut self, slot: u32, out: &mut TransmitBatch) {
        let (now, limit, whole) = (self.now, self.config.overrides.max_whole, self.contexts.whole());
        let Some(record) = self.contexts.initiator_mut(slot) else {
            return;
        };
        record.granted = record.write_first(&self.config, out);
        record.state = InitiatorState::Sent { left: now };
        // Where contexts are never parked, or many of them are whole, what waits is to be one as soon as there is time.
        if limit == usize::MAX || whole > limit {
            record.until = now;
            let generation = self.contexts.generation(slot);
            self.waiting.hurry(now, slot, generation);
        }
        self.stats.express += 1;
        self.unsettled = Some(slot);
    }

    /// It takes a context to know what to say.
    fn turn_with_context(&mut self, slot: u32, out: &mut TransmitBatch) {
        if let Some(record) = self.promote_initiator(slot) {
            self.turn(slot, out);
            self.initiators.keep(record);
        }
    }

    /// The last turn of one that was answered; false, and nothing done, if it is not known what that would be.
    fn say_last(&mut self, slot: u32, out: &mut TransmitBatch) -> bool {
        let Some(record) = self.contexts.initiator(slot) else {
            return false;
        };
        // What is unread is kept by a context.
        let Some(answer) = record.answered().filter(|answer| answer.is_read()) else {
            return false;
        };
        let (id, over) = (record.id(), answer.ends);
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
        let now = self.now;
        let Some(record) = self.contexts.initiator_mut(slot) else {
            return false;
        };
        let InitiatorState::Answered { answer, .. } = &mut record.state else {
            return false;
        };
        answer.left = Some(now);
        let (over, sample) = (answer.ends, answer.sample);
        let leaves = record.write_end(&self.config, out);
        let (serial, key, ip) = (record.serial(), record.prepared.identity.key, record.peer.ip());
        let held = !record.is_released();
        if let Some(n) = serial {
            self.open_n.remove(n);
        }
        if over {
            self.demux.remove_own(key);
            if sample.is_some() {
                self.peers.note(ip, now, |known| known.rtt = sample);
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
        let Some(answer) = record.and_then(super::Initiator::answered_mut) else {
            return false;
        };
        // Of one whose answer was the end nothing is owed but a turn, if all was read.
        let over = answer.left.is_some() || answer.ends && answer.read;
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
        #[cfg(test)]
        self.compare_with_context(slot);
        let Some(record) = self.contexts.take_initiator(slot) else {
            return;
        };
        self.tidy_waiting();
        match record.time_wait_end(&self.config) {
            Some(end) => self.keep_time_wait(slot, end),
            None => self.contexts.give_up(slot),
        }
        self.initiators.keep(record);
    }

    /// What is left of a record has to be what would be left of its context.
    #[cfg(test)]
    fn compare_with_context(&self, slot: u32) {
        let Some(record) = self.contexts.initiator(slot) else {
            return;
        };
        let mut context = self.context_of(super::super::slab::Pending::Initiator(record));
        assert_eq!(
            Some(context.stats_now()),
            self.count_ended(record),
            "something else was counted"
        );
        let (ours, theirs) = (record.time_wait_end(&self.config), context.time_wait_end());
        assert!(ours == theirs, "something else is left");
        assert!(
            ours.is_some() || crate::context::Context::is_disposable(&context),
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
        record.is_over().then(|| record.count(&self.config))?
    }
}
