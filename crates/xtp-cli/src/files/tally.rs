//! What a copy has done so far: counted by the threads that do it, shown by the one that draws the bar.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::problem::{Code, Fault, Problem};

/// Problems kept in words; further ones are counted.
const KEPT: usize = 1_000;

/// A number that several threads raise.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one session, the same in both roles.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Octets of all files offered so far.
    pub(crate) offered: Count,
    /// Octets of files that are in place, skipped, under way or given up: what the bar shows.
    pub(crate) settled: Count,
    /// Octets of content that went over the network.
    pub(crate) sent: Count,
    /// Octets that were there from an earlier, interrupted copy.
    pub(crate) resumed: Count,
    pub(crate) files: Count,
    pub(crate) unchanged: Count,
    pub(crate) directories: Count,
    pub(crate) links: Count,
    pub(crate) failed: Count,
    /// What stands before paths at the other side; only the end with the user has a word for it.
    remote: Option<String>,
    problems: Mutex<Vec<Problem>>,
    stopped: AtomicBool,
}

impl Tally {
    /// The tally of a client of `remote`: `xtp://host:port/`.
    pub(crate) fn of_client(remote: String) -> Self {
        Self {
            remote: Some(remote),
            ..Self::default()
        }
    }

    /// A problem the other side told, as it is told here.
    pub(crate) fn told(&self, mut problem: Problem) -> Problem {
        if let Some(remote) = &self.remote {
            problem.text.insert_str(0, remote);
        }
        problem
    }

    /// Takes note of a problem. What follows from one that was noted before is not.
    pub(crate) fn problem(&self, problem: Problem) {
        if problem.code == Code::Parent {
            return;
        }
        tracing::info!(code = problem.code.word(), "{}", problem.text);
        self.failed.add(1);
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < KEPT {
            problems.push(problem);
        }
    }

    /// The problems from number `from` on.
    pub(crate) fn problems(&self, from: usize) -> Vec<Problem> {
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems[from.min(problems.len())..].to_vec()
    }

    /// Asks everybody to stop.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Fails if somebody asked to stop: for loops that do not wait for the network.
    ///
    /// # Errors
    /// Exactly then.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.stopped.load(Ordering::Relaxed) {
            Err(Fault::Stopped)
        } else {
            Ok(())
        }
    }
}
