//! Which part of what is exhaustive runs: the commit's, and what concerns the files that changed.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::Command;

use super::arguments::Arguments;
use super::history::History;

/// Parts of every exhaustive step.
pub(super) const PARTS: u32 = 4;

/// Seconds of history that count as changed where no run on this machine passed yet.
const DAY: u64 = 24 * 60 * 60;

/// The part of a run, and the files that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rotation {
    /// The part; `None` for all.
    part: Option<u32>,
    /// Paths from the root of the repository; `None` if they are not known and every file counts as changed.
    changed: Option<BTreeSet<String>>,
    /// What the changes are counted from, in words.
    since: String,
}

impl Rotation {
    /// All of everything.
    pub(super) fn whole() -> Self {
        Self {
            part: None,
            changed: None,
            since: "ever".to_owned(),
        }
    }

    /// That of the commit that is checked out.
    pub(super) fn of(root: &Path, arguments: &Arguments, history: &History) -> Result<Self, String> {
        let head = git(root, &["rev-parse", "HEAD"]);
        let part = arguments.part.or(head.as_deref().map(part_of));
        let (base, since) = match &arguments.base {
            Some(base) => {
                let base = git(root, &["rev-parse", "--verify", &format!("{base}^{{commit}}")])
                    .ok_or(format!("--base {base}: git knows no such commit"))?;
                let short = short(&base).to_owned();
                (Some(base), short)
            }
            None => base(root, history),
        };
        let changed = base.and_then(|base| changed(root, &base));
        Ok(Self {
            part: part.filter(|_| changed.is_some()),
            changed,
            since,
        })
    }

    /// The part, if not all of everything runs.
    pub(super) fn part(&self) -> Option<u32> {
        self.part
    }

    /// The changed files below these folders, or these files themselves; `None` if every file counts as changed.
    pub(super) fn changed_below(&self, places: &[&str]) -> Option<Vec<&str>> {
        let changed = self.changed.as_ref()?;
        let lies = |path: &&String| places.iter().any(|place| path.starts_with(place));
        Some(changed.iter().filter(lies).map(String::as_str).collect())
    }

    /// Whether what has its turn in `turn` and concerns these places runs.
    pub(super) fn is_due(&self, turn: u32, places: &[&str]) -> bool {
        let concerned = self
            .changed_below(places)
            .is_none_or(|changed| !changed.is_empty());
        self.part.is_none_or(|part| part == turn) || concerned
    }
}

impl fmt::Display for Rotation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.part, &self.changed) {
            (Some(part), Some(changed)) => write!(
                formatter,
                "part {part} of 0 to {}, and what concerns the {} files changed since {}",
                PARTS - 1,
                changed.len(),
                self.since
            ),
            _ => write!(formatter, "all of everything"),
        }
    }
}

/// The part of a commit: its name is as good as a die.
fn part_of(commit: &str) -> u32 {
    u32::from_str_radix(commit.get(..7).unwrap_or("0"), 16).unwrap_or(0) % PARTS
}

/// The newest commit that passed on this machine and that HEAD descends from, or the last one a day older than HEAD.
fn base(root: &Path, history: &History) -> (Option<String>, String) {
    let is_ancestor = |commit: &str| {
        let words = ["merge-base", "--is-ancestor", commit, "HEAD"];
        !commit.is_empty() && git(root, &words).is_some()
    };
    let passed = history.newest_first().filter(|run| run.passed);
    if let Some(run) = passed.take(20).find(|run| is_ancestor(&run.commit)) {
        let since = format!("{}, which passed here", short(&run.commit));
        return (Some(run.commit.clone()), since);
    }
    let head = git(root, &["log", "-1", "--format=%ct"]).and_then(|time| time.parse::<u64>().ok());
    let older = head.and_then(|time| {
        let before = format!("--before={}", time.saturating_sub(DAY));
        git(root, &["rev-list", "-1", &before, "HEAD"])
    });
    let older = older.filter(|commit| !commit.is_empty());
    let since = older
        .as_deref()
        .map(|commit| format!("{}, a day before", short(commit)));
    (older, since.unwrap_or_else(|| "ever".to_owned()))
}

fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

/// Files that differ between `base` and the work tree, those git does not know yet included.
fn changed(root: &Path, base: &str) -> Option<BTreeSet<String>> {
    let tracked = git(root, &["diff", "--name-only", "--no-renames", base])?;
    let new = git(root, &["ls-files", "--others", "--exclude-standard"])?;
    let paths = tracked.lines().chain(new.lines());
    Some(paths.map(str::to_owned).collect())
}

/// What git answers; `None` if it does not end well, or is not there.
pub(super) fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).current_dir(root).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

#[cfg(test)]
#[path = "rotation_tests.rs"]
mod tests;
