//! A program that takes part in a run: started in its place, its end seen when it happens, gone when dropped.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::error::Error;
use crate::job::{Outcome, Said};
use crate::launch::Launcher;
use crate::stage::Place;

/// How often it is looked whether a program listens.
const LOOK: Duration = Duration::from_millis(5);
/// How long it may take until it does.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longest sleep before an interruption is looked for.
const SLICE: Duration = Duration::from_millis(50);

/// What to start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    /// What is said to it at once; its standard input stays open.
    pub(super) input: String,
}

impl Line {
    /// A program with arguments that blanks separate.
    pub(super) fn new(program: impl Into<PathBuf>, args: &str) -> Self {
        Self {
            program: program.into(),
            args: args.split_ascii_whitespace().map(str::to_owned).collect(),
            input: String::new(),
        }
    }
}

/// How a program ended.
#[derive(Copy, Clone, Debug)]
pub(super) struct Ended {
    pub(super) at: Instant,
    pub(super) status: ExitStatus,
    /// User and system time.
    pub(super) cpu_s: f64,
}

/// A program; killed when dropped, and when this process ends in whatever way.
#[derive(Debug)]
pub(super) struct Party {
    pub(super) name: String,
    child: Child,
    handle: OwnedFd,
    log: PathBuf,
    _input: Option<ChildStdin>,
    pub(super) ended: Option<Ended>,
}

impl Party {
    /// Starts it in a place; what it says goes to `log`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn start(name: String, place: &Place, line: &Line, log: PathBuf) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::io(format_args!("start {}", line.program.display()), error);
        let out = File::create(&log).map_err(failed)?;
        let mut command: Command = place.command("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            .arg(&line.program)
            .args(&line.args)
            .stdin(Stdio::piped())
            .stderr(out.try_clone().map_err(failed)?)
            .stdout(out);
        let mut child = command.spawn().map_err(failed)?;
        let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let handle = process.ok_or(rustix::io::Errno::SRCH);
        let handle = handle.and_then(|process| pidfd_open(process, PidfdFlags::empty()));
        let handle = handle.map_err(|error| failed(error.into()))?;
        let mut input = child.stdin.take();
        if let Some(input) = &mut input {
            // Whoever ended already says why in its log.
            let _ = input.write_all(line.input.as_bytes());
        }
        Ok(Self {
            name,
            child,
            handle,
            log,
            _input: input,
            ended: None,
        })
    }

    /// Waits until it has a socket of UDP, or listens for TCP: there is no other program in its place.
    ///
    /// # Errors
    /// [`Error::Worker`] if it ends before, [`Error::Silent`] if it takes too long.
    pub(super) fn listens(&mut self, launcher: &Launcher) -> Result<(), Error> {
        let begin = Instant::now();
        let folder = PathBuf::from(format!("/proc/{}/net", self.child.id()));
        let has = |table: &str| {
            let text = std::fs::read_to_string(folder.join(table)).unwrap_or_default();
            text.lines().count() > 1
        };
        while !["udp", "udp6", "tcp", "tcp6"].iter().any(|table| has(table)) {
            launcher.check()?;
            if self.look().is_some() {
                return Err(self.failed("ended before it listened"));
            }
            if begin.elapsed() > PATIENCE {
                return Err(Error::Silent {
                    who: self.name.clone(),
                    seconds: PATIENCE.as_secs_f64(),
                });
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }

    /// How it ended, if it has.
    fn look(&mut self) -> Option<Ended> {
        if self.ended.is_none() && is_ready(&self.handle) {
            let at = Instant::now();
            // Before it is waited for, while its counters are still there.
            let cpu_s = self.cpu_seconds();
            let status = self.child.wait().ok()?;
            self.ended = Some(Ended { at, status, cpu_s });
        }
        self.ended
    }

    /// User and system time until now.
    pub(super) fn cpu_seconds(&self) -> f64 {
        let file = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(file).unwrap_or_default();
        process_ticks(&text) as f64 / rustix::param::clock_ticks_per_second() as f64
    }

    /// Sends it a signal; one that has ended gets none.
    pub(super) fn signal(&mut self, signal: Signal) {
        // It may end at this moment.
        let _ = pidfd_send_signal(&self.handle, signal);
    }

    /// What it printed.
    pub(super) fn said(&self) -> String {
        std::fs::read(&self.log).map_or(String::new(), |text| String::from_utf8_lossy(&text).into_owned())
    }

    /// Whether it ended without success.
    pub(super) fn has_failed(&self) -> bool {
        self.ended.is_some_and(|ended| !ended.status.success())
    }

    /// A failure, with its last words.
    pub(super) fn failed(&self, what: &str) -> Error {
        let said = self.said();
        let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("");
        Error::Worker {
            who: self.name.clone(),
            said: format!("{what}: {}", last.trim()),
        }
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sleeps until one of the programs that have not ended does, or `limit` is over, at most a slice.
///
/// # Errors
/// [`Error::Interrupted`] if the caller wants the run to end.
pub(super) fn watch<'a>(
    launcher: &Launcher,
    parties: impl Iterator<Item = &'a mut Party>,
    limit: Duration,
) -> Result<(), Error> {
    launcher.check()?;
    let mut running: Vec<&mut Party> = parties.filter(|party| party.ended.is_none()).collect();
    let limit = limit.min(SLICE);
    let mut handles: Vec<PollFd<'_>> = running
        .iter()
        .map(|party| PollFd::new(&party.handle, PollFlags::IN))
        .collect();
    let limit = Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    match poll(&mut handles, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(Error::io("wait for programs", error.into())),
    }
    drop(handles);
    for party in &mut running {
        party.look();
    }
    Ok(())
}

fn is_ready(handle: &OwnedFd) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// User and system time of `/proc/PID/stat`, in ticks.
fn process_ticks(stat: &str) -> u64 {
    // The name before it may contain anything.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_ascii_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// What a party of our own measured, in its last words.
pub(super) fn outcome(said: &str) -> Option<Outcome> {
    let mut lines = said.lines().rev();
    match lines.find_map(|line| serde_json::from_str(line).ok())? {
        Said::Outcome(outcome) => Some(*outcome),
        _ => None,
    }
}

/// Whether the program is in the search path.
pub(super) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).is_file())
}

#[cfg(test)]
#[path = "party_tests.rs"]
mod tests;
