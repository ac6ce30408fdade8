//! What a copy has done so far: counted by the threads that do it, shown by the one that draws the bar.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::names::shown;
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

    /// Takes back what was added.
    pub(crate) fn take(&self, less: u64) {
        self.0.fetch_sub(less, Ordering::Relaxed);
    }

    fn empty(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What earlier sessions of a copy did that the next one finds done.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Before {
    sessions: u64,
    files: u64,
    links: u64,
    /// There before the first one.
    resumed: u64,
}

/// What a whole copy did, over all its sessions.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Sessions after the first one.
    pub(crate) outages: u64,
    pub(crate) files: u64,
    pub(crate) links: u64,
    pub(crate) unchanged: u64,
    pub(crate) resumed: u64,
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
    /// Things that were left out, and nothing is the worse for it.
    pub(crate) skipped: Count,
    /// Things that were removed because the sender does not have them.
    pub(crate) deleted: Count,
    /// Files that were on the disk before they got their names.
    pub(crate) synced: Count,
    /// Times that content arrived damaged and was asked for again.
    pub(crate) damaged: Count,
    /// What stands before paths at the other side; only the end with the user has a word for it.
    remote: Option<String>,
    problems: Mutex<Vec<Problem>>,
    /// What earlier sessions of this copy did.
    before: Mutex<Before>,
    /// Paths copied and removed, with `-v`.
    lines: Option<Mutex<Vec<String>>>,
    stopped: AtomicBool,
    /// How often the disk's thread has begun to rest or to work: it works where this is odd.
    turns: AtomicU64,
}

impl Tally {
    /// The disk's thread begins to work, or to rest.
    pub(crate) fn takes_turn(&self) {
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the disk's thread works, or has worked since this was asked last: then the other side may have waited for this one. `seen`
    /// is the count at the caller's last look.
    pub(crate) fn has_worked(&self, seen: &mut u64) -> bool {
        let turns = self.turns.load(Ordering::Relaxed);
        std::mem::replace(seen, turns) != turns || turns % 2 == 1
    }

    /// The tally of a client of `remote`: `xtp://host:port/`.
    ///
    /// With `lists` it keeps the names of what was copied and removed for [`lines`](Self::lines).
    pub(crate) fn of_client(remote: String, lists: bool) -> Self {
        Self {
            remote: Some(remote),
            lines: lists.then(Mutex::default),
            ..Self::default()
        }
    }

    /// A problem the other side told, as it is told here.
    pub(crate) fn told(&self, mut problem: Problem) -> Problem {
        problem.there = true;
        if let Some(remote) = &self.remote {
            problem.text.insert_str(0, remote);
        }
        problem
    }

    /// What this end's user calls `path` of the other side.
    pub(crate) fn there(&self, path: &[u8]) -> String {
        format!("{}{}", self.remote.as_deref().unwrap_or_default(), shown(path))
    }

    /// Takes note of a problem. What follows from one that was noted before is not.
    pub(crate) fn problem(&self, problem: Problem) {
        if problem.code == Code::Parent {
            return;
        }
        tracing::debug!(code = problem.code.word(), "{}", problem.text);
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let again = self
            .before
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .sessions
            > 0;
        if again && problems.contains(&problem) {
            return;
        }
        match problem.code {
            Code::Skipped => self.skipped.add(1),
            Code::Remark => {}
            _ => self.failed.add(1),
        }
        if problems.len() < KEPT {
            problems.push(problem);
        }
    }

    /// The session broke off and another one begins, which finds done what was done.
    pub(crate) fn begin_again(&self) {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        if before.sessions == 0 {
            before.resumed = self.resumed.get();
        }
        before.sessions += 1;
        before.files += self.files.empty();
        before.links += self.links.empty();
        for count in [
            &self.offered,
            &self.settled,
            &self.resumed,
            &self.unchanged,
            &self.directories,
        ] {
            count.empty();
        }
    }

    /// What all sessions did.
    pub(crate) fn totals(&self) -> Totals {
        let before = *self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let resumed = match before.sessions {
            0 => self.resumed.get(),
            _ => before.resumed,
        };
        Totals {
            outages: before.sessions,
            files: before.files + self.files.get(),
            links: before.links + self.links.get(),
            unchanged: self.unchanged.get().saturating_sub(before.files + before.links),
            resumed,
        }
    }

    /// The problems from number `from` on.
    pub(crate) fn problems(&self, from: usize) -> Vec<Problem> {
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems[from.min(problems.len())..].to_vec()
    }

    /// `label` was copied, or would be.
    pub(crate) fn list(&self, label: &str) {
        self.line(|| label.to_owned());
    }

    /// `label` was removed, or would be.
    pub(crate) fn list_deleted(&self, label: &str) {
        self.line(|| format!("deleting {label}"));
    }

    fn line(&self, text: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(text());
        }
    }

    /// What was listed since the last call.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Some(lines) = &self.lines else {
            return Vec::new();
        };
        std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks all threads of the copy to stop.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Fails if the copy is to stop: for loops that do not wait for the network.
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
