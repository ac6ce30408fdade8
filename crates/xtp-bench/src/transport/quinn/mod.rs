//! QUIC: quinn with rustls and ring, as its best user would set it up.

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::Experiment;
use crate::transport::fresh::{self, marked};
use crate::transport::{Transport, always};

mod bulk;
mod many;
mod pingpong;
mod setup;
mod single;

/// Connections are set up in one round trip, resumed where a ticket is at hand.
pub(super) static QUINN: Transport = Transport {
    name: "quinn",
    experiments: &[
        Experiment::Pingpong,
        Experiment::Oneshot,
        Experiment::Transaction,
        Experiment::Bulk,
        Experiment::Scale,
    ],
    obstacle: always,
    work,
};

/// From fresh memory.
pub(super) static FRESH: Transport = fresh::row("quinn-fresh", work);

/// The first packet carries data, under a ticket of an earlier connection.
pub(super) static QUINN_0RTT: Transport = Transport {
    name: "quinn-0rtt",
    experiments: &[Experiment::Oneshot, Experiment::Transaction],
    obstacle: always,
    work,
};

/// Whoever compares should know.
const ENCRYPTS: &str = "encrypts and authenticates every packet";

fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let mut outcome = measure(job, console)?;
    outcome.note = marked(ENCRYPTS, outcome.note.take());
    Ok(outcome)
}

fn measure(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.experiment {
        Experiment::Pingpong => pingpong::work(job, console),
        Experiment::Oneshot | Experiment::Transaction => single::work(job, console),
        Experiment::Bulk => bulk::work(job, console),
        Experiment::Scale => many::work(job, console),
        other => Err(Problem::new(format!("QUIC has no '{other}' here"))),
    }
}
