//! `cargo xtask ci`: everything that must hold, as steps that share the cores, and a table of what each took.
//!
//! What each step is for stands in `steps.rs` and, word for word, in `docs/testing.md`. Steps that are exhaustive run a
//! part chosen by the commit and whatever concerns the files that changed ([`rotation`]); `cargo xtask everything`
//! leaves nothing out.

mod arguments;
mod history;
mod rotation;
mod schedule;
mod steps;
mod table;

use std::path::Path;
use std::time::{Duration, Instant};

use arguments::Action;
use history::{History, Run};
use rotation::Rotation;
use schedule::{Job, Outcome, Verdict};
use steps::{STEPS, Step};

/// Exhaustive steps that have not begun by then are left out, and the table says so: a machine that others keep busy
/// must not have a good change refused for want of time.
const LATE: Duration = Duration::from_secs(60 * 60);

const USAGE: &str = "\
Usage: cargo xtask ci [--only STEP...] [--base REVISION] [--part K] [--jobs N]
       cargo xtask ci --list
       cargo xtask everything

Runs what `.ci/run` runs: every step, as many at a time as there are cores, and a table of their seconds at the end.
Exhaustive steps run one part of four, chosen by the commit, and all of what concerns the files that changed since the
last run that passed on this machine (or since a day before the commit). `everything` runs all of everything: for releases.

  --only STEP...    only these steps
  --base REVISION   what changed is counted from here
  --part K          the part, from 0 to 3, instead of the commit's
  --jobs N          steps at a time [default: one a core]
  --list            the steps, and what each is for

What a step prints is kept in the target directory under `ci`, and printed when it ends.

Examples:
  cargo xtask ci
  cargo xtask ci --only lints tests tidy
  cargo xtask ci --only mutants --part 2
";

/// Runs the steps; an error if one fails. `whole`: nothing rotates.
pub(crate) fn run(root: &Path, words: &[&str], whole: bool) -> Result<(), String> {
    let arguments = arguments::parse(words)?;
    match arguments.action {
        Action::Help => {
            print!("{USAGE}");
            return Ok(());
        }
        Action::List => {
            for step in &STEPS {
                println!("{:<16} {}", step.name, step.purpose);
            }
            return Ok(());
        }
        Action::Run => {}
    }
    let mut history = History::read();
    let rotation = match whole {
        true => Rotation::whole(),
        false => Rotation::of(root, &arguments, &history)?,
    };
    println!("ci: {rotation}");
    let jobs = jobs(&rotation, &arguments.only)?;
    let begin = Instant::now();
    let folder = crate::checkers::place(root, "ci");
    let outcomes = schedule::run(root, &folder, &jobs, arguments.jobs, LATE)?;
    let seconds = begin.elapsed().as_secs();
    println!("\n{}", table::render(&outcomes, seconds, &history));
    let failed = table::names(&outcomes, |verdict| matches!(verdict, Verdict::Failed(_)));
    if arguments.only.is_empty() {
        history.add(Run::new(root, &outcomes, seconds, failed.is_empty()));
        if let Err(reason) = history.write() {
            eprintln!("ci: the seconds of this run are not remembered: {reason}");
        }
    }
    print!("{}", schedule::failures(&folder, &outcomes));
    println!("{}", closing(&outcomes));
    match failed.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "failed: {}; what they printed is in {}",
            failed.join(", "),
            folder.display()
        )),
    }
}

/// The steps asked for, with what they are to run.
fn jobs(rotation: &Rotation, only: &[String]) -> Result<Vec<Job>, String> {
    if let Some(unknown) = only
        .iter()
        .find(|name| !STEPS.iter().any(|step| step.name == **name))
    {
        let names = STEPS.map(|step: Step| step.name);
        return Err(format!("no step `{unknown}`; there are: {}", names.join(", ")));
    }
    let chosen = STEPS
        .iter()
        .filter(|step| only.is_empty() || only.iter().any(|name| name == step.name));
    Ok(chosen.map(|step| Job::new(step, rotation)).collect())
}

/// The last line: how many steps passed, failed and were left out.
fn closing(outcomes: &[Outcome]) -> String {
    let count =
        |wanted: fn(&Verdict) -> bool| outcomes.iter().filter(|outcome| wanted(&outcome.verdict)).count();
    format!(
        "steps: {} passed, {} failed, {} skipped",
        count(|verdict| matches!(verdict, Verdict::Passed)),
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
        count(|verdict| matches!(verdict, Verdict::LeftOut(_))),
    )
}

#[cfg(test)]
#[path = "ci_tests.rs"]
mod tests;
