//! Names of what only the experiment with one sender and many receivers has. It starts them itself.

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::Experiment;
use crate::transport::{Transport, always};

const fn named(name: &'static str) -> Transport {
    Transport {
        name,
        experiments: &[Experiment::Multicast],
        obstacle: always,
        work,
    }
}

/// uftp and uftpd.
pub(super) static UFTP: Transport = named("uftp");
/// udp-sender and udp-receiver.
pub(super) static UDPCAST: Transport = named("udpcast");
/// normCast, for both sides.
pub(super) static NORM: Transport = named("norm");
/// Datagrams to a group that nobody keeps.
pub(super) static RAW: Transport = named("raw");

fn work(job: &Job, _: &mut Console) -> Worked<Outcome> {
    Err(Problem::new(format!(
        "{} is no transport between a client and a server",
        job.transport
    )))
}
