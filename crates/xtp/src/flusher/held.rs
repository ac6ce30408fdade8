//! What those who hold something back and the flusher know of each other without a lock.

use std::time::Duration;

use xtp_engine::Time;

use crate::sync::thread::{Thread, park};
use crate::sync::{AtomicBool, AtomicU64, OnceLock, Ordering, fence};

/// What has been gathered for so long leaves with the next write.
pub(crate) const AGE: Duration = Duration::from_micros(100);

/// Something that is held back, or not.
#[derive(Debug)]
struct One {
    /// When it is to leave, ns; 0: there is nothing.
    due: AtomicU64,
    /// How often there was something.
    count: AtomicU64,
}

impl One {
    fn new() -> Self {
        Self {
            due: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }

    /// There is something until `due`. Only who has the endpoint's lock says so, one at a time.
    fn hold(&self, due: Time) {
        self.count.store(
            self.count.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
        self.due.store(due.as_nanos().max(1), Ordering::Relaxed);
    }

    fn release(&self) {
        self.due.store(0, Ordering::Relaxed);
    }

    fn due(&self) -> u64 {
        self.due.load(Ordering::Relaxed)
    }

    fn is_old(&self, now: Time) -> bool {
        (1..=now.as_nanos()).contains(&self.due())
    }
}

/// How often something was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeldCounts {
    pub(super) writes: u64,
    pub(super) ends: u64,
}

/// Whether something is held, and whether the flusher has to be told.
#[derive(Debug)]
pub(crate) struct HeldSends {
    /// Short writes that are gathered.
    writes: One,
    /// The END of a call.
    end: One,
    /// The flusher rests and has to be told.
    rests: AtomicBool,
    /// The endpoint has ended.
    over: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Default for HeldSends {
    fn default() -> Self {
        Self {
            writes: One::new(),
            end: One::new(),
            rests: AtomicBool::new(false),
            over: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }
}

impl HeldSends {
    /// Writes are gathered, for the first time since the last [`release`](Self::release_writes). Needs to know its flusher.
    pub(crate) fn hold_writes(&self, now: Time) {
        self.writes.hold(now + AGE);
        self.tell_who_rests();
    }

    /// They have left.
    pub(crate) fn release_writes(&self) {
        self.writes.release();
    }

    /// An END waits until `due`. Needs to know its flusher.
    pub(crate) fn hold_end(&self, due: Time) {
        self.end.hold(due);
        self.tell_who_rests();
    }

    /// It has left.
    pub(crate) fn release_end(&self) {
        self.end.release();
    }

    fn tell_who_rests(&self) {
        // It and whoever goes to rest store first and look then at what the other stored: one of them sees it.
        fence(Ordering::SeqCst);
        if self.rests.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Whether something is held.
    pub(super) fn is_any(&self) -> bool {
        self.writes.due() > 0 || self.end.due() > 0
    }

    /// Whether something has waited so long at `now` that its program does nothing more.
    pub(super) fn is_old(&self, now: Time) -> bool {
        self.writes.is_old(now) || self.end.is_old(now)
    }

    pub(super) fn counts(&self) -> HeldCounts {
        HeldCounts {
            writes: self.writes.count.load(Ordering::Relaxed),
            ends: self.end.count.load(Ordering::Relaxed),
        }
    }

    /// The flusher's thread, which is told of what is held from now on.
    pub(super) fn tell(&self, flusher: Thread) {
        // There is one for each endpoint.
        self.thread.get_or_init(|| flusher);
    }

    /// The endpoint has ended.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.wake();
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// The flusher waits, perhaps for less, until something is held or the endpoint ends.
    pub(super) fn rest(&self) {
        self.rests.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !self.is_any() && !self.is_over() {
            park();
        }
        self.rests.store(false, Ordering::Relaxed);
    }
}

#[cfg(all(test, xtp_loom))]
#[path = "held_model_tests.rs"]
mod model_tests;
