//! The thread that sends what short writes gathered, and the END that waits for another call, if their program does nothing more.
//!
//! It begins with the first stream of short writes or of calls of an endpoint and ends with the endpoint. While these come quickly
//! it looks after every nap whether something is older than its program would let it become; when none have come for a while it
//! rests until one does.

mod held;

use std::sync::{PoisonError, Weak};
use std::time::Duration;

use xtp_engine::Time;

use crate::clock::Clock;
use crate::core::{Aside, Flusher};
use crate::shared::{EndpointState, Shared};
use crate::sync::Arc;
use crate::sync::thread::{Builder, JoinHandle, current, park_timeout};
pub(crate) use held::{AGE, HeldSends};

/// How long it naps at first, and when writes go on coming: to be woken costs whoever has the core. What is gathered stays for the
/// longest and what the system adds, some 450 us.
const NAP: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_micros(400);
/// The same while calls come and no writes: nobody waits for the END of one.
const NAP_OF_CALLS: Duration = Duration::from_millis(2);
/// Naps in a row in which nothing was held, after which it rests.
const IDLE: u32 = 10;

/// Starts the thread of an endpoint. It does not keep the endpoint alive.
fn spawn(shared: Weak<Shared>, held: &Arc<HeldSends>, clock: Clock) -> std::io::Result<JoinHandle<()>> {
    let looks_at = Arc::clone(held);
    let thread = Builder::new()
        .name("xtp-flusher".into())
        .spawn(move || run(&shared, &looks_at, clock))?;
    held.tell(thread.thread().clone());
    Ok(thread)
}

fn is_this_thread(thread: &JoinHandle<()>) -> bool {
    thread.thread().id() == current().id()
}

fn run(shared: &Weak<Shared>, held: &HeldSends, clock: Clock) {
    let (mut nap, mut idle, mut seen) = (NAP, 0, held.counts());
    while !held.is_over() {
        park_timeout(nap);
        let before = std::mem::replace(&mut seen, held.counts());
        let calls_alone = seen.ends != before.ends && seen.writes == before.writes;
        nap = match calls_alone {
            true => NAP_OF_CALLS,
            false => (2 * nap).min(LONGEST),
        };
        if held.is_old(clock.now()) {
            // A reference for this moment only: the last handle drops the endpoint.
            let Some(shared) = shared.upgrade() else { return };
            shared.flush_held();
            (nap, idle) = (NAP, 0);
        } else if held.is_any() || seen != before {
            idle = 0;
        } else {
            idle += 1;
        }
        if idle >= IDLE {
            held.rest();
            (nap, idle) = (NAP, 0);
        }
    }
}

impl Shared {
    /// Sends what was held if it did not leave meanwhile. Whoever corked the endpoint sends it itself.
    fn flush_held(&self) {
        let mut state = self.lock();
        let now = state.core.now();
        if state.corks == 0 && state.core.gathering.held.is_old(now) {
            state.core.turn(now);
            self.announce(&mut state);
        }
        self.release(state);
    }

    /// What the flusher does after a nap, for a test without its thread; whether something is held that was not before.
    #[cfg(all(test, feature = "tokio"))]
    pub(crate) fn end_nap(&self) -> bool {
        let old = self.look(|core| core.gathering.held.is_old(core.now()));
        if old {
            self.flush_held();
        }
        let state = self.lock();
        let held = &state.core.gathering.held;
        assert!(!held.is_old(state.core.now()), "what is old has left");
        assert!(!old || !state.core.has_gathered(), "and nothing else is kept");
        held.is_any()
    }

    /// Ends a call that only collected a write: what has to leave besides leaves.
    pub(crate) fn proceed(&self, state: &mut EndpointState, now: Time) {
        if state.corks == 0 && state.core.is_pressing(now) {
            state.core.proceed(now);
            self.announce(state);
        }
    }

    /// Whether the question just asked collected a write and did nothing else, so that nothing has to leave.
    pub(crate) fn only_collected(&self, state: &mut EndpointState) -> bool {
        let aside = state.core.gathering.take_aside();
        if aside == Aside::Wanted {
            self.start_flusher(state);
        }
        aside == Aside::Collected
    }

    /// Somebody would hold something back: from now on there is who sends it, unless the system has no thread for it.
    #[cold]
    pub(crate) fn start_flusher(&self, state: &mut EndpointState) {
        if state.core.gathering.flusher != Flusher::None {
            return;
        }
        let held = Arc::clone(&state.core.gathering.held);
        state.core.gathering.flusher = match spawn(Weak::clone(&self.this), &held, state.core.clock()) {
            Ok(thread) => {
                *self.flusher.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
                Flusher::Running
            }
            Err(error) => {
                tracing::warn!(%error, "no thread for gathered writes: each leaves at once");
                Flusher::Refused
            }
        };
    }

    /// Ends the thread of an endpoint that has ended.
    pub(crate) fn end_flusher(&self) {
        let thread = self.flusher.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        let held = Arc::clone(&self.lock().core.gathering.held);
        held.end();
        // A call at a mark that this thread made may have dropped the last handle.
        if !is_this_thread(&thread) && thread.join().is_err() {
            tracing::error!("the thread that sends gathered writes panicked");
        }
    }
}
