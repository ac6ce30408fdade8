//! What earlier runs on this machine took.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::state;

use super::schedule::{Outcome, Verdict};

/// Where runs are remembered.
const REMEMBERED: &str = "runs.json";

/// Runs that are kept.
const KEPT: usize = 100;

/// One run of all steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    /// The commit it ran on; empty where there is no history.
    pub(super) commit: String,
    /// When it ended, in seconds since 1970.
    ended: u64,
    pub(super) passed: bool,
    /// Of the whole run.
    pub(super) seconds: u64,
    /// Of each step that ran.
    pub(super) steps: BTreeMap<String, u64>,
}

impl Run {
    pub(super) fn new(root: &Path, outcomes: &[Outcome], seconds: u64, passed: bool) -> Self {
        let ran = outcomes
            .iter()
            .filter(|outcome| !matches!(outcome.verdict, Verdict::LeftOut(_)));
        Self {
            commit: super::rotation::git(root, &["rev-parse", "HEAD"]).unwrap_or_default(),
            ended: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            passed,
            seconds,
            steps: ran
                .map(|outcome| (outcome.name.to_owned(), outcome.seconds))
                .collect(),
        }
    }
}

/// The runs on this machine, the oldest first.
#[derive(Debug, Default)]
pub(super) struct History {
    runs: Vec<Run>,
}

impl History {
    /// What is remembered.
    pub(super) fn read() -> Self {
        Self {
            runs: state::read(REMEMBERED).unwrap_or_default(),
        }
    }

    /// Remembers a run, and forgets those that are too old.
    pub(super) fn add(&mut self, run: Run) {
        self.runs.push(run);
        let surplus = self.runs.len().saturating_sub(KEPT);
        self.runs.drain(..surplus);
    }

    /// The runs, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().rev()
    }

    pub(super) fn write(&self) -> Result<(), String> {
        state::write(REMEMBERED, &self.runs)
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
