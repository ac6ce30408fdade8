//! The thread that sends what short writes gathered if their writer does nothing more.
//!
//! It begins with the first stream of short writes of an endpoint and ends with the endpoint. While writes come quickly it
//! looks after every nap whether something gathered is older than its writer would let it become; when none have come for a
//! while it rests until one does.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use xtp_engine::Time;

use crate::clock::Clock;
use crate::core::{AGE, Aside, Flusher};
use crate::shared::{Shared, State};

/// How long it naps at first, and when writes go on coming: to be woken costs whoever has the core. What is gathered stays for the
/// longest and what the system adds, some 450 us.
const NAP: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_micros(400);
/// Naps in a row in which nothing was gathered, after which it rests.
const IDLE: u32 = 10;

/// What those who gather and the flusher know of each other without a lock.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// When the first of what is gathered now was, ns; 0: nothing is.
    since: AtomicU64,
    /// The flusher rests and has to be told.
    rests: AtomicBool,
    /// The endpoint has ended.
    over: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Held {
    /// Something is gathered, for the first time since the last [`release`](Self::release).
    pub(crate) fn hold(&self, now: Time) {
        // Both look at what the other stored: one of them sees it.
        self.since.store(now.as_nanos().max(1), Ordering::SeqCst);
        if self.rests.load(Ordering::SeqCst) && self.rests.swap(false, Ordering::SeqCst) {
            self.wake();
        }
    }

    /// It has left.
    pub(crate) fn release(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// Since when something is gathered, ns; 0: nothing is.
    fn since(&self) -> u64 {
        self.since.load(Ordering::SeqCst)
    }

    /// Whether what is gathered has waited so long at `now` that its writer does nothing more.
    fn is_old(&self, now: Time) -> bool {
        let since = self.since();
        since > 0 && now.as_nanos() >= since + AGE.as_nanos() as u64
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    fn rest(&self) {
        self.rests.store(true, Ordering::SeqCst);
        if self.since() == 0 && !self.is_over() {
            std::thread::park();
        }
        self.rests.store(false, Ordering::SeqCst);
    }
}

/// Starts the thread of an endpoint. It does not keep the endpoint alive.
fn spawn(shared: Weak<Shared>, held: &Arc<Held>, clock: Clock) -> std::io::Result<JoinHandle<()>> {
    let looks_at = Arc::clone(held);
    let thread = std::thread::Builder::new()
        .name("xtp-flusher".into())
        .spawn(move || run(&shared, &looks_at, clock))?;
    // There is one for each endpoint.
    let _ = held.thread.set(thread.thread().clone());
    Ok(thread)
}

fn run(shared: &Weak<Shared>, held: &Held, clock: Clock) {
    let (mut nap, mut idle) = (NAP, 0);
    while !held.is_over() {
        std::thread::park_timeout(nap);
        nap = (2 * nap).min(LONGEST);
        if held.is_old(clock.now()) {
            // A reference for this moment only: the last handle drops the endpoint.
            let Some(shared) = shared.upgrade() else { return };
            shared.flush_gathered();
            (nap, idle) = (NAP, 0);
        } else if held.since() > 0 {
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
    /// Sends what was gathered if it did not leave meanwhile. Whoever corked the endpoint sends it itself.
    fn flush_gathered(&self) {
        let mut state = self.lock();
        let now = state.core.now();
        if state.corks == 0 && state.core.gathering.held.is_old(now) {
            state.core.turn(now);
            self.announce(&mut state);
        }
    }

    /// Ends a call that only collected a write: what has to leave besides leaves.
    pub(crate) fn proceed(&self, state: &mut State, now: Time) {
        if state.corks == 0 && state.core.is_pressing(now) {
            state.core.proceed(now);
            self.announce(state);
        }
    }

    /// Whether the question just asked collected a write and did nothing else, so that nothing has to leave.
    pub(crate) fn only_collected(&self, state: &mut State) -> bool {
        let aside = state.core.gathering.take_aside();
        if aside == Aside::Wanted {
            self.start_flusher(state);
        }
        aside == Aside::Collected
    }

    /// Somebody would gather writes: from now on there is who sends them, unless the system has no thread for it.
    #[cold]
    fn start_flusher(&self, state: &mut State) {
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
        held.over.store(true, Ordering::SeqCst);
        held.wake();
        if thread.join().is_err() {
            tracing::error!("the thread that sends gathered writes panicked");
        }
    }
}
