//! One run of the program: fed with the request, its output collected, never longer or larger than allowed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::common::{Failure, Outcome, size_text, span_text};

/// How often it is looked whether anybody still wants the answer.
const LOOK: Duration = Duration::from_millis(50);
/// Octets read from the program at once.
const PIECE: usize = 64 << 10;
/// What a program is given of the environment: how to find programs and files, and how people write here. The rest may hold
/// secrets of the server, and what runs does what strangers ask for.
const GIVEN: [&str; 10] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "TERM",
];

/// What to run and how much of it.
pub(super) struct Program<'a> {
    /// The program and its arguments.
    pub(super) command: &'a [OsString],
    /// Longest output, octets.
    pub(super) limit: usize,
    /// Longest run.
    pub(super) timeout: Option<Duration>,
    /// More of the environment.
    pub(super) env: &'a Environment,
    /// The client's address, and the service number.
    pub(super) asks: (&'a str, u16),
}

/// What programs are given of the environment beside [`GIVEN`].
#[derive(Debug, Default)]
pub(super) struct Environment {
    /// Everything.
    pub(super) whole: bool,
    /// Names, or names with values behind `=`.
    pub(super) named: Vec<OsString>,
}

impl Environment {
    fn set(&self, command: &mut Command) {
        if !self.whole {
            command.env_clear();
            let given = std::env::vars_os().filter(|(name, _)| {
                let known = |name: &str| GIVEN.contains(&name) || name.starts_with("LC_");
                name.to_str().is_some_and(known)
            });
            command.envs(given);
        }
        for word in &self.named {
            let octets = word.as_bytes();
            match octets.iter().position(|octet| *octet == b'=') {
                Some(at) => {
                    let [name, value] = [&octets[..at], &octets[at + 1..]].map(OsStr::from_bytes);
                    command.env(name, value);
                }
                None => {
                    if let Some(value) = std::env::var_os(word) {
                        command.env(word, value);
                    }
                }
            }
        }
    }
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

/// What a look at the output found.
enum Output {
    /// Its end.
    Whole,
    /// Nothing more at present.
    Nothing,
}

impl Program<'_> {
    /// Runs it to its end, or stops it.
    pub(super) fn run(&self, request: &Bytes, unwanted: &dyn Fn() -> bool) -> Ended {
        let Some((name, arguments)) = self.command.split_first() else {
            return Ended::Failed("there is no program to run".to_owned());
        };
        let shown = name.to_string_lossy();
        let mut command = Command::new(name);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        self.env.set(&mut command);
        let (peer, service) = self.asks;
        command
            .env("XTP_PEER", peer)
            .env("XTP_SERVICE", service.to_string());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Ended::Failed(format!("'{shown}' cannot be started: {error}")),
        };
        let fed = child.stdin.take().map(|stdin| feed(stdin, request.clone()));
        let (Some(Ok(())), Some(output)) = (fed, child.stdout.take()) else {
            stop(&mut child);
            return Ended::Failed(format!("'{shown}' cannot be fed: no more threads on this host"));
        };
        let ended = self.watch(&mut child, output, unwanted);
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
        mut output: ChildStdout,
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
        let unreadable = |error: io::Error| Some(format!("cannot be read from: {error}"));
        let flags = fcntl_getfl(&output).map_err(|error| unreadable(error.into()))?;
        fcntl_setfl(&output, flags | OFlags::NONBLOCK).map_err(|error| unreadable(error.into()))?;
        let mut answer = Vec::new();
        let mut pause = Duration::from_micros(50);
        let mut closed = false;
        loop {
            // What it wrote before its end is there when its end is seen, so it is looked for in this order. A child that it left may
            // have the output open still: what that one writes is no answer.
            let ended = child
                .try_wait()
                .map_err(|error| Some(format!("cannot be waited for: {error}")))?;
            if !closed {
                let most = match ended {
                    Some(_) => {
                        rustix::io::ioctl_fionread(&output).map_err(|error| unreadable(error.into()))?
                    }
                    None => u64::MAX,
                };
                closed = matches!(self.collect(&mut output, &mut answer, most)?, Output::Whole);
            }
            match ended {
                Some(status) if status.success() => return Ok(Ended::Answer(answer.into())),
                Some(status) => return Err(Some(bad_end(status))),
                None => checked()?,
            }
            if closed {
                // It ends about now; most have ended already.
                thread::sleep(pause);
                pause = (pause * 2).min(LOOK);
            } else {
                wait_for(&output).map_err(unreadable)?;
            }
        }
    }

    /// Takes what there is of the output, so many octets at most.
    fn collect(
        &self,
        output: &mut ChildStdout,
        answer: &mut Vec<u8>,
        most: u64,
    ) -> Result<Output, Option<String>> {
        let mut piece = vec![0; PIECE];
        let mut left = most;
        loop {
            let room = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            if room == 0 {
                return Ok(Output::Nothing);
            }
            match output.read(&mut piece[..room]) {
                Ok(0) => return Ok(Output::Whole),
                Ok(count) if answer.len() + count > self.limit => {
                    let limit = size_text(self.limit as u64);
                    return Err(Some(format!(
                        "wrote more than {limit} and was stopped; see --max-response"
                    )));
                }
                Ok(count) => {
                    answer.extend_from_slice(&piece[..count]);
                    left -= count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Output::Nothing),
                Err(error) => return Err(Some(format!("cannot be read from: {error}"))),
            }
        }
    }
}

/// Waits until there is output, or for a moment.
fn wait_for(output: &ChildStdout) -> io::Result<()> {
    let moment = Timespec {
        tv_sec: 0,
        tv_nsec: LOOK.as_nanos() as _,
    };
    match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&moment)) {
        Ok(_) => Ok(()),
        Err(error) if error == rustix::io::Errno::INTR => Ok(()),
        Err(error) => Err(error.into()),
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

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
