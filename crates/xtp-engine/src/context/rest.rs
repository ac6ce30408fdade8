//! Whether a context is at rest: nothing queued, in flight, unread or owed, and nothing awaited but silence, or the moment to ask for a proof.

use super::reader::Owed;
use super::timers::Timer;
use super::{Backlogged, Context, Env, State};
use crate::stats::ContextStats;
use core::time::Duration;
use xtp_core::time::Time;

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

/// An association that is used again within so many times [`park_after`](crate::config::EngineOverrides::park_after) of its last use is
/// in use all the time: with 10 ms, within 4 s.
const RECURS: u32 = 400;

/// The shortest pause between two uses that tells how soon it is used again, nanoseconds, and in round trips: what comes within these
/// answers what left.
const PAUSE: u64 = 10_000_000;
const ROUNDS: u32 = 4;

/// How soon a context is used again: whether it pays to pack it.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Usage {
    /// Octets of the user that had left and come when it had its last turn: what is left of their number tells whether it changed.
    octets: u16,
    /// The last pause between two uses was short.
    recurs: bool,
}

impl Usage {
    /// It was at rest: nothing has left or come since its last turn. Whether it recurs is learned by its next use.
    pub(super) fn at_rest(stats: &ContextStats) -> Self {
        Self {
            octets: octets_of(stats),
            recurs: false,
        }
    }
}

fn octets_of(stats: &ContextStats) -> u16 {
    (stats.octets_sent + stats.octets_received) as u16
}

impl Context {
    /// It had its turn. Only octets of its user are a use: an association that asks after a silence is not in use for that.
    #[inline]
    pub(super) fn note_turn(&mut self, env: &Env<'_>) {
        let (octets, usage) = (octets_of(&self.stats), &mut self.usage);
        let paused = env.now.as_nanos() >= self.touched.as_nanos().saturating_add(PAUSE);
        if paused && octets != usage.octets {
            let pause = env.now.since(self.touched);
            if pause > ROUNDS * self.rtt.srtt().unwrap_or_default() {
                usage.recurs = pause < env.config.overrides.park_after * RECURS;
            }
        }
        usage.octets = octets;
        self.touched = env.now;
    }

    /// When it has been quiet for `park_after`.
    pub(crate) fn quiet_at(&self, park_after: Duration) -> Time {
        self.touched + park_after
    }

    /// From when on it is not expected to be used soon, by what was learned of its pauses.
    pub(crate) fn idle_at(&self, park_after: Duration) -> Time {
        match self.usage.recurs {
            true => self.touched + park_after * RECURS,
            false => self.quiet_at(park_after),
        }
    }

    /// Whether it is used again and again.
    pub(crate) fn recurs(&self) -> bool {
        self.usage.recurs
    }

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
        match self.timers.last_sent() + recent {
            at if at < now => Rest::Complete,
            at => Rest::From(at + Duration::from_nanos(1)),
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
        writer.requests.is_empty()
            && writer.requests.dreq().is_none()
            && writer.blocked().is_none()
            && writer.handshake.is_none()
            && writer.wanted.is_nothing()
            && reader.assembly.is_none()
            && reader.held.as_ref().is_none_or(|held| held.is_empty())
            && reader.dreq.is_none()
            && reader.owed == Owed::Nothing
            && !reader.state.end_is_pending()
    }

    /// Nothing is under way beside the streams.
    pub(super) fn is_untroubled(&self) -> bool {
        !self.abort_pending
            && self.restart.is_none()
            && self.doubt.is_none()
            && self.moved.is_none()
            && self.marks.is_empty()
            && self.path_queue.is_empty()
            && self.learned_token.is_none()
            && self.learned_refusal.is_none()
            && !self.renegotiation.is_due()
            && !self.renegotiation.is_open()
    }

    /// What only a context that is whole knows.
    fn keeps_nothing_else(&self) -> bool {
        self.peer.validated
            && self.peer.mtu.is_at_rest()
            && self.cached.is_none()
            && !self.half_open
            && !self.backlog.is_some_and(Backlogged::has_place)
            && !self.renegotiation.asks()
    }

    /// An initiator that waits to be proved asks again in a second (§3.7.3): until then there is nothing to do for it.
    fn only_silence_is_awaited(&self) -> bool {
        let other = if self.polls() { Timer::Wait } else { Timer::Context };
        self.timers.unanswered_since().is_none() && self.timers.run_alone([Timer::Context, other])
    }
}
