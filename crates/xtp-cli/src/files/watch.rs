//! The watcher of a transfer: draws the bar, ends the transfer when its time is over, and remembers when the other side
//! was heard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::Thread;
use std::time::{Duration, Instant};

use xtp::{Endpoint, Stream};

use super::report::Viewer;
use super::tally::Tally;
use crate::common::Outcome;

/// How often the bar is drawn and the deadline looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Tells a thread that looks after something that it is over, also where that panics: the panic would wait for the thread.
pub(super) struct Ends<'a>(pub(super) &'a AtomicBool, pub(super) &'a Thread);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}

/// Looks after a transfer.
pub(super) struct Watch<'a> {
    endpoint: &'a Endpoint,
    deadline: Option<Instant>,
    pub(super) late: AtomicBool,
    done: AtomicBool,
    /// Packets that had come at the last look, and when there were more of them than before.
    heard: Mutex<(u64, Instant)>,
    session: Mutex<Option<Session>>,
    silent: AtomicBool,
}

/// The session under way of a copy with a time limit.
struct Session {
    stream: Weak<Stream>,
    limit: Duration,
    /// Octets that had moved, and turns of this end's disk.
    moved: (u64, u64),
    since: Instant,
}

impl Session {
    /// Whether it is the other side's turn, and it has neither sent nor taken anything for too long: that its host answers is nothing.
    fn is_silent(&mut self, tally: &Tally) -> bool {
        let Some(stream) = self.stream.upgrade() else {
            return false;
        };
        let Ok(stats) = stream.stats() else { return false };
        let (octets, mut turns) = self.moved;
        let works = tally.has_worked(&mut turns) && stream.tuning().unacknowledged() == 0;
        let moved = stats.octets_acknowledged + stats.octets_received;
        if works || moved != octets {
            self.since = Instant::now();
        }
        self.moved = (moved, turns);
        let silent = self.since.elapsed() > self.limit;
        if silent {
            stream.abort_shared();
        }
        silent
    }
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
            session: Mutex::new(None),
            silent: AtomicBool::new(false),
        }
    }

    /// From now on `stream` is aborted where the other side does nothing for `limit`.
    pub(super) fn follow(&self, stream: &Arc<Stream>, limit: Option<Duration>) {
        let session = limit.map(|limit| Session {
            stream: Arc::downgrade(stream),
            limit,
            moved: (0, 0),
            since: Instant::now(),
        });
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session;
    }

    /// Whether the session was aborted for that.
    pub(super) fn was_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    fn look_at_session(&self, tally: &Tally) {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if session.as_mut().is_some_and(|session| session.is_silent(tally)) {
            self.silent.store(true, Ordering::Relaxed);
            *session = None;
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
            let ends = Ends(&self.done, watching.thread());
            let result = work();
            drop(ends);
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
            self.look_at_session(tally);
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

    /// When the other side was heard last, as exactly as looks are frequent.
    pub(super) fn heard(&self) -> Instant {
        let packets = self.endpoint.stats().packets_received();
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if packets != heard.0 {
            *heard = (packets, Instant::now());
        }
        heard.1
    }
}
