//! What the user of a pending responder does.

use super::super::{Engine, Read};
use super::{Responder, SHORT, STEPS, Step};
use crate::event::{ContextId, MarkId};
use crate::options::Confirm;
use crate::time::Time;
use crate::transmit::TransmitBatch;
use bytes::Bytes;

impl Responder {
    /// Whether its user has the request, and owes the answer.
    fn responds(&self) -> bool {
        self.is_request() && self.read && self.answer.is_none() && !self.closed && self.answered.is_none()
    }
}

impl Engine {
    /// The one a command is about, if it is enough to note the command.
    fn noting(&mut self, now: Time, id: ContextId) -> Option<(u32, &mut Responder)> {
        let slot = self.contexts.find(id)?;
        self.contexts.responder(slot)?;
        self.advance(now);
        let rationed = self.memory.is_rationed();
        let record = self.contexts.responder_mut(slot)?;
        (record.steps.len() < STEPS && !record.released && !rationed).then_some((slot, record))
    }

    /// Something happened to the one in `slot`, which is to have a turn.
    pub(super) fn note(&mut self, slot: u32, step: Step) {
        let now = self.now;
        if let Some(record) = self.contexts.responder_mut(slot) {
            record.steps.push((now, step));
            self.mark_pending_dirty(slot);
        }
    }

    /// Gives it a turn in the next flush.
    pub(super) fn mark_pending_dirty(&mut self, slot: u32) {
        let now = self.now;
        if let Some(record) = self.contexts.responder_mut(slot)
            && !std::mem::replace(&mut record.dirty, true)
        {
            let urgency = record.urgency();
            self.scheduler.push(slot, urgency, now);
        }
    }

    pub(in super::super) fn read_request(&mut self, now: Time, id: ContextId, max: usize) -> Option<Read> {
        let (slot, record) = self.noting(now, id)?;
        if record.read {
            self.note(slot, Step::Read);
            return Some(Read::End);
        }
        if record.message.len() > max {
            return None;
        }
        let bytes = record.take_message();
        self.note(slot, Step::Read);
        Some(Read::Data {
            offset: 0,
            bytes,
            eom: true,
        })
    }

    /// Its user takes no more: all that came is read already.
    pub(in super::super) fn discard_request(&mut self, now: Time, id: ContextId) -> bool {
        let found = self.noting(now, id).filter(|(_, record)| record.read);
        let slot = found.map(|(slot, _)| slot);
        self.noted(slot, Step::Discard)
    }

    fn noted(&mut self, slot: Option<u32>, step: Step) -> bool {
        if let Some(slot) = slot {
            self.note(slot, step);
        }
        slot.is_some()
    }

    /// The one message of the answer.
    pub(in super::super) fn send_response(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        eom: bool,
    ) -> bool {
        let found = self.noting(now, id).filter(|(_, record)| record.responds());
        let Some((slot, record)) = found.filter(|_| eom && (1..=SHORT).contains(&data.len())) else {
            return false;
        };
        record.answer = Some(std::mem::take(data));
        self.note(slot, Step::Send);
        true
    }

    /// The user says whether the answer is to be confirmed, before it gives it.
    pub(in super::super) fn confirm_response(&mut self, now: Time, id: ContextId, unconfirmed: bool) -> bool {
        let found = self.noting(now, id).filter(|(_, record)| record.responds());
        let slot = found.map(|(slot, record)| {
            record.unconfirmed = unconfirmed;
            slot
        });
        self.noted(slot, Step::Unconfirmed(unconfirmed))
    }

    pub(in super::super) fn close_pending(&mut self, now: Time, id: ContextId) -> bool {
        let found = self.noting(now, id).filter(|(_, record)| {
            // What was answered is closed already.
            record.awaits_end() || record.answered.is_none() && record.answer.is_some()
        });
        let slot = found.map(|(slot, record)| {
            record.closed |= record.is_request();
            slot
        });
        self.noted(slot, Step::Close)
    }

    pub(in super::super) fn mark_pending(
        &mut self,
        now: Time,
        id: ContextId,
        mark: MarkId,
        at: u64,
        what: Confirm,
    ) -> bool {
        let found = self.noting(now, id).filter(|(_, record)| {
            let answer = record.answer_len();
            record.awaits_end() && record.mark.is_none() && answer > 0 && at == answer
        });
        let slot = found.filter(|_| what == Confirm::Received).map(|(slot, record)| {
            record.mark = Some(mark);
            slot
        });
        self.noted(slot, Step::Mark)
    }

    /// Its user lets go of one that was answered.
    pub(in super::super) fn release_response(&mut self, now: Time, id: ContextId) -> bool {
        let found = self
            .noting(now, id)
            .filter(|(_, record)| record.answered.is_some());
        let Some((slot, record)) = found else {
            return false;
        };
        record.released = true;
        // What a command changed is put away with the next turn, and counts until then.
        match record.over && !record.dirty {
            true => self.let_go_of_responder(slot),
            false => self.note(slot, Step::Release),
        }
        true
    }

    /// Its user takes no more of what comes, and nothing but END will.
    pub(in super::super) fn forgo_request(&mut self, now: Time, id: ContextId) -> bool {
        let found = self.noting(now, id).filter(|(_, record)| record.awaits_end());
        let slot = found.map(|(slot, _)| slot);
        self.noted(slot, Step::Forgo)
    }

    /// [`send`](Self::send) of one message and [`close_writer`](Self::close_writer) in one, if `id` is an association whose
    /// request came whole, and if its answer, which is then in `out`, is all there is to send; `data` is
    /// empty then. `unconfirmed`: as [`Setting::UnconfirmedResponse`](crate::Setting::UnconfirmedResponse) before. False, and nothing
    /// done, if not.
    pub(crate) fn respond_at_once(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        unconfirmed: bool,
        out: &mut TransmitBatch,
    ) -> bool {
        let Some(slot) = self.contexts.find(id) else {
            return false;
        };
        let now = self.now.max(now);
        let alone = self.scheduler.is_empty() || self.scheduler.lone() == Some(slot);
        let settled = self.deferred.is_none() && self.unsettled.is_none_or(|unsettled| unsettled == slot);
        let rest = alone && settled && self.replies.is_empty() && !self.memory.is_rationed();
        let Some(record) = self.contexts.responder(slot).filter(|_| rest) else {
            return false;
        };
        // With room for what follows.
        let responds = record.responds()
            && !record.waits
            && (1..=SHORT).contains(&data.len())
            && record.steps.len() < STEPS / 2;
        if !responds || self.has_timer_due(now) {
            return false;
        }
        let before = std::mem::replace(&mut self.now, now);
        if self.answer_at_once(slot, data, unconfirmed, out) {
            return true;
        }
        self.now = before;
        false
    }

    /// The request in `slot` is answered so, if it is known how.
    fn answer_at_once(
        &mut self,
        slot: u32,
        data: &mut Bytes,
        unconfirmed: bool,
        out: &mut TransmitBatch,
    ) -> bool {
        let now = self.now;
        let Some(record) = self.contexts.responder_mut(slot) else {
            return false;
        };
        let (steps, usual) = (record.steps.len(), record.unconfirmed);
        if unconfirmed {
            record.steps.push((now, Step::Unconfirmed(true)));
        }
        record.steps.extend([(now, Step::Send), (now, Step::Close)]);
        record.answer = Some(std::mem::take(data));
        (record.closed, record.unconfirmed) = (true, unconfirmed);
        let first = out.begin();
        if self.answer(slot, out) {
            self.had_turn(slot);
        } else if unconfirmed {
            // One that ends the association is worth the long way here: its user goes at once.
            self.turn_with_its_context(slot, out);
        } else {
            let Some(record) = self.contexts.responder_mut(slot) else {
                return false;
            };
            record.steps.truncate(steps);
            *data = record.answer.take().unwrap_or_default();
            (record.closed, record.unconfirmed) = (false, usual);
            return false;
        }
        self.scheduler.remove(slot);
        self.stats.sent += out.datagrams_from(first) as u64;
        true
    }
}
