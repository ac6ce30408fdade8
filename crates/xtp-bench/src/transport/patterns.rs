//! Names of what only the patterns distinguish: how long associations are kept. Their ranks do the work.

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::Experiment;
use crate::transport::{Transport, always};

const fn named(name: &'static str, experiments: &'static [Experiment]) -> Transport {
    Transport {
        name,
        experiments,
        obstacle: always,
        work,
    }
}

/// Associations that outlive a call or phase.
pub(super) static XTP_KEPT: Transport = named("xtp-kept", &[Experiment::Bag, Experiment::Phases]);
/// An association for each message.
pub(super) static XTP_ONESHOT: Transport = named("xtp-oneshot", &[Experiment::Stencil, Experiment::Phases]);
/// A connection for each message, or request and answer.
pub(super) static TCP_PER_MESSAGE: Transport = named(
    "tcp-per-message",
    &[Experiment::Stencil, Experiment::Bag, Experiment::Phases],
);
/// Connections that end with the phase.
pub(super) static TCP_PER_PHASE: Transport = named("tcp-per-phase", &[Experiment::Phases]);

fn work(job: &Job, _: &mut Console) -> Worked<Outcome> {
    Err(Problem::new(format!(
        "{} is no transport between a client and a server",
        job.transport
    )))
}
