//! What a copy tells its user: the bar while it runs, problems as they come, and the result.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;

use super::names::turned_back;
use super::problem::Problem;
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
    /// Things that were left out, because they cannot be copied and were not asked for by name.
    skipped: u64,
    /// Things that were removed because the source does not have them.
    deleted: u64,
    /// Files that this end has waited for until they were on the disk.
    synced: u64,
    /// Files that arrived damaged and were asked for again.
    damaged: u64,
    /// Times that the copy went on after an outage.
    outages: u64,
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
    out: Option<&'a Output>,
    /// Names as they are, each ended by a zero octet.
    raw: bool,
    /// Something of the copy is known: its rate counts from here.
    begun: bool,
    /// The first line that could not be printed.
    unprinted: Option<Failure>,
}

impl<'a> Viewer<'a> {
    pub(crate) fn new(bar: ProgressBar, tally: &'a Tally) -> Self {
        Self {
            bar,
            tally,
            told: 0,
            out: None,
            raw: false,
            begun: false,
            unprinted: None,
        }
    }

    /// One that also prints what the tally lists.
    pub(crate) fn listing(bar: ProgressBar, tally: &'a Tally, out: &'a Output, raw: bool) -> Self {
        Self {
            out: Some(out),
            raw,
            ..Self::new(bar, tally)
        }
    }

    /// One look.
    pub(crate) fn look(&mut self) {
        let (offered, settled) = (self.tally.offered.get(), self.tally.settled.get());
        if !self.begun && offered + settled > 0 {
            self.begun = true;
            self.bar.reset();
        }
        self.bar.set_length(offered);
        self.bar.set_position(settled);
        let mut news = self.tally.problems(self.told);
        self.told += news.len();
        if self.out.is_some_and(Output::is_quiet) {
            // The copy is complete without it.
            news.retain(|problem| problem.code.is_failure());
        }
        let lines = self.tally.lines();
        if !news.is_empty() || !lines.is_empty() {
            self.bar.suspend(|| {
                if let Some(out) = self.out
                    && !lines.is_empty()
                {
                    // A list that breaks off must not look complete.
                    let printed = match self.raw {
                        true if out.is_json() => Ok(()),
                        true => out.raw(&raw(&lines)),
                        false => out.line(lines.join("\n")),
                    };
                    self.unprinted = self.unprinted.take().or(printed.err());
                }
                for problem in &news {
                    say(problem);
                }
            });
        }
    }

    /// The last look; the bar goes away.
    ///
    /// # Errors
    /// If something could not be printed.
    pub(crate) fn end(mut self) -> Outcome {
        self.look();
        self.bar.finish_and_clear();
        self.unprinted.map_or(Ok(()), Err)
    }
}

fn raw(lines: &[String]) -> Vec<u8> {
    let mut octets = Vec::new();
    for line in lines {
        octets.extend(turned_back(line));
        octets.push(0);
    }
    octets
}

fn say(problem: &Problem) {
    use std::io::Write;
    // Standard error may be closed; then there is no reader.
    let _ = writeln!(std::io::stderr().lock(), "xtp: {}", problem.text);
}

/// Tells the result and makes it the outcome of the command.
///
/// # Errors
/// If anything was not copied, with the status that fits the worst of it.
pub(crate) fn conclude(
    out: &Output,
    tally: &Tally,
    began: Instant,
    broken: Option<Failure>,
    dry_run: bool,
) -> Outcome {
    let span = began.elapsed();
    let totals = tally.totals();
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
            files: totals.files,
            unchanged: totals.unchanged,
            directories: tally.directories.get(),
            links: totals.links,
            failed: tally.failed.get(),
            skipped: tally.skipped.get(),
            deleted: tally.deleted.get(),
            synced: tally.synced.get(),
            damaged: tally.damaged.get(),
            outages: totals.outages,
            bytes: tally.offered.get(),
            sent_bytes: tally.sent.get(),
            resumed_from: totals.resumed,
            seconds: span.as_secs_f64(),
            errors,
            exit_status: status,
        })?;
    }
    if dry_run && outcome.is_ok() {
        out.note(rehearsed(tally));
    } else if outcome.is_ok() || totals.files > 0 {
        out.note(summary(tally, span));
    }
    outcome
}

/// The status of the worst problem.
fn worst(problems: &[Problem]) -> Option<Status> {
    let weight = |problem: &Problem| match problem.status() {
        Status::Verification => 2,
        Status::Refused => 1,
        _ => 0,
    };
    problems
        .iter()
        // What was left out does not make a copy a failure.
        .filter(|problem| problem.code.is_failure())
        .max_by_key(|problem| weight(problem))
        .map(Problem::status)
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

/// What a copy would have done.
fn rehearsed(tally: &Tally) -> String {
    let totals = tally.totals();
    format!(
        "dry run: {} to copy, {} unchanged, {} to delete",
        totals.files + totals.links,
        totals.unchanged,
        tally.deleted.get()
    )
}

fn summary(tally: &Tally, span: Duration) -> String {
    let totals = tally.totals();
    let files = totals.files;
    let plural = if files == 1 { "" } else { "s" };
    let mut text = format!(
        "{files} file{plural} copied, {} in {} ({})",
        size_text(tally.sent.get()),
        span_text(span),
        rate_text(tally.sent.get(), span)
    );
    for (count, what) in [
        (totals.unchanged, "unchanged"),
        (tally.failed.get(), "failed"),
        (tally.skipped.get(), "skipped"),
        (tally.deleted.get(), "deleted"),
        (tally.damaged.get(), "arrived damaged and were sent again"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    if totals.resumed > 0 {
        text.push_str(&format!(", {} were there already", size_text(totals.resumed)));
    }
    match totals.outages {
        0 => {}
        1 => text.push_str(", after an outage"),
        more => text.push_str(&format!(", after {more} outages")),
    }
    text
}
