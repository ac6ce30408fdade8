//! The order in which an engine is driven: what a socket, a link of the simulator and a fuzz target have in common.
//!
//! An [`Engine`] has short ways for the one thing its user waits for, and each of them may be asked only at its place:
//! a datagram is offered to the [`Expectation`](crate::Expectation) first, what answers it leaves before the bookkeeping, and
//! what can wait is done when nobody has anything to do. The [`Driver`] is that order. It owns the engine, the packets
//! that found no room yet and the expectation; sockets, clocks and whoever waits are its caller's.

mod catch_up;
mod ends;
mod expectation;
mod input;
mod message;

pub use catch_up::HistoryWish;
pub use expectation::Reply;
pub use input::{Arrivals, Arrived, Joined};
pub use message::Parting;

use crate::engine::Engine;
use crate::event::ContextId;
use core::time::Duration;
use ends::DeferredEnd;
use expectation::ExpectationState;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;

/// How soon to try again when there was no room for a train although there seems to be now.
const STALL_RETRY: Duration = Duration::from_millis(1);

/// Takes packets away: a socket, or a link.
pub trait Outlet {
    /// Sends what `out` holds. What left is gone from `out`; if something stays because there is no room, all of it is
    /// offered again with the next turn, and how much of that has left already is this outlet's business. `engine` is to
    /// be told of datagrams that were too big ([`Engine::failed`]).
    fn send(&mut self, now: Time, engine: &mut Engine, out: &mut TransmitBatch);
}

/// An [`Engine`] and the order of the calls that drive it, sans I/O.
///
/// Four kinds of calls, again and again:
///
/// 1. **Datagrams in**: [`receive`](Self::receive) (or [`receive_all`](Self::receive_all)), each followed by
///    [`reply`](Self::reply).
/// 2. **Commands**: those of the engine ([`command`](Self::command), [`view`](Self::view)), and the ones of whole messages here:
///    [`begin_message`](Self::begin_message), [`hand_out`](Self::hand_out),
///    [`respond_at_once`](Self::respond_at_once), [`close`](Self::close), [`detach_ended`](Self::detach_ended).
///    What the caller waits for is [expected](Self::expect).
/// 3. **[`turn`](Self::turn)**: packets leave through the [`Outlet`]; then [`release_detached`](Self::release_detached).
/// 4. **Time**: [`deadline`](Self::deadline) for the next turn, [`tidy`](Self::tidy) when there is nothing to do.
///
/// After each of them [`poll_event`](Engine::poll_event) until there is none.
pub struct Driver {
    engine: Engine,
    /// What the engine wants sent and found no room; empty between calls otherwise.
    out: TransmitBatch,
    /// When there was no room last.
    stalled_at: Time,
    deferred_end: DeferredEnd,
    awaited: ExpectationState,
    /// An association nobody held came to its end, and nothing else.
    passing: bool,
    /// Associations nobody holds, with nothing left to confirm. They are released at the end of a turn, when answers
    /// owed for what their users read have left: releasing one that owes an answer aborts it.
    leaving: Vec<ContextId>,
    /// Associations that are over and that nobody holds: released when there is nothing else to do.
    spent: Vec<ContextId>,
    /// Associations of members of groups that fetch what they lack, and of those that supply it.
    catch_ups: catch_up::CatchUps,
}

impl Driver {
    /// Drives `engine`.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            out: TransmitBatch::new(),
            stalled_at: Time::ZERO,
            deferred_end: DeferredEnd::default(),
            awaited: ExpectationState::default(),
            passing: false,
            leaving: Vec::new(),
            spent: Vec::new(),
            catch_ups: catch_up::CatchUps::default(),
        }
    }

    /// The engine, for its commands.
    #[inline(always)]
    pub fn command(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// The engine, to be looked at.
    #[inline(always)]
    pub fn view(&self) -> &Engine {
        &self.engine
    }

    /// The engine, to be asked as of now: what was deferred until packets are under way is accounted for.
    pub fn settled(&mut self) -> &Engine {
        self.engine.catch_up();
        &self.engine
    }

    /// Whether packets wait for room.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        !self.out.is_empty()
    }

    /// Whether nothing is left to do before anything else.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        !self.is_stalled() && self.leaving.is_empty()
    }

    /// When the next turn is due although nothing arrives.
    pub fn deadline(&self) -> Option<Time> {
        self.earliest(self.engine.deadline())
    }

    /// The same for somebody who would rather sleep on for a few milliseconds: without the question after a moment of silence
    /// (§3.6) of the association whose deadline is the first.
    pub fn patient_deadline(&self) -> Option<Time> {
        self.earliest(self.engine.patient_deadline())
    }

    fn earliest(&self, engine: Option<Time>) -> Option<Time> {
        if self.is_stalled() {
            return Some(self.stalled_at + STALL_RETRY);
        }
        let others = self.catch_ups.deadline().into_iter().chain(self.end_due());
        engine.into_iter().chain(others).min()
    }

    /// Whether a turn now would do more than put timers right. When not, the turn of the latest input may be that of
    /// the user's next call: whoever reads a message mostly answers it, and both then cost one turn.
    pub fn is_pressing(&self, now: Time) -> bool {
        !self.is_at_rest() || self.engine.is_pressing(now) || self.catch_ups.is_pressing(now)
    }

    /// Ends a batch of input or commands: timers, answers and data leave. False if there was no room for what waits
    /// already: then the engine was not asked for more.
    pub fn turn(&mut self, now: Time, outlet: &mut impl Outlet) -> bool {
        if self.is_stalled() {
            self.send_out(now, outlet);
            if self.is_stalled() {
                return false;
            }
        }
        // A party may be gone before the associations that served it.
        if self.engine.has_groups() || !self.catch_ups.is_idle() {
            self.catch_ups.turn(now, &mut self.engine);
        }
        self.engine.flush_ahead(now, &mut self.out);
        self.engine.flush_parties(now, &mut self.out);
        if !self.out.is_empty() {
            self.send_out(now, outlet);
        }
        if self.end_due().is_some() {
            self.send_end(now, outlet);
        }
        // The bookkeeping is done while the packet is under way.
        self.engine.catch_up();
        true
    }

    fn send_out(&mut self, now: Time, outlet: &mut impl Outlet) {
        outlet.send(now, &mut self.engine, &mut self.out);
        if self.is_stalled() {
            self.stalled_at = now;
        }
    }

    /// There is nothing to do, or counters are looked at: puts away what is over.
    pub fn tidy(&mut self, now: Time) {
        self.engine.catch_up();
        while let Some(id) = self.spent.pop() {
            let _ = self.engine.release(now, id);
        }
    }

    /// Whether what came last was the end of what nobody holds, and nothing else: whoever waits goes on waiting.
    pub fn take_passing(&mut self) -> bool {
        core::mem::take(&mut self.passing)
    }
}

#[cfg(test)]
#[path = "driver_tests.rs"]
mod tests;
