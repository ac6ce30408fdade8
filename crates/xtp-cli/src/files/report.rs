//! What a copy tells its user: the bar while it runs, problems as they come, and the result.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;

use super::problem::{Code, Problem};
use super::tally::Tally;
use crate::common::{Failure, Outcome, Output, Status, rate_text, size_text, span_text};

/// The object of `--json`.
#[derive(Serialize)]
struct Object {
    ok: bool,
    /// Files put in place.
    files: u64,
    /// Files and links that were there already.
    unchanged: u64,
    directories: u64,
    links: u64,
    /// Things that could not be copied.
    failed: u64,
    /// Octets of all files named, copied or not.
    bytes: u64,
    /// Octets of content that went over the network this time.
    sent_bytes: u64,
    /// Octets that were there from an interrupted copy.
    resumed_from: u64,
    seconds: f64,
    errors: Vec<Line>,
    exit_status: u8,
}

#[derive(Serialize)]
struct Line {
    code: &'static str,
    message: String,
}

/// Shows counters and new problems until told to stop.
pub(crate) struct Viewer<'a> {
    bar: ProgressBar,
    tally: &'a Tally,
    told: usize,
}

impl<'a> Viewer<'a> {
    pub(crate) fn new(bar: ProgressBar, tally: &'a Tally) -> Self {
        Self { bar, tally, told: 0 }
    }

    /// One look.
    pub(crate) fn look(&mut self) {
        self.bar.set_length(self.tally.offered.get());
        self.bar.set_position(self.tally.settled.get());
        let news = self.tally.problems(self.told);
        self.told += news.len();
        if !news.is_empty() {
            self.bar.suspend(|| {
                for problem in &news {
                    say(problem);
                }
            });
        }
    }

    /// The last look; the bar goes away.
    pub(crate) fn end(mut self) {
        self.look();
        self.bar.finish_and_clear();
    }
}

fn say(problem: &Problem) {
    use std::io::Write;
    // Standard error may be closed; then there is nobody to tell.
    let _ = writeln!(std::io::stderr().lock(), "xtp: {}", problem.text);
}

/// Tells the result and makes it the outcome of the command.
///
/// # Errors
/// If anything was not copied, with the status that fits the worst of it.
pub(crate) fn conclude(out: &Output, tally: &Tally, began: Instant, broken: Option<Failure>) -> Outcome {
    let span = began.elapsed();
    let problems = tally.problems(0);
    let outcome = match broken {
        Some(failure) => Err(failure),
        None => worst(&problems).map_or(Ok(()), |status| Err(Failure::new(status, ""))),
    };
    let status = outcome
        .as_ref()
        .map_or_else(|failure| failure.status.code(), |()| 0);
    if out.is_json() {
        let mut errors: Vec<_> = problems
            .iter()
            .map(|problem| Line {
                code: problem.code.word(),
                message: problem.text.clone(),
            })
            .collect();
        if let Err(failure) = &outcome
            && !failure.message.is_empty()
        {
            errors.push(Line {
                code: word(failure.status),
                message: failure.message.clone(),
            });
        }
        out.object(&Object {
            ok: outcome.is_ok(),
            files: tally.files.get(),
            unchanged: tally.unchanged.get(),
            directories: tally.directories.get(),
            links: tally.links.get(),
            failed: tally.failed.get(),
            bytes: tally.offered.get(),
            sent_bytes: tally.sent.get(),
            resumed_from: tally.resumed.get(),
            seconds: span.as_secs_f64(),
            errors,
            exit_status: status,
        })?;
    }
    if outcome.is_ok() || tally.files.get() > 0 {
        out.note(summary(tally, span));
    }
    outcome
}

/// The status of the worst problem.
fn worst(problems: &[Problem]) -> Option<Status> {
    let weight = |code: Code| match code.status() {
        Status::Verification => 2,
        Status::Refused => 1,
        _ => 0,
    };
    problems
        .iter()
        .max_by_key(|problem| weight(problem.code))
        .map(|problem| problem.code.status())
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Unreachable => "unreachable",
        Status::Refused => "refused",
        Status::Verification => "mismatch",
        Status::Interrupted => "interrupted",
        _ => "failed",
    }
}

fn summary(tally: &Tally, span: Duration) -> String {
    let files = tally.files.get();
    let plural = if files == 1 { "" } else { "s" };
    let mut text = format!(
        "{files} file{plural} copied, {} in {} ({})",
        size_text(tally.sent.get()),
        span_text(span),
        rate_text(tally.sent.get(), span)
    );
    for (count, what) in [
        (tally.unchanged.get(), "unchanged"),
        (tally.failed.get(), "failed"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    if tally.resumed.get() > 0 {
        text.push_str(&format!(
            ", {} were there already",
            size_text(tally.resumed.get())
        ));
    }
    text
}
