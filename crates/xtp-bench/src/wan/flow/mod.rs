//! The parties: a sender that sends for a given time or so many octets, and a receiver that writes down what came when.
//!
//! A sender breaks off when its time is over, since what is still under way then counts no more; one of so many octets ends
//! as programs do, when all of it has arrived. A receiver takes the end of the association for the end of the run.

mod record;
mod tcp;
mod xtp;

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::meter::{Meter, cpu_seconds};

pub(crate) use record::{BEGIN, RECEIVED};

/// Names of what jobs may be told beyond their transport, in `options`.
pub(crate) mod option {
    /// Application buffers that are lent to the association until acknowledged; the sender has no more.
    pub(crate) const BUFFERS: &str = "flow-buffers";
    /// Octets a second that the receiver allows.
    pub(crate) const RATE: &str = "flow-rate";
    /// A file for the packets sent and received, without the payload; diagnosis.
    pub(crate) const TRACE: &str = "trace";
    /// Octets a receiver of xtp offers to hold.
    pub(crate) const CAPACITY: &str = "capacity";
}

/// The work of a party.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let sends = job.role == Role::Client;
    match job.transport.as_str() {
        name if name == "xtp" || name.starts_with("xtp-") => match sends {
            true => xtp::send(job),
            false => xtp::receive(job, console),
        },
        name if name == "tcp" || name.starts_with("tcp-") => match sends {
            true => tcp::send(job),
            false => tcp::receive(job, console),
        },
        other => Err(Problem::new(format!("'{other}' is not measured over long links"))),
    }
}

/// An option of a job.
fn option_of<T: FromStr>(job: &Job, name: &str) -> Worked<Option<T>> {
    let wrong = |text: &String| Problem::new(format!("'{text}' is no value for '{name}'"));
    let text = job.options.get(name);
    text.map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}

/// A sender's time.
struct Sending {
    begin_ns: u64,
    end: Instant,
    /// Octets in all; `None`: as many as fit the time.
    octets: Option<u64>,
    meter: Meter,
    curves: BTreeMap<String, Vec<(f64, f64)>>,
}

impl Sending {
    /// It begins now: opening the association is part of the run.
    fn begin(job: &Job) -> Self {
        Self {
            meter: Meter::start(&job.interface),
            begin_ns: record::clock_ns(),
            end: Instant::now() + Duration::from_secs_f64(job.seconds),
            octets: (job.size > 0).then_some(job.size),
            curves: BTreeMap::new(),
        }
    }

    /// The time left to send in, when so many octets are sent; `None` when it is over, or nothing is left to send.
    fn left(&self, sent: u64) -> Option<Duration> {
        self.time().filter(|_| self.unsent(sent) > 0)
    }

    /// The time left for what was sent to arrive, where all of it is; `None` for who breaks off.
    fn left_to_arrive(&self, sent: u64) -> Option<Duration> {
        self.time().filter(|_| self.unsent(sent) == 0)
    }

    /// How many of `piece` octets are to be sent next.
    fn next(&self, sent: u64, piece: usize) -> usize {
        usize::try_from(self.unsent(sent)).map_or(piece, |unsent| piece.min(unsent))
    }

    fn time(&self) -> Option<Duration> {
        let left = self.end.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    fn unsent(&self, sent: u64) -> u64 {
        self.octets.map_or(u64::MAX, |octets| octets.saturating_sub(sent))
    }

    /// Notes a value of now.
    fn note(&mut self, curve: &str, value: f64) {
        let at = record::seconds(record::clock_ns() - self.begin_ns);
        self.curves.entry(curve.to_owned()).or_default().push((at, value));
    }

    /// Sums up.
    fn outcome(self, calls: Option<u64>) -> Outcome {
        let reading = self.meter.read();
        let mut outcome = Outcome {
            operations: 1,
            seconds: reading.seconds,
            cpu_s: reading.cpu_s,
            softirq_s: reading.softirq_s,
            packets: reading.packets,
            syscalls: calls,
            curves: self.curves,
            ..Outcome::default()
        };
        outcome
            .extra
            .insert(BEGIN.to_owned(), record::seconds(self.begin_ns));
        outcome
    }
}

/// A receiver's sum: its record, and the processor time of its whole life, which is the run and little else.
fn received(record: record::Record, calls: Option<u64>) -> Outcome {
    Outcome {
        operations: 1,
        cpu_s: cpu_seconds(),
        syscalls: calls,
        ..record.outcome()
    }
}
