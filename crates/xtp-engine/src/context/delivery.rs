//! Delivery: what the peer's user has taken, and what this end's user will never take (§3.2, §6.4, §6.6).
//!
//! What arrived and is thrown away unread was not delivered, whatever became of the rest of the association. So a reader
//! remembers where its user stopped taking, and nothing it says of delivery passes that.

use super::modes::AutoClose;
use super::reader::PeerDreq;
use super::{Context, Env, Role, State};
use crate::error::CloseReason;
use crate::event::Event;
use crate::options::Confirm;
use xtp_wire::{Options, serial_gt};

/// A packet that asks of the whole stream whether it was taken: whoever only waits for credit has not sent all of it.
pub(crate) fn asks_for_delivery(options: Options) -> bool {
    options.contains(Options::DREQ | Options::WCLOSE)
}

impl Context {
    /// The user wants no more (§6.2).
    pub(crate) fn refuse_reader(&mut self, env: &mut Env<'_>) {
        self.reader.give_up(0);
        if !self.reader.state.is_open() || !self.state.is_live() {
            self.give_up_delivery(env);
            return;
        }
        let awaited = |dreq: PeerDreq| dreq.for_delivery && dreq.seq > self.reader.taken();
        // Who may not say that it wants no more only goes.
        if self.only_listens() || self.reader.dreq.is_some_and(awaited) {
            self.abort(env);
            return;
        }
        // Nothing more is wanted, so no room for it is offered either.
        self.reader.update_due = false;
        self.reader.state.refuse(self.state == State::Quiescent);
        self.give_up_delivery(env);
    }

    /// As [`refuse_reader`](Self::refuse_reader), where the peer is there and neither waits for an answer of the user nor
    /// owes one: the refusal then leaves with the close.
    pub(crate) fn forgo_reader(&mut self, env: &mut Env<'_>) {
        if self.state.heard()
            && self.state.is_live()
            && self.pattern.service != xtp_wire::service::TRANSACTION
            && !self.owes_delivery()
        {
            self.refuse_reader(env);
        }
    }

    /// The user takes no more, but its peer may finish: everything in order is thrown away, and the last `untaken` octets
    /// that were read have not come to the user either.
    pub(crate) fn discard(&mut self, untaken: u64, env: &mut Env<'_>) {
        // Whoever has read everything that came gives up nothing yet; but nobody receives what comes now.
        if untaken > 0 || self.reader.kept() > 0 || self.tuning.matched {
            self.reader.give_up(untaken);
        }
        // Whoever has found the end of what there is hears of what follows.
        self.reader.announced = false;
        self.note_delivery();
        // Whoever has not closed may still have something to say before.
        if !self.writer.state.is_open() {
            self.give_up_delivery(env);
        }
    }

    /// Whether the peer waits for the user to take something.
    pub(crate) fn owes_delivery(&self) -> bool {
        self.reader.dreq.is_some()
    }

    /// Whether something came that the user has not taken.
    pub(crate) fn has_untaken(&self) -> bool {
        self.reader.taken() < self.reader.store.next()
    }

    /// A DREQ beyond what a user took who takes no more is never answered. Where all of the stream is here nothing but an
    /// abort can say so (§6.6), once what this end wrote is confirmed; else the refusal says it, or has said it.
    pub(super) fn give_up_delivery(&mut self, env: &mut Env<'_>) {
        let stopped = self.reader.state.stopped_at();
        let beyond = |dreq: &PeerDreq| dreq.seq > stopped;
        let done = !self.reader.state.is_open() && self.state.is_live();
        let Some(dreq) = self.reader.dreq.filter(beyond).filter(|_| done) else {
            return;
        };
        if !dreq.for_delivery || !self.reader.is_complete() {
            self.reader.dreq = None;
            return;
        }
        let confirming = self.writer.state.is_closing() && self.unconfirmed() > 0;
        if !confirming {
            self.abort(env);
        }
    }

    /// WCLOSE of a responder that closes by itself tells that all was taken (L3), so it waits for that whoever closes.
    pub(super) fn withholds_close(&self) -> bool {
        let awaited = |dreq: PeerDreq| dreq.seq > self.reader.taken();
        self.role == Role::Responder
            && self.pattern.auto_close == AutoClose::WhenReceived
            && self.reader.dreq.is_some_and(awaited)
    }

    /// The close of this end's stream is to be answered when the peer's user has taken all of it. Then DREQ goes with
    /// every WCLOSE, so that nobody who knows the end of the stream knows nothing of the question.
    pub(super) fn close_awaits_delivery(&self) -> bool {
        self.waits_for_delivery()
            && self.writer.state.is_closing()
            && self.writer.delivered < self.writer.queue.end()
    }

    /// Reports the marks that are reached by now.
    pub(super) fn reach_marks(&mut self, env: &mut Env<'_>) {
        if self.marks.is_empty() {
            return;
        }
        let level = |what| self.writer.confirmed(what);
        let (received, delivered) = (level(Confirm::Received), level(Confirm::Delivered));
        for id in self.marks.reach(received, delivered) {
            self.event(env, Event::Marked(id));
        }
    }

    pub(super) fn waits_for_delivery(&self) -> bool {
        self.confirm == Confirm::Delivered && !self.pattern.one_way && !self.pattern.no_feedback
    }

    /// Whether a close of the peer that echoes this tells that its user has taken everything: it has seen the question.
    /// A packet that echoes nothing (data) is an answer.
    pub(super) fn is_told_of_delivery(&self, echo: Option<u32>) -> bool {
        let open = self.writer.requests.dreq_for_delivery();
        open.is_some_and(|dreq| echo.is_none_or(|echo| !serial_gt(dreq.since, echo)))
    }

    /// Octets of which this end's user waits to hear that they were taken.
    pub(super) fn undelivered(&self) -> u64 {
        let asked = self.writer.requests.dreq_for_delivery();
        let asked = asked.map_or(0, |dreq| dreq.seq);
        let closed = if self.waits_for_delivery() {
            self.writer.nxt
        } else {
            0
        };
        asked.max(closed).saturating_sub(self.writer.delivered)
    }

    /// What a good end is to this end's user: nobody who waits for delivery is told of less than that.
    pub(super) fn good_end(&self) -> CloseReason {
        let octets = match self.waits_for_delivery() {
            true => self.writer.nxt.saturating_sub(self.writer.delivered),
            false => 0,
        };
        match self
            .writer
            .state
            .not_taken()
            .map(|not_taken| not_taken.max(octets))
        {
            Some(not_taken) if not_taken > 0 => CloseReason::RefusedByReader { not_taken },
            None if octets > 0 => CloseReason::Unconfirmed { octets },
            _ => CloseReason::Normal,
        }
    }
}
