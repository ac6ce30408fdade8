//! What every party of the experiment with many associations does around them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::patterns::mix;

/// Associations before memory is read for the first time: what a process needs once is not what one takes.
pub(crate) const WARM: u64 = 200;
/// How long both ends may settle down before memory is read again.
const REST: Duration = Duration::from_secs(1);
/// How long the one who opened keeps all open: longer than the other one rests.
pub(crate) const HOLD: Duration = Duration::from_millis(1_500);

/// The things measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// One-shots a second, a number of them in flight.
    Rate,
    /// Memory of associations that stay open.
    Memory,
    /// Round trips on one of those that stay open, each time another one.
    Random,
}

impl Part {
    /// Its name in the options of a job.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Memory => "memory",
            Self::Random => "random",
        }
    }

    pub(crate) fn of(job: &Job) -> Self {
        match job.options.get("part").map(String::as_str) {
            Some("memory") => Self::Memory,
            Some("random") => Self::Random,
            _ => Self::Rate,
        }
    }
}

/// A number among the options of a job.
pub(crate) fn number(job: &Job, name: &str) -> Worked<u64> {
    let text = job.options.get(name);
    let text = text.ok_or_else(|| Problem::new(format!("nobody said how many '{name}'")))?;
    text.parse()
        .map_err(|_| Problem::new(format!("'{text}' is no number of '{name}'")))
}

/// Resident memory of this process, octets.
pub(crate) fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// Memory of the kernel's own objects on the whole host, octets.
pub(crate) fn slab() -> u64 {
    slab_in(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default())
}

fn slab_in(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("Slab:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Draws which of so many associations is used next: the same ones for all transports.
pub(crate) struct Draw {
    number: u64,
    among: usize,
}

impl Draw {
    pub(crate) fn new(among: usize) -> Self {
        Self { number: 0, among }
    }

    pub(crate) fn next(&mut self) -> usize {
        self.number += 1;
        mix(self.number) as usize % self.among
    }
}

/// Counts the associations somebody serves and reads memory before and after those that count.
pub(crate) struct Served {
    number: u64,
    done: u64,
    before: u64,
    after: Arc<AtomicU64>,
}

impl Served {
    pub(crate) fn new(job: &Job) -> Worked<Self> {
        Ok(Self {
            number: number(job, "associations")?,
            done: 0,
            before: 0,
            after: Arc::default(),
        })
    }

    /// One more is open and has exchanged its message.
    pub(crate) fn one(&mut self) {
        self.done += 1;
        if self.done == WARM {
            self.before = resident();
        }
        if self.done == WARM + self.number {
            let after = Arc::clone(&self.after);
            std::thread::spawn(move || {
                std::thread::sleep(REST);
                after.store(resident(), Ordering::Relaxed);
            });
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let after = self.after.load(Ordering::Relaxed);
        let mut outcome = Outcome {
            operations: self.done,
            ..Outcome::default()
        };
        if after > 0 {
            let each = after.saturating_sub(self.before) as f64 / self.number as f64;
            outcome.extra.insert("octets_each".to_owned(), each);
        }
        outcome
    }
}

/// What the one who opened measured: memory before and after, and the time between.
pub(crate) struct Opened {
    pub(crate) number: u64,
    pub(crate) resident: [u64; 2],
    pub(crate) slab: [u64; 2],
    pub(crate) seconds: f64,
}

impl Opened {
    pub(crate) fn outcome(&self, kernel: bool) -> Outcome {
        let growth = |[before, after]: [u64; 2]| after.saturating_sub(before) as f64 / self.number as f64;
        let mut outcome = Outcome {
            operations: self.number,
            seconds: self.seconds,
            ..Outcome::default()
        };
        let extra = &mut outcome.extra;
        extra.insert("octets_each".to_owned(), growth(self.resident));
        if kernel {
            // Both ends are on this host.
            extra.insert("kernel_octets_each".to_owned(), growth(self.slab) / 2.0);
        }
        outcome
    }
}

#[cfg(test)]
#[path = "many_tests.rs"]
mod tests;
