//! Whether a context is at rest: nothing queued, in flight, unread or owed, and nothing awaited but silence, or the moment to ask for a proof.

use super::reader::Owed;
use super::timers::Timer;
use super::{Context, Doubt, State};
use crate::time::Time;

/// What keeps a context from being parked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Something is under way; look again after its next turn.
    Busy,
    /// Nothing is under way, but what left last is too fresh to be forgotten before this moment.
    From(Time),
    /// It may be parked.
    Complete,
}

impl Context {
    /// Whether this context may be parked.
    pub(crate) fn rest(&self, now: Time) -> Rest {
        if self.state != State::Active {
            return Rest::Busy;
        }
        let quiet = self.streams_are_empty()
            && self.nothing_is_asked()
            && self.is_untroubled()
            && self.keeps_nothing_else();
        if !quiet || self.dirty || !self.only_silence_is_awaited() {
            return Rest::Busy;
        }
        // Packets of the last three round trips prove that a port has changed and not been forged (§7.6).
        let recent = 3 * self.rtt.srtt().unwrap_or_default();
        match self.timers.last_sent + recent {
            at if at < now => Rest::Complete,
            at => Rest::From(at + core::time::Duration::from_nanos(1)),
        }
    }

    /// Nothing is queued, in flight or unread.
    fn streams_are_empty(&self) -> bool {
        let (writer, reader) = (&self.writer, &self.reader);
        writer.queue.is_empty() && writer.inflight.is_empty() && reader.store.is_empty() && !reader.update_due
    }

    /// Neither end asked, owes or waits for anything about the streams.
    pub(super) fn nothing_is_asked(&self) -> bool {
        let (writer, reader) = (&self.writer, &self.reader);
        writer.requests.open.is_empty()
            && writer.requests.dreq.is_none()
            && writer.blocked.is_none()
            && writer.handshake.is_none()
            && writer.wanted.is_nothing()
            && reader.assembly.is_none()
            && reader.held.as_ref().is_none_or(|held| held.is_empty())
            && reader.dreq.is_none()
            && reader.owed == Owed::Nothing
            && !reader.end_pending
    }

    /// Nothing is under way beside the streams.
    pub(super) fn is_untroubled(&self) -> bool {
        !self.abort_pending
            && self.restart.is_none()
            && self.doubt == Doubt::No
            && self.unreachable.is_none()
            && self.moved.is_none()
            && self.marks.is_empty()
            && self.path_queue.is_empty()
            && self.learned_token.is_none()
            && self.learned_refusal.is_none()
            && !self.renegotiation.due
            && self.renegotiation.open.is_none()
    }

    /// What only a context that is whole knows.
    fn keeps_nothing_else(&self) -> bool {
        self.peer.validated
            && self.peer.mtu.is_at_rest()
            && self.cached.is_none()
            && !self.half_open
            && self.place.is_none()
            && !self.renegotiation.confirm
    }

    /// An initiator that waits to be proved asks again in a second (§3.7.3): until then there is nothing to do for it.
    fn only_silence_is_awaited(&self) -> bool {
        let other = if self.polls() { Timer::Wait } else { Timer::Context };
        self.timers.unanswered_since.is_none() && self.timers.run_alone([Timer::Context, other])
    }
}
