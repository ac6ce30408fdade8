//! Runs steps as processes, some at a time.
//!
//! A step begins when a core is free, the steps it needs have passed, and no running step builds in its target
//! directory; of several the first in the list. Steps that fail do not stop the others: one run shows all that is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::rotation::Rotation;
use super::steps::{Step, Work};

/// Words of a command that an error shows.
const SHOWN: usize = 8;

/// Lines of a failed step's output that stand once more at the end of a run.
const LAST: usize = 60;

/// What a step prints to say what it ran stands behind this.
const RAN: &str = "ran: ";

/// A step of one run.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) name: &'static str,
    /// The target directory it builds in; empty if in none.
    place: &'static str,
    /// Steps that must have passed.
    needs: &'static [&'static str],
    /// Whether it may be left out when it is late.
    rotates: bool,
    work: Work,
}

impl Job {
    pub(super) fn new(step: &Step, rotation: &Rotation) -> Self {
        Self {
            name: step.name,
            place: step.place,
            needs: step.needs,
            rotates: step.rotates,
            work: (step.work)(rotation),
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    /// Why.
    Failed(String),
    /// Why.
    LeftOut(String),
}

/// What became of a step.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) seconds: u64,
    /// What it says it ran; empty if it says nothing.
    pub(super) ran: String,
}

impl Outcome {
    fn left_out(name: &'static str, reason: String) -> Self {
        Self {
            name,
            verdict: Verdict::LeftOut(reason),
            seconds: 0,
            ran: String::new(),
        }
    }
}

/// Runs all jobs, `slots` at a time (one a core if `None`); their outcomes in the order of `jobs`.
///
/// # Errors
/// The folder of what is printed cannot be made.
pub(super) fn run(
    root: &Path,
    folder: &Path,
    jobs: &[Job],
    slots: Option<usize>,
    late: Duration,
) -> Result<Vec<Outcome>, String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let slots = slots.unwrap_or_else(crate::pool::cores);
    let begin = Instant::now();
    let mut board = Board::new(jobs);
    std::thread::scope(|scope| {
        let (sender, ended) = channel();
        loop {
            while board.running.len() < slots
                && let Some(index) = board.next(begin.elapsed() > late)
            {
                let (job, sender) = (&jobs[index], sender.clone());
                println!("ci: {} begins at {} s", job.name, begin.elapsed().as_secs());
                scope.spawn(move || {
                    let outcome = perform(root, folder, job);
                    // The receiver lives as long as any step runs.
                    let _ = sender.send((index, outcome));
                });
            }
            if board.running.is_empty() {
                break;
            }
            let Ok((index, outcome)) = ended.recv() else { break };
            show(folder, &outcome);
            board.end(index, outcome);
        }
    });
    Ok(board.outcomes())
}

/// What runs, what waits, and what became of the others.
struct Board<'j> {
    jobs: &'j [Job],
    waiting: BTreeSet<usize>,
    running: BTreeSet<usize>,
    ended: BTreeMap<usize, Outcome>,
}

impl<'j> Board<'j> {
    fn new(jobs: &'j [Job]) -> Self {
        Self {
            jobs,
            waiting: (0..jobs.len()).collect(),
            running: BTreeSet::new(),
            ended: BTreeMap::new(),
        }
    }

    /// The next job that may begin, which counts as running from now on. Jobs that are not to run at all end here.
    fn next(&mut self, late: bool) -> Option<usize> {
        for index in self.waiting.clone() {
            let job = &self.jobs[index];
            let reason = match &job.work {
                Work::LeftOut(reason) => Some(reason.clone()),
                Work::Run(_) if late && job.rotates => Some("late: this machine was busy".to_owned()),
                Work::Run(_) => self
                    .missing(job)
                    .map(|step| format!("`{step}`, which it needs, did not pass")),
            };
            if let Some(reason) = reason {
                self.waiting.remove(&index);
                self.ended.insert(index, Outcome::left_out(job.name, reason));
            } else if self.may_begin(job) {
                self.waiting.remove(&index);
                self.running.insert(index);
                return Some(index);
            }
        }
        None
    }

    /// A step it needs that ended and did not pass.
    fn missing(&self, job: &Job) -> Option<&'static str> {
        let missing = self
            .ended
            .values()
            .find(|outcome| job.needs.contains(&outcome.name) && outcome.verdict != Verdict::Passed)?;
        Some(missing.name)
    }

    /// Whether nothing it needs is still to come and its target directory is free. A step that was not asked for is needed
    /// by no other.
    fn may_begin(&self, job: &Job) -> bool {
        let mut others = self.waiting.iter().chain(&self.running);
        let needed = others.any(|other| job.needs.contains(&self.jobs[*other].name));
        let mut builders = self.running.iter().map(|index| self.jobs[*index].place);
        !needed && (job.place.is_empty() || !builders.any(|place| place == job.place))
    }

    fn end(&mut self, index: usize, outcome: Outcome) {
        self.running.remove(&index);
        self.ended.insert(index, outcome);
    }

    fn outcomes(self) -> Vec<Outcome> {
        self.ended.into_values().collect()
    }
}

/// Runs the commands of a job until one fails.
fn perform(root: &Path, folder: &Path, job: &Job) -> Outcome {
    let begin = Instant::now();
    let log = folder.join(format!("{}.log", job.name));
    let commands = match &job.work {
        Work::Run(commands) => commands.as_slice(),
        Work::LeftOut(_) => &[],
    };
    let done = File::create(&log)
        .map_err(|error| format!("{}: {error}", log.display()))
        .and_then(|file| {
            commands
                .iter()
                .try_for_each(|command| succeed(root, command, &file))
        });
    Outcome {
        name: job.name,
        verdict: done.map_or_else(Verdict::Failed, |()| Verdict::Passed),
        seconds: begin.elapsed().as_secs(),
        ran: ran(&std::fs::read_to_string(&log).unwrap_or_default()),
    }
}

/// Runs one command, whose output goes to `log`.
fn succeed(root: &Path, words: &[String], log: &File) -> Result<(), String> {
    let [program, words @ ..] = words else {
        return Err("a command without words".to_owned());
    };
    // The files that changed may be hundreds.
    let shown: Vec<&str> = words.iter().map(String::as_str).take(SHOWN).collect();
    let line = format!("{program} {}", shown.join(" "));
    // `xtask` is this program: cargo would wait for whatever builds.
    let program = match program.as_str() {
        "xtask" => std::env::current_exe().map_err(|error| format!("xtask: {error}"))?,
        other => other.into(),
    };
    let copy = || log.try_clone().map_err(|error| format!("{line}: {error}"));
    let status = Command::new(program)
        .args(words)
        .current_dir(root)
        .env("RUSTDOCFLAGS", "-Dwarnings")
        .stdin(Stdio::null())
        .stdout(copy()?)
        .stderr(copy()?)
        .status()
        .map_err(|error| format!("{line}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{line}: {status}")),
    }
}

/// What a step says it ran.
fn ran(log: &str) -> String {
    let parts: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix(RAN)).collect();
    parts.join(", ")
}

/// Prints what a step printed: all of it for CI and where it failed.
fn show(folder: &Path, outcome: &Outcome) {
    let failed = matches!(outcome.verdict, Verdict::Failed(_));
    if failed || crate::checkers::is_ci() {
        let log = std::fs::read(folder.join(format!("{}.log", outcome.name))).unwrap_or_default();
        println!(
            "\n=== {}\n{}",
            outcome.name,
            String::from_utf8_lossy(&log).trim_end()
        );
    }
    match &outcome.verdict {
        Verdict::Failed(reason) => {
            println!("=== {}: FAILED in {} s: {reason}", outcome.name, outcome.seconds)
        }
        _ => println!("=== {}: {} s", outcome.name, outcome.seconds),
    }
}

/// The last lines that each failed step printed: a reader may be given no more than the end of a run's output.
pub(super) fn failures(folder: &Path, outcomes: &[Outcome]) -> String {
    let failed = outcomes
        .iter()
        .filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
    failed
        .map(|outcome| {
            let log = std::fs::read(folder.join(format!("{}.log", outcome.name))).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let lines: Vec<&str> = log.trim_end().lines().collect();
            let last = lines[lines.len().saturating_sub(LAST)..].join("\n");
            format!("=== {} failed, its last lines:\n{last}\n", outcome.name)
        })
        .collect()
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
