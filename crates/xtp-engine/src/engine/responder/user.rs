//! What the user of a pending responder does.

use super::super::{Engine, Read};
use super::{Done, Responder, SHORT};
use crate::event::{ContextId, MarkId};
use crate::options::Confirm;
use bytes::Bytes;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;

impl Responder {
    /// Whether its user has the request, and owes the answer.
    fn responds(&self) -> bool {
        let done = &self.done;
        self.is_request() && done.read && done.answer.is_none() && !done.closed && self.left().is_none()
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
        (record.done.released.is_none() && !rationed).then_some((slot, record))
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

    /// Its user does something with it that it may do now, and it is to have a turn; false, and nothing done, if that takes a context.
    fn user_does(
        &mut self,
        now: Time,
        id: ContextId,
        may: impl FnOnce(&Responder) -> bool,
        does: impl FnOnce(&mut Done, Time),
    ) -> bool {
        let at = self.now.max(now);
        let found = self.noting(now, id).filter(|(_, record)| may(record));
        let Some((slot, record)) = found else {
            return false;
        };
        does(&mut record.done, at);
        self.mark_pending_dirty(slot);
        true
    }

    pub(in super::super) fn read_request(&mut self, now: Time, id: ContextId, max: usize) -> Option<Read> {
        let (slot, record) = self.noting(now, id)?;
        let read = if record.done.read {
            record.done.read_end = true;
            Read::End
        } else if record.message.len() > max {
            return None;
        } else {
            Read::Data {
                offset: 0,
                bytes: record.take_message(),
                eom: true,
            }
        };
        self.mark_pending_dirty(slot);
        Some(read)
    }

    /// Its user takes no more: all that came is read already.
    pub(in super::super) fn discard_request(&mut self, now: Time, id: ContextId) -> bool {
        let may = |record: &Responder| record.done.read;
        self.user_does(now, id, may, |done, now| done.discarded = Some(now))
    }

    /// The one message of the answer.
    pub(in super::super) fn send_response(
        &mut self,
        now: Time,
        id: ContextId,
        data: &mut Bytes,
        eom: bool,
    ) -> bool {
        let short = eom && (1..=SHORT).contains(&data.len());
        let may = |record: &Responder| short && record.responds();
        self.user_does(now, id, may, |done, _| done.answer = Some(std::mem::take(data)))
    }

    /// The user says whether the answer is to be confirmed, before it gives it.
    pub(in super::super) fn confirm_response(&mut self, now: Time, id: ContextId, unconfirmed: bool) -> bool {
        let does = |done: &mut Done, _| done.unconfirmed = unconfirmed;
        self.user_does(now, id, Responder::responds, does)
    }

    pub(in super::super) fn close_pending(&mut self, now: Time, id: ContextId) -> bool {
        // What was answered is closed already.
        let may = |record: &Responder| {
            record.awaits_end() || record.left().is_none() && record.done.answer.is_some()
        };
        // What answers a message that is no request was never open.
        self.user_does(now, id, may, |done, _| done.closed |= done.answer.is_some())
    }

    pub(in super::super) fn mark_pending(
        &mut self,
        now: Time,
        id: ContextId,
        mark: MarkId,
        at: u64,
        what: Confirm,
    ) -> bool {
        let may = |record: &Responder| {
            let answer = record.answer_len();
            let whole = answer > 0 && at == answer && what == Confirm::Received;
            record.awaits_end() && record.done.mark.is_none() && whole
        };
        self.user_does(now, id, may, |done, now| done.mark = Some((mark, now)))
    }

    /// Its user lets go of one that was answered.
    pub(in super::super) fn release_response(&mut self, now: Time, id: ContextId) -> bool {
        let at = self.now.max(now);
        let found = self.noting(now, id).filter(|(_, record)| record.left().is_some());
        let Some((slot, record)) = found else {
            return false;
        };
        record.done.released = Some(at);
        // What a command changed is put away with the next turn, and counts until then.
        match record.over && !record.dirty {
            true => self.let_go_of_responder(slot),
            false => self.mark_pending_dirty(slot),
        }
        true
    }

    /// Its user takes no more of what comes, and nothing but END will.
    pub(in super::super) fn forgo_request(&mut self, now: Time, id: ContextId) -> bool {
        self.user_does(now, id, Responder::awaits_end, |done, now| {
            done.forgone = Some(now)
        })
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
        let responds = record.responds() && !record.waits && (1..=SHORT).contains(&data.len());
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
        let Some(record) = self.contexts.responder_mut(slot) else {
            return false;
        };
        let done = &mut record.done;
        let usual = std::mem::replace(&mut done.unconfirmed, unconfirmed);
        (done.answer, done.closed) = (Some(std::mem::take(data)), true);
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
            *data = record.done.answer.take().unwrap_or_default();
            (record.done.closed, record.done.unconfirmed) = (false, usual);
            return false;
        }
        self.scheduler.remove(slot);
        self.stats.sent += out.datagrams_from(first) as u64;
        true
    }
}
