//! The emulator's place on the processors.

use std::io;
use std::num::NonZeroU64;

use rustix::process::{Pid, setpriority_process};
use rustix::thread::{CpuSet, gettid, sched_setaffinity, set_current_timer_slack};

use super::awake::Awake;
use super::run::run;
use crate::config::{Config, Priority};
use crate::report::Scheduling;

/// Low among the real-time priorities: before ordinary threads, behind the kernel's own.
const REAL_TIME: &str = "5";
const BEST_NICE: i32 = -20;

/// What the emulator's thread has been given, as long as this exists.
#[derive(Debug)]
pub(super) struct Conditions {
    pub(super) scheduling: Scheduling,
    pub(super) awake: Option<Awake>,
}

impl Conditions {
    /// Prepares the calling thread.
    ///
    /// # Errors
    /// If it cannot stay on its core.
    pub(super) fn prepare(config: &Config) -> io::Result<Self> {
        Ok(Self {
            scheduling: schedule(config.priority, config.core)?,
            awake: config.keep_cores_awake.then(Awake::hold).flatten(),
        })
    }
}

fn schedule(priority: Priority, core: Option<usize>) -> io::Result<Scheduling> {
    let thread = gettid();
    if let Some(core) = core {
        if core >= CpuSet::MAX_CPU {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no such processor"));
        }
        let mut set = CpuSet::new();
        set.set(core);
        sched_setaffinity(Some(thread), &set)?;
    }
    // Ordinary threads are woken up to 50 us late to save energy. Refused, it stays so.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    Ok(match priority {
        Priority::RealTime if real_time(thread) => Scheduling::RealTime,
        Priority::RealTime | Priority::Nice if setpriority_process(Some(thread), BEST_NICE).is_ok() => {
            Scheduling::Nice
        }
        _ => Scheduling::Ordinary,
    })
}

/// There is no safe call for it, but a program.
fn real_time(thread: Pid) -> bool {
    let thread = thread.as_raw_nonzero().to_string();
    run("chrt", &["--fifo", "--pid", REAL_TIME, &thread]).is_ok()
}
