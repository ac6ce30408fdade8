//! The lengths of the messages of a run, the same for all transports and known at both ends.

use crate::job::Job;

/// The fraction of a turn that leaves the largest gaps between all points so far: 2^32 over the golden ratio.
const STEP: u64 = 0x9e37_79b9;

/// Length after length, octets: one, or all from one to another, with no two alike in a row where there are more than two.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    least: u64,
    most: u64,
    at: u64,
}

impl Lengths {
    /// Those of a job.
    pub(crate) fn of(job: &Job) -> Self {
        Self::between(job.least.unwrap_or(job.size), job.size)
    }

    fn between(least: u64, most: u64) -> Self {
        Self { least, most, at: 0 }
    }

    /// The longest.
    pub(crate) fn most(&self) -> usize {
        self.most as usize
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> usize {
        let span = self.most - self.least + 1;
        self.at = self.at.wrapping_add(STEP) & u64::from(u32::MAX);
        // Both factors have 32 bits at most.
        (self.least + ((self.at * span) >> 32)) as usize
    }
}

#[cfg(test)]
#[path = "lengths_tests.rs"]
mod tests;
