//! Messages between any two of several ranks, over one transport.

use std::net::SocketAddr;
use std::time::Duration;

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::Job;
use crate::patterns::message::{Link, Message};
use crate::plan::Experiment;

mod buffers;
mod messages;
mod tcp;
mod xtp;

/// What an association is made for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// All messages of a link, both ways, until it is left.
    Link,
    /// One message.
    Message,
    /// One request and its answer.
    Call,
}

/// How a transport serves a pattern.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// What associations are made for.
    pub(crate) associations: Use,
    /// Links are left when a phase ends.
    pub(crate) by_phase: bool,
}

/// How the transport of this name serves an experiment; `None` if it does not.
pub(crate) fn manner(transport: &str, experiment: Experiment) -> Option<Manner> {
    use Experiment::{Bag, Phases, Stencil};
    let (associations, by_phase) = match (transport, experiment) {
        ("xtp" | "xtp-mesh" | "tcp", Stencil) | ("xtp-kept" | "xtp-mesh" | "tcp", Bag | Phases) => {
            (Use::Link, false)
        }
        ("xtp" | "tcp-per-phase", Phases) => (Use::Link, true),
        ("xtp-oneshot" | "tcp-per-message", Stencil | Phases) => (Use::Message, false),
        ("xtp" | "tcp-per-message", Bag) => (Use::Call, false),
        _ => return None,
    };
    Some(Manner {
        associations,
        by_phase,
    })
}

/// What came, and how it can be answered.
pub(crate) type Arrived = Vec<(usize, Message)>;

/// All ways of one rank to the others.
pub(crate) trait Mesh {
    /// Sends a message to the rank at the other end of a link. What finds no room leaves while the rank receives.
    fn send(&mut self, to: Link, message: &Message) -> Worked<()>;

    /// Waits up to `limit` for messages and appends what came; nothing if nothing did.
    fn receive(&mut self, limit: Duration, arrived: &mut Arrived) -> Worked<()>;

    /// Answers what came from there.
    fn reply(&mut self, origin: usize, message: &Message) -> Worked<()>;

    /// Ends the links of this channel.
    fn leave(&mut self, channel: u32) -> Worked<()>;

    /// Whether everything was handed to the transport.
    fn is_drained(&self) -> bool;

    /// System calls on sockets until now.
    fn calls(&self) -> u64;

    /// What went wrong without being an error yet, for whoever has to report one.
    fn trouble(&self) -> String;
}

/// Opens the transport of the job and learns where all ranks are.
pub(crate) fn open(job: &Job, console: &mut Console) -> Worked<(Box<dyn Mesh>, Manner)> {
    let manner = manner(&job.transport, job.experiment);
    let Some(manner) = manner else {
        let text = format!("{} has no '{}'", job.transport, job.experiment);
        return Err(Problem::new(text));
    };
    let mesh: Box<dyn Mesh> = if job.transport == "xtp-mesh" {
        Box::new(messages::MeshRank::open(job, console)?)
    } else if job.transport.starts_with("xtp") {
        Box::new(xtp::XtpMesh::open(job, manner.associations, console)?)
    } else {
        Box::new(tcp::TcpMesh::open(job, manner.associations, console)?)
    };
    Ok((mesh, manner))
}

/// Says where this rank is and learns where all are.
fn meet(job: &Job, console: &mut Console, own: SocketAddr) -> Worked<Vec<SocketAddr>> {
    let peers = console.ready_for_peers(own)?;
    if peers.len() != job.ranks {
        return Err(Problem::new(format!(
            "{} addresses for {} ranks",
            peers.len(),
            job.ranks
        )));
    }
    let parsed: Result<Vec<SocketAddr>, _> = peers.iter().map(|peer| peer.parse()).collect();
    Ok(parsed?)
}

/// Things by small numbers, which are used again.
#[derive(Debug)]
struct Slots<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slots<T> {
    fn put(&mut self, thing: T) -> usize {
        let at = self.free.pop().unwrap_or(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[at] = Some(thing);
        at
    }

    fn get(&mut self, at: usize) -> Option<&mut T> {
        self.slots.get_mut(at)?.as_mut()
    }

    fn take(&mut self, at: usize) -> Option<T> {
        let thing = self.slots.get_mut(at)?.take();
        if thing.is_some() {
            self.free.push(at);
        }
        thing
    }

    fn all(&self) -> impl Iterator<Item = (usize, &T)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(at, thing)| Some((at, thing.as_ref()?)))
    }
}

#[cfg(test)]
#[path = "mesh_tests.rs"]
mod tests;
