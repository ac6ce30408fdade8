//! Whether the next packet of the peer may be the last of the association.

use super::reader::{ReaderState, Refusal};
use super::{Context, Role, State};
use crate::error::CloseReason;
use crate::options::Confirm;
use xtp_wire::service;

impl Context {
    /// All was said in FIRST, once, and nothing has come back.
    pub(crate) fn awaits_last_word(&self) -> bool {
        self.role == Role::Initiator
            && self.state == State::Opening
            && !self.pattern.lasting
            && !self.pattern.one_way
            && self.timers.firsts == 1
            && self.peer_key.is_none()
            && self.goes_as_usual()
            // A response says nothing of whether the request was taken.
            && (self.confirm == Confirm::Received || self.pattern.service == service::ACKNOWLEDGED)
            && self.writer.close_outstanding()
            && self.writer.all_sent()
            && self.reader.state == ReaderState::Open
            && self.reader.refusal == Refusal::No
            && self.reader.sync_in.is_none()
    }

    /// The answer was the end, all of it was read, and it brought nothing else to know.
    pub(crate) fn ended_well(&self) -> bool {
        self.state == State::Gone
            && self.closed == Some(CloseReason::Normal)
            && self.reader.store.is_empty()
            && self.writer.queue.is_empty()
            && self.learned_token.is_none()
            && self.learned_refusal.is_none()
    }

    /// The answer to a FIRST that was all has left, once, and was all; nothing but the peer's END can follow in time.
    pub(crate) fn awaits_only_end(&self) -> bool {
        self.role == Role::Responder
            && self.state == State::Active
            && !self.regular
            && self.goes_as_usual()
            && self.writer.close_outstanding()
            && self.writer.all_sent()
            && self.writer.requests.dreq.is_none()
            && self.reader.state == ReaderState::Done
            && self.reader.refusal == Refusal::No
            && self.reader.dreq.is_none()
            && self.reader.store.is_empty()
    }

    /// Whether the answer asked for END, which then is a sample of the round trip.
    pub(crate) fn asks_for_end(&self) -> bool {
        let sync = self.writer.sync_out;
        self.sent_at(sync).is_some() && self.writer.requests.open.contains(&sync)
    }

    /// Nothing is under way beside the exchange itself, and its user is there.
    fn goes_as_usual(&self) -> bool {
        self.closed.is_none() && !self.released && !self.dirty && self.is_untroubled()
    }
}
