//! What every client and server of single operations does around them: count, time, meter.

use std::time::{Duration, Instant};

use crate::job::{Job, Outcome};
use crate::meter::{Meter, Reading};

/// Times the operations of a client: those of the warm-up, then those that count.
pub(crate) struct Timing {
    total: u64,
    warmup: u64,
    done: u64,
    end: Instant,
    interface: String,
    meter: Option<(Meter, u64)>,
    samples_ns: Vec<u64>,
}

impl Timing {
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            total: job.total(),
            warmup: job.warmup,
            done: 0,
            end: Instant::now() + Duration::from_secs_f64(job.seconds),
            interface: job.interface.clone(),
            meter: None,
            samples_ns: Vec::with_capacity(job.operations as usize),
        }
    }

    /// Times one operation; `calls` says how many system calls were made on sockets until now. Returns whether
    /// another one follows.
    pub(crate) fn one<E>(
        &mut self,
        calls: impl Fn() -> u64,
        operation: impl FnOnce() -> Result<(), E>,
    ) -> Result<bool, E> {
        let begin = self.begin(calls);
        operation()?;
        Ok(self.end(begin))
    }

    /// An operation begins. If it comes to nothing another one begins instead.
    pub(crate) fn begin(&mut self, calls: impl Fn() -> u64) -> Instant {
        if self.done == self.warmup {
            self.meter = Some((Meter::start(&self.interface), calls()));
        }
        Instant::now()
    }

    /// The operation that began then is done. Returns whether another one follows.
    pub(crate) fn end(&mut self, begin: Instant) -> bool {
        let now = Instant::now();
        self.done += 1;
        if self.done > self.warmup {
            self.samples_ns.push((now - begin).as_nanos() as u64);
        }
        // Within the warm-up time does not run out: something has to be measured.
        self.done < self.total && (now < self.end || self.done <= self.warmup)
    }

    /// Sums up.
    pub(crate) fn outcome(self, calls: u64) -> Outcome {
        let Some((meter, before)) = self.meter else {
            return Outcome::default();
        };
        let mut outcome = from_reading(meter.read(), self.samples_ns.len() as u64);
        outcome.syscalls = Some(calls - before);
        outcome.samples_ns = self.samples_ns;
        outcome
    }
}

/// Counts the operations of a server and meters those that count.
pub(crate) struct Serving {
    warmup: u64,
    total: u64,
    done: u64,
    interface: String,
    meter: Option<(Meter, u64)>,
    read: Option<(Reading, u64)>,
}

impl Serving {
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            warmup: job.warmup,
            total: job.total(),
            done: 0,
            interface: job.interface.clone(),
            meter: None,
            read: None,
        }
    }

    /// An operation is done. Returns whether more follow.
    pub(crate) fn one(&mut self, calls: impl Fn() -> u64) -> bool {
        self.done += 1;
        if self.done == self.warmup.max(1) {
            self.meter = Some((Meter::start(&self.interface), calls()));
        }
        if self.done == self.total {
            self.read(calls());
        }
        self.done < self.total
    }

    fn read(&mut self, calls: u64) {
        if self.read.is_none() {
            self.read = self
                .meter
                .as_ref()
                .map(|(meter, before)| (meter.read(), calls - before));
        }
    }

    /// Sums up, at the latest now.
    pub(crate) fn outcome(mut self, calls: u64) -> Outcome {
        self.read(calls);
        let Some((reading, calls)) = self.read else {
            return Outcome::default();
        };
        let mut outcome = from_reading(reading, self.done - self.warmup);
        outcome.syscalls = Some(calls);
        // Who counts the packets is the client: with one interface for both they would count twice.
        outcome.packets = None;
        outcome
    }
}

fn from_reading(reading: Reading, operations: u64) -> Outcome {
    Outcome {
        operations,
        seconds: reading.seconds,
        cpu_s: reading.cpu_s,
        softirq_s: reading.softirq_s,
        packets: reading.packets,
        ..Outcome::default()
    }
}
