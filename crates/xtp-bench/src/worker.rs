//! A process that is a party of a measurement.

use crate::console::{Console, hear, say};
use crate::error::Worked;
use crate::experiment;
use crate::job::{Job, Outcome, Role, Said};

/// Does the job that comes on standard input and prints the outcome. Returns whether it could; why it could not is
/// printed for the coordinator as well.
#[must_use]
pub fn worker() -> bool {
    let said = match work() {
        Ok(outcome) => Said::Outcome(Box::new(outcome)),
        Err(problem) => Said::Error(problem.0),
    };
    say(&said).is_ok() && matches!(said, Said::Outcome(_))
}

fn work() -> Worked<Outcome> {
    let job: Job = hear()?;
    if let Some(core) = job.core {
        pin(core);
    }
    let mut console = Console::new();
    if job.role == Role::Client {
        console.watch();
    }
    experiment::work(&job, &mut console)
}

/// Keeps this process on one processor. Where that is not allowed it runs where the kernel likes.
fn pin(core: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
