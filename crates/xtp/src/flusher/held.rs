//! What those who gather and the flusher know of each other without a lock.

use xtp_engine::Time;

use crate::core::AGE;
use crate::sync::thread::{Thread, park};
use crate::sync::{AtomicBool, AtomicU64, OnceLock, Ordering, fence};

/// Whether something is gathered, and whether the flusher has to be told.
#[derive(Debug)]
pub(crate) struct Held {
    /// When the first of what is gathered now was, ns; 0: nothing is.
    since: AtomicU64,
    /// The flusher rests and has to be told.
    rests: AtomicBool,
    /// The endpoint has ended.
    over: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            since: AtomicU64::new(0),
            rests: AtomicBool::new(false),
            over: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }
}

impl Held {
    /// Something is gathered, for the first time since the last [`release`](Self::release). Needs to know its flusher.
    pub(crate) fn hold(&self, now: Time) {
        self.since.store(now.as_nanos().max(1), Ordering::Relaxed);
        // It and whoever goes to rest store first and look then at what the other stored: one of them sees it.
        fence(Ordering::SeqCst);
        if self.rests.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// It has left.
    pub(crate) fn release(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// Whether something is gathered.
    pub(super) fn is_any(&self) -> bool {
        self.since() > 0
    }

    /// Whether what is gathered has waited so long at `now` that its writer does nothing more.
    pub(super) fn is_old(&self, now: Time) -> bool {
        let since = self.since();
        since > 0 && now.as_nanos() >= since + AGE.as_nanos() as u64
    }

    /// Since when something is gathered, ns; 0: nothing is.
    fn since(&self) -> u64 {
        self.since.load(Ordering::Relaxed)
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

    /// The flusher waits, perhaps for less, until something is gathered or the endpoint ends.
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
