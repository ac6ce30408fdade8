//! Round trips by a mesh: into posted memory, by completions that are polled or waited for.

use bytes::Bytes;
use xtp::Tags;
use xtp::mesh::{From, Mesh, MeshCompletion, MeshOptions, PeerNumber};

use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::lengths::Lengths;
use crate::plan::WaitPolicy;
use crate::transport::answering::{Serving, Timing};

/// Of all messages.
const TAG: u64 = 1;
/// Of a message that says that none follows.
const END: u64 = 2;

pub(super) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.role {
        Role::Client => client(job),
        _ => server(job, console),
    }
}

/// A mesh, and what its program keeps of it.
struct Party {
    mesh: Mesh,
    polls: bool,
    done: Vec<MeshCompletion>,
    /// Memory for one message.
    memory: Vec<u8>,
}

impl Party {
    fn new(job: &Job, endpoint: &xtp::Endpoint, most: usize) -> Worked<Self> {
        Ok(Self {
            mesh: endpoint.mesh(MeshOptions::default())?,
            polls: job.wait == WaitPolicy::Spin,
            done: Vec::new(),
            memory: vec![0; most],
        })
    }

    /// Posts the memory for the next message.
    fn post(&mut self, from: From) -> Worked<()> {
        let memory = std::mem::take(&mut self.memory);
        self.mesh.receive(from, Tags::Any, memory, 0)?;
        Ok(())
    }

    /// The message: whose, its tag, its octets.
    fn take(&mut self) -> Worked<(PeerNumber, u64, usize)> {
        loop {
            for done in self.done.drain(..) {
                match done {
                    MeshCompletion::Sent { outcome, .. } => {
                        outcome.map_err(|reason| Problem::new(reason.to_string()))?
                    }
                    MeshCompletion::Received { memory, outcome, .. } => {
                        self.memory = memory;
                        let placed = outcome.map_err(|reason| Problem::new(reason.to_string()))?;
                        return Ok((
                            placed.label.peer,
                            placed.label.tag,
                            usize::try_from(placed.taken)?,
                        ));
                    }
                    MeshCompletion::Lost { reason, .. } => return Err(Problem::new(reason.to_string())),
                }
            }
            match self.polls {
                true => self.mesh.poll(&mut self.done)?,
                false => self.mesh.wait(&mut self.done, None)?,
            };
        }
    }
}

fn client(job: &Job) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    let mut lengths = Lengths::of(job);
    let messages = Bytes::from(vec![7; lengths.most()]);
    let mut party = Party::new(job, &endpoint, lengths.most())?;
    let peer = party.mesh.peer(super::peer(job)?)?;
    let mut timing = Timing::new(job);
    loop {
        let more = timing.one(
            || super::calls(&endpoint),
            || -> Worked<()> {
                let length = lengths.next();
                party.post(peer.into())?;
                party.mesh.send(peer, TAG, 0, messages.slice(..length), 0)?;
                match party.take()? {
                    (_, _, octets) if octets == length => Ok(()),
                    _ => Err(Problem::new("the server answered something else")),
                }
            },
        )?;
        if !more {
            let outcome = timing.outcome(super::calls(&endpoint));
            party.mesh.send(peer, END, 0, Bytes::new(), 0)?;
            party.mesh.leave(None)?;
            return Ok(outcome);
        }
    }
}

fn server(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let endpoint = super::endpoint(job)?;
    super::stop_with(console, &endpoint);
    let mut lengths = Lengths::of(job);
    let mut party = Party::new(job, &endpoint, lengths.most())?;
    console.ready(endpoint.local_addr())?;
    let answer = Bytes::from(vec![7; lengths.most()]);
    let mut serving = Serving::new(job);
    loop {
        party.post(From::Any)?;
        let (peer, tag, octets) = party.take()?;
        if tag == END {
            break;
        }
        if octets != lengths.next() {
            return Err(Problem::new("the client sent something else"));
        }
        party.mesh.send(peer, TAG, 0, answer.slice(..octets), 0)?;
        serving.one(|| super::calls(&endpoint));
    }
    let outcome = serving.outcome(super::calls(&endpoint));
    party.mesh.leave(None)?;
    Ok(outcome)
}
