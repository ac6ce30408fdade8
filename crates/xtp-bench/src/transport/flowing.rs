//! What every sender and receiver of bulk does around it: when to end, what to count.

use std::time::{Duration, Instant};

use crate::job::{Job, Outcome};
use crate::meter::Meter;

/// Most points of a curve: what a receiver records has a limit.
const POINTS: usize = 100_000;

/// A sender: `operations` messages, or as many as fit into the time.
pub(crate) struct Sending {
    left: u64,
    end: Instant,
    meter: Meter,
    done: u64,
}

impl Sending {
    /// Begins now: set-up belongs to it.
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            left: job.operations,
            end: Instant::now() + Duration::from_secs_f64(job.seconds),
            meter: Meter::start(&job.interface),
            done: 0,
        }
    }

    /// Whether another message is to be sent.
    pub(crate) fn more(&mut self) -> bool {
        if self.left == 0 || Instant::now() >= self.end {
            return false;
        }
        self.left -= 1;
        self.done += 1;
        true
    }
    /// Sums up, when the receiver is known to have everything.
    pub(crate) fn outcome(self, job: &Job, calls: u64) -> Outcome {
        let reading = self.meter.read();
        Outcome {
            operations: self.done,
            octets: self.done * job.size,
            seconds: reading.seconds,
            cpu_s: reading.cpu_s,
            softirq_s: reading.softirq_s,
            packets: reading.packets,
            syscalls: Some(calls),
            ..Outcome::default()
        }
    }
}

/// A receiver: counts octets from the first on. With the option `interval_ms` it records how many had arrived when:
/// the curve `arrival`, seconds since the first octet and octets.
pub(crate) struct Receiving {
    meter: Option<(Meter, u64)>,
    begin: Instant,
    last: Instant,
    octets: u64,
    interval: Option<Duration>,
    next: Duration,
    curve: Vec<(f64, f64)>,
    interface: String,
}

impl Receiving {
    pub(crate) fn new(job: &Job) -> Self {
        let interval = job.options.get("interval_ms").and_then(|text| text.parse().ok());
        let now = Instant::now();
        Self {
            meter: None,
            begin: now,
            last: now,
            octets: 0,
            interval: interval.filter(|&ms: &u64| ms > 0).map(Duration::from_millis),
            next: Duration::ZERO,
            curve: Vec::new(),
            interface: job.interface.clone(),
        }
    }

    /// Octets arrived; `calls` says how many system calls were made until now.
    pub(crate) fn octets(&mut self, octets: usize, calls: impl Fn() -> u64) {
        let now = if self.meter.is_none() {
            self.meter = Some((Meter::start(&self.interface), calls()));
            self.begin = Instant::now();
            self.begin
        } else {
            Instant::now()
        };
        self.octets += octets as u64;
        self.last = now;
        let Some(interval) = self.interval else { return };
        let since = now - self.begin;
        if since >= self.next && self.curve.len() < POINTS {
            self.curve.push((since.as_secs_f64(), self.octets as f64));
            self.next = since + interval;
        }
    }

    /// Sums up; `messages` of the job's size are what an operation is.
    pub(crate) fn outcome(mut self, job: &Job, calls: u64) -> Outcome {
        let Some((meter, before)) = self.meter else {
            return Outcome::default();
        };
        let reading = meter.read();
        let mut outcome = Outcome {
            operations: self.octets / job.size.max(1),
            octets: self.octets,
            seconds: (self.last - self.begin).as_secs_f64(),
            cpu_s: reading.cpu_s,
            softirq_s: reading.softirq_s,
            syscalls: Some(calls - before),
            ..Outcome::default()
        };
        if self.interval.is_some() {
            self.curve.push((outcome.seconds, self.octets as f64));
            outcome.curves.insert("arrival".to_owned(), self.curve);
        }
        outcome
    }
}

#[cfg(test)]
#[path = "flowing_tests.rs"]
mod tests;
