//! Who looks after a transfer from aside: draws the bar, ends it when its time is over, and remembers when the other
//! side was heard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use xtp::Endpoint;

use super::report::Viewer;
use super::tally::Tally;
use crate::common::Outcome;

/// How often the bar is drawn and the deadline looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Looks after a transfer.
pub(super) struct Watch<'a> {
    endpoint: &'a Endpoint,
    deadline: Option<Instant>,
    pub(super) late: AtomicBool,
    done: AtomicBool,
    /// Packets that had come at the last look, and when there were more of them than before.
    heard: Mutex<(u64, Instant)>,
}

impl<'a> Watch<'a> {
    /// Of a transfer over `endpoint` that ends at `deadline`.
    pub(super) fn new(endpoint: &'a Endpoint, deadline: Option<Instant>) -> Self {
        Self {
            endpoint,
            deadline,
            late: AtomicBool::new(false),
            done: AtomicBool::new(false),
            heard: Mutex::new((0, Instant::now())),
        }
    }

    /// Does `work` and looks after it meanwhile: what became of it, and whether what the user asked to see was shown.
    pub(super) fn during<T>(
        &self,
        viewer: Viewer<'_>,
        tally: &Tally,
        work: impl FnOnce() -> T,
    ) -> (T, Outcome) {
        std::thread::scope(|scope| {
            let watching = scope.spawn(|| self.run(viewer, tally));
            let result = work();
            self.done.store(true, Ordering::Relaxed);
            watching.thread().unpark();
            let shown = watching.join();
            (
                result,
                shown.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        })
    }

    /// Watches until the transfer is done; an error if what the user asked to see could not be shown.
    fn run(&self, mut viewer: Viewer<'_>, tally: &Tally) -> Outcome {
        while !self.done.load(Ordering::Relaxed) {
            viewer.look();
            self.heard();
            if self.deadline.is_some_and(|deadline| deadline <= Instant::now())
                && !self.late.swap(true, Ordering::Relaxed)
            {
                tally.stop();
                self.endpoint.interrupt();
            }
            std::thread::park_timeout(LOOK);
        }
        let shown = viewer.end();
        if self.late.load(Ordering::Relaxed) {
            self.endpoint.resume();
        }
        shown
    }

    /// When the other side was heard last, as exactly as somebody looks.
    pub(super) fn heard(&self) -> Instant {
        let packets = self.endpoint.stats().packets_received();
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if packets != heard.0 {
            *heard = (packets, Instant::now());
        }
        heard.1
    }
}
