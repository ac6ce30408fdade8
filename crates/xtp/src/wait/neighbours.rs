//! Whether others compute on the core a thread polls on.
//!
//! A thread that gives its core away between polls gives it to a neighbour who computes, for milliseconds; one that sleeps is not let
//! in at once either. One that keeps the core while it polls has its share of it in pieces as long, and all of the neighbour's go by
//! between two of many waits. The system counts how often it took the core from a thread: together with a poll that lasted too long
//! that tells a neighbour from a machine that stood still.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use xtp_engine::Time;

/// Waits that keep the core when a neighbour was met first; each further meeting makes it [`MORE`] times as many.
const FIRST: u32 = 4_096;
const MORE: u32 = 4;
const MOST: u32 = 65_536;
/// And how long they do at most: the next who wants the core may be the one who is waited for.
const LASTS: Duration = Duration::from_millis(500);
const LASTS_AT_MOST: Duration = Duration::from_secs(4);
/// Waits in a row that polled and kept the core, after which there is no neighbour.
const CALM: u32 = 4_096;
/// Waits after which the system's count is read: what happened before is not blamed on what comes.
const READ_EVERY: u32 = 256;

thread_local! {
    /// How often the core was taken from this thread, as far as known, and waits since that was read.
    static TAKEN: Cell<(Option<u64>, u32)> = const { Cell::new((None, 0)) };
}

/// What an endpoint knows of them.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// How often one was met.
    met: AtomicU32,
    calm: AtomicU32,
    /// When giving the core away is worth another try, nanoseconds; 0: nothing is known against it.
    until: AtomicU64,
}

impl Neighbours {
    /// A wait polled and kept its core.
    #[inline]
    pub(super) fn keep_away(&self) {
        let (taken, waits) = TAKEN.get();
        match taken.is_none() || waits >= READ_EVERY {
            true => TAKEN.set((switches(), 0)),
            false => TAKEN.set((taken, waits + 1)),
        }
        if self.met.load(Ordering::Relaxed) > 0 {
            let calm = self.calm.load(Ordering::Relaxed) + 1;
            self.calm.store(calm, Ordering::Relaxed);
            if calm >= CALM {
                self.met.store(0, Ordering::Relaxed);
            }
        }
    }

    /// A poll lasted too long. If the core was taken meanwhile: for how many waits giving it away does not pay.
    #[cold]
    pub(super) fn meet(&self, now: Time) -> Option<u32> {
        let (before, _) = TAKEN.get();
        let taken = switches();
        TAKEN.set((taken, 0));
        if taken <= before.or(taken) {
            return None;
        }
        let met = self.met.load(Ordering::Relaxed).min(8);
        self.met.store(met + 1, Ordering::Relaxed);
        self.calm.store(0, Ordering::Relaxed);
        let lasts = (LASTS * (1 << met)).min(LASTS_AT_MOST);
        self.until.store((now + lasts).as_nanos(), Ordering::Relaxed);
        Some(FIRST.saturating_mul(MORE.pow(met)).min(MOST))
    }

    /// Whether what was said of them no longer holds. Asked once more, it does again.
    pub(super) fn are_forgiven(&self, now: Time) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        let over = until != 0 && now.as_nanos() >= until;
        if over {
            self.until.store(0, Ordering::Relaxed);
        }
        over
    }
}

/// How often the system took the core from this thread.
#[cfg(not(test))]
fn switches() -> Option<u64> {
    xtp_io::process::switches()
}

#[cfg(test)]
use tests::switches;

#[cfg(test)]
#[path = "neighbours_tests.rs"]
pub(super) mod tests;
