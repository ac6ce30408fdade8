//! An initiator of which only the answer is awaited, and one that was answered, until its user has let go of it.

use super::super::Engine;
use super::{Initiator, PATIENCE, State};
use crate::event::ContextId;
use crate::time::Time;

impl Engine {
    /// Whether there is nothing to do but to wait for the answer to what was begun last, so that its context need not
    /// be made. [`catch_up`](Self::catch_up) makes it.
    pub fn is_waiting(&self) -> bool {
        self.waits_until().is_some()
            && self.initiators.parting.is_none()
            && !self.responders.has_pending()
            && self.is_at_rest()
    }

    /// What may be done while an answer is awaited; false if the rest has to be done as well.
    pub(in super::super) fn catch_up_waiting(&mut self) -> bool {
        if self.waits_until().is_none() || self.responders.has_pending() || !self.is_at_rest() {
            return false;
        }
        self.settle_parting_responder();
        self.settle_parting_initiator();
        self.is_waiting()
    }

    /// FIRST has left from a template: if it is known what follows its answer, no context is made meanwhile.
    pub(super) fn let_wait(&mut self) {
        let (now, limit) = (self.now, self.config.max_whole);
        let Some(initiator) = &mut self.initiators.pending else {
            return;
        };
        let (number, octets) = (self.initiators.templates, initiator.request.len() as u64);
        let ending = self.initiators.ending.as_ref();
        let known = ending.is_some_and(|ending| ending.answers(number, octets));
        if !known || limit == usize::MAX || self.contexts.whole() >= limit {
            return;
        }
        let slot = *initiator.slot.get_or_insert_with(|| self.contexts.hold());
        initiator.state = State::Sent {
            left: now,
            until: Some(now + PATIENCE),
        };
        self.list_for_parking(slot, now);
    }

    /// When it is too late for an answer, if one is awaited.
    #[inline]
    pub(in super::super) fn waits_until(&self) -> Option<Time> {
        match self.initiators.pending.as_ref()?.state {
            State::Sent { until, .. } => until,
            _ => None,
        }
    }

    /// Whether what is done about `id` has nothing to do with the answer that is awaited.
    pub(in super::super) fn is_beside_waiting(&mut self, id: ContextId) -> bool {
        let other = self
            .initiators
            .pending
            .as_ref()
            .is_some_and(|last| last.id() != id);
        other && self.catch_up_waiting()
    }

    /// A flush while an answer is awaited; false if more than that is to do.
    pub(in super::super) fn flush_waiting(&mut self) -> bool {
        let due = self.waits_until().into_iter().chain(self.next_timer()).min();
        self.replies.is_empty() && due.is_some_and(|at| at > self.now) && self.catch_up_waiting()
    }

    /// The user lets go of an association whose answer it was given by [`receive_answer`](Self::receive_answer), which
    /// takes next to nothing. False, and nothing done, if that is not so simple: that is for [`release`](Self::release).
    pub fn release_at_once(&mut self, now: Time, id: ContextId) -> bool {
        let now = self.now.max(now);
        let mine = self
            .initiators
            .answered_mut()
            .filter(|answered| answered.id() == id);
        let released = mine
            .and_then(Initiator::answer_mut)
            .is_some_and(|answer| answer.note_release(now));
        if released {
            self.now = now;
        }
        released
    }

    /// Whether END has left, or the answer was the end and its user went before there was a turn, and nothing else waits
    /// for the books of that, so that they may wait until there is nothing to do.
    /// [`catch_up`](Self::catch_up) does them.
    pub fn is_parting(&self) -> bool {
        let lone = match (&self.initiators.parting, &self.initiators.pending) {
            (Some(lone), None) | (None, Some(lone)) => lone,
            _ => return false,
        };
        lone.answer().is_some_and(|answer| answer.is_parting())
            && !self.responders.has_pending()
            && self.is_settled()
    }

    /// Whether the one that was answered may go on without a context until the next one's FIRST has left: no timer it will
    /// have is due then, and there is room for both.
    pub(super) fn parting_may_wait(&self, now: Time) -> bool {
        let in_time = self
            .initiators
            .answered()
            .is_some_and(|last| last.is_in_time(now));
        in_time
            && self.contexts.alive() < self.config.max_contexts
            // One more record that answers stragglers makes none go, which may leave a round trip behind.
            && self.dallying.count() < self.config.max_dallying
    }

    /// One whose answer was its end has its turn with whatever has one next.
    #[inline]
    pub(in super::super) fn flush_ended(&mut self) {
        let ended = self.initiators.answered().and_then(Initiator::answer);
        if ended.is_some_and(|answer| answer.is_end && answer.left.is_none()) {
            self.end_answered();
        }
    }

    /// Where a timer is due, what that frees comes first.
    #[inline(never)]
    fn end_answered(&mut self) {
        let now = self.now;
        let due = self.next_timer().is_some_and(|at| at <= now);
        let Some(ended) = self
            .initiators
            .answered_mut()
            .filter(|last| !due && last.is_in_time(now))
        else {
            return;
        };
        let serial = ended.serial();
        if let Some(answer) = ended.answer_mut() {
            answer.left = Some(now);
        }
        self.forget_serial(serial);
    }

    /// The next FIRST says which associations are finished.
    pub(super) fn forget_serial(&mut self, serial: Option<u64>) {
        if let Some(n) = serial {
            self.open_n.remove(n);
        }
    }
}

impl Initiator {
    /// Whether no timer of its context would be due, had it been made.
    pub(super) fn is_in_time(&self, now: Time) -> bool {
        match self.state {
            State::Answered { until, .. } => now < until,
            _ => true,
        }
    }
}
