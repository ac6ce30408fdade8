//! One run of the program: fed with the request, its output collected, never longer or larger than allowed.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::common::{Failure, Outcome, size_text, span_text};

/// How often it is looked whether anybody still wants the answer.
const LOOK: Duration = Duration::from_millis(50);
/// Octets read from the program at once.
const PIECE: usize = 64 << 10;

/// What to run and how much of it.
pub(super) struct Program<'a> {
    /// The program and its arguments.
    pub(super) command: &'a [OsString],
    /// Longest output, octets.
    pub(super) limit: usize,
    /// Longest run.
    pub(super) timeout: Option<Duration>,
}

/// Looks whether the program can be started at all: whoever mistypes its name learns it now, not from its callers.
///
/// # Errors
/// If the search path leads to no such file, or it may not be executed.
pub(super) fn check(command: &[OsString]) -> Outcome {
    let Some(name) = command.first() else {
        return Err(Failure::usage("there is no program to run"));
    };
    which::which(name).map(drop).map_err(|error| {
        let shown = name.to_string_lossy();
        let why = match Path::new(name).exists() && shown.contains('/') {
            true => "it is no program, or there is no right to run it; check its mode".to_owned(),
            false => format!("{error}; check its name and PATH"),
        };
        Failure::failed(format!("cannot run '{shown}': {why}"))
    })
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// With status 0 and this output.
    Answer(Bytes),
    /// Otherwise, and why.
    Failed(String),
    /// Nobody waits for it any more; it was stopped.
    Unwanted,
}

/// What the thread that reads the output found.
enum Output {
    Whole(Vec<u8>),
    TooLong,
    Failed(std::io::Error),
}

impl Program<'_> {
    /// Runs it to its end, or stops it.
    pub(super) fn run(&self, request: &Bytes, unwanted: &dyn Fn() -> bool) -> Ended {
        let Some((name, arguments)) = self.command.split_first() else {
            return Ended::Failed("there is no program to run".to_owned());
        };
        let shown = name.to_string_lossy();
        let spawned = Command::new(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => return Ended::Failed(format!("'{shown}' cannot be started: {error}")),
        };
        let fed = child.stdin.take().map(|stdin| feed(stdin, request.clone()));
        let output = child.stdout.take().map(|stdout| collect(stdout, self.limit));
        let (Some(Ok(())), Some(Ok(output))) = (fed, output) else {
            stop(&mut child);
            return Ended::Failed(format!("'{shown}' cannot be fed: no more threads on this host"));
        };
        let ended = self.watch(&mut child, &output, unwanted);
        ended.unwrap_or_else(|why| {
            stop(&mut child);
            match why {
                Some(why) => Ended::Failed(format!("'{shown}' {why}")),
                None => Ended::Unwanted,
            }
        })
    }

    /// Waits for output and end. The error is why it must be stopped; `None` if nobody wants it.
    fn watch(
        &self,
        child: &mut Child,
        output: &Receiver<Output>,
        unwanted: &dyn Fn() -> bool,
    ) -> Result<Ended, Option<String>> {
        let begin = Instant::now();
        let checked = || {
            if unwanted() {
                return Err(None);
            }
            match self.timeout {
                Some(limit) if begin.elapsed() > limit => Err(Some(format!(
                    "ran longer than {} and was stopped",
                    span_text(limit)
                ))),
                _ => Ok(()),
            }
        };
        let answer = loop {
            match output.recv_timeout(LOOK) {
                Ok(Output::Whole(answer)) => break answer,
                Ok(Output::TooLong) => {
                    let limit = size_text(self.limit as u64);
                    return Err(Some(format!(
                        "wrote more than {limit} and was stopped; see --max-response"
                    )));
                }
                Ok(Output::Failed(error)) => return Err(Some(format!("cannot be read from: {error}"))),
                Err(RecvTimeoutError::Timeout) => checked()?,
                Err(RecvTimeoutError::Disconnected) => return Err(Some("was lost".to_owned())),
            }
        };
        // Its output is closed, so it ends about now; most have ended already.
        let mut pause = Duration::from_micros(50);
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(Ended::Answer(answer.into())),
                Ok(Some(status)) => return Err(Some(bad_end(status))),
                Ok(None) => checked()?,
                Err(error) => return Err(Some(format!("cannot be waited for: {error}"))),
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
        }
    }
}

fn bad_end(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with status {code}"),
        None => format!("was ended from outside ({status})"),
    }
}

/// It may have ended already; then there is nothing to stop.
fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Writes the request in a thread of its own, so that a program may write before it has read everything. A program
/// may also not read at all.
fn feed(mut stdin: ChildStdin, request: Bytes) -> std::io::Result<()> {
    let thread = thread::Builder::new().name("feed".into());
    thread.spawn(move || drop(stdin.write_all(&request))).map(drop)
}

fn collect(mut stdout: ChildStdout, limit: usize) -> std::io::Result<Receiver<Output>> {
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name("collect".into());
    thread.spawn(move || {
        // If nobody waits any more, what was read is of no use.
        let _ = sender.send(read_all(&mut stdout, limit));
    })?;
    Ok(receiver)
}

fn read_all(stdout: &mut ChildStdout, limit: usize) -> Output {
    let mut answer = Vec::new();
    let mut buffer = vec![0; PIECE];
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) => return Output::Whole(answer),
            Ok(count) if answer.len() + count > limit => return Output::TooLong,
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Output::Failed(error),
        }
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
