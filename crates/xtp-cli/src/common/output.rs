//! Where words go: results to standard output, everything else to standard error. With `--json` standard output
//! carries one object and nothing else.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::{Failure, Outcome, Patient};

/// The two streams, and how much is said.
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    verbose: u8,
    object_printed: AtomicBool,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool, verbose: u8) -> Self {
        Self {
            json,
            quiet,
            verbose,
            object_printed: AtomicBool::new(false),
        }
    }

    /// `--json` was given.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// `--quiet` was given.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// `--json` was given and the object is still to come.
    pub(crate) fn wants_object(&self) -> bool {
        self.json && !self.object_printed.load(Ordering::Relaxed)
    }

    /// A line of the result for people: nothing with `--json`.
    ///
    /// # Errors
    /// If standard output is closed.
    pub(crate) fn line(&self, text: impl Display) -> Outcome {
        if self.json {
            return Ok(());
        }
        self.raw(format!("{text}\n").as_bytes())
    }

    /// The help or the version that was asked for, in colour where people read it.
    ///
    /// # Errors
    /// If standard output is closed or full.
    pub(crate) fn help(&self, text: &clap::Error) -> Outcome {
        standard_output()
            .and_then(|mut stdout| text.print().and_then(|()| stdout.flush()))
            .map_err(|error| Failure::io("cannot write to standard output", &error))
    }

    /// Octets of the result, as they are.
    ///
    /// # Errors
    /// If standard output is closed.
    pub(crate) fn raw(&self, octets: &[u8]) -> Outcome {
        standard_output()
            .and_then(|mut stdout| stdout.write_all(octets).and_then(|()| stdout.flush()))
            .map_err(|error| Failure::io("cannot write to standard output", &error))
    }

    /// The result as the one object of `--json`.
    ///
    /// # Errors
    /// If standard output is closed.
    pub(crate) fn object(&self, object: &impl Serialize) -> Outcome {
        self.object_printed.store(true, Ordering::Relaxed);
        let mut text = serde_json::to_string_pretty(object)
            .map_err(|error| Failure::failed(format!("cannot write JSON: {error}")))?;
        text.push('\n');
        self.raw(text.as_bytes())
    }

    /// The result as the one object of `--json`, on one line.
    ///
    /// # Errors
    /// If standard output is closed.
    pub(crate) fn object_line(&self, object: &impl Serialize) -> Outcome {
        self.object_printed.store(true, Ordering::Relaxed);
        let text = serde_json::to_string(object)
            .map_err(|error| Failure::failed(format!("cannot write JSON: {error}")))?;
        self.raw(format!("{text}\n").as_bytes())
    }

    /// A remark, unless `--quiet`.
    pub(crate) fn note(&self, text: impl Display) {
        if !self.quiet {
            say(text);
        }
    }

    /// A remark for `-v`.
    pub(crate) fn detail(&self, text: impl Display) {
        if self.verbose > 0 {
            say(text);
        }
    }

    /// A failure.
    pub(crate) fn error(&self, text: impl Display) {
        say(format_args!("xtp: {text}"));
    }
}

/// Standard output, for results. A wait for its reader ends where the command is told to end.
pub(crate) enum StandardOutput {
    Pipe(&'static Patient),
    Other(io::Stdout),
}

impl Write for StandardOutput {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.write(octets),
            Self::Other(stdout) => stdout.write(octets),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.flush(),
            Self::Other(stdout) => stdout.flush(),
        }
    }
}

/// Standard output, for results.
///
/// # Errors
/// If it was closed when the process began: what is written would be lost without a word.
pub(crate) fn standard_output() -> io::Result<StandardOutput> {
    static PIPE: OnceLock<Option<Patient>> = OnceLock::new();
    if xtp::output_was_closed() {
        return Err(io::Error::other("it is closed"));
    }
    Ok(match PIPE.get_or_init(Patient::standard_output) {
        Some(pipe) => StandardOutput::Pipe(pipe),
        None => StandardOutput::Other(io::stdout()),
    })
}

/// Standard error may be closed; then there is nobody to tell.
fn say(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
