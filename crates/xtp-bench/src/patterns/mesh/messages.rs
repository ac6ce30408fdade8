//! Over a mesh: one a rank, receives of one message each into memory that is used again.

use std::net::SocketAddr;
use std::time::Duration;

use ::xtp::mesh::{From, Mesh as Messages, MeshCompletion, MeshOptions, PeerNumber};
use ::xtp::{Config, Cork, Endpoint, Tags, Wait};

use super::buffers::Buffers;
use super::{Arrived, Mesh, meet};
use crate::console::Console;
use crate::error::{Problem, Worked};
use crate::job::Job;
use crate::patterns::message::{Link, Message};
use crate::plan::WaitPolicy;

/// Receives that are posted at a time.
const POSTED: u64 = 64;

pub(super) struct MeshRank {
    size: usize,
    peers: Vec<PeerNumber>,
    /// Everything a rank does between two waits leaves together.
    cork: Cork,
    mesh: Messages,
    endpoint: Endpoint,
    done: Vec<MeshCompletion>,
    buffers: Buffers,
    /// Messages that are not sent yet.
    unsent: u64,
}

impl MeshRank {
    pub(super) fn open(job: &Job, console: &mut Console) -> Worked<Self> {
        let mut config = Config::server(job.any_port());
        config.wait = match job.wait {
            WaitPolicy::Block => Wait::Block,
            WaitPolicy::Spin => Wait::Spin,
            WaitPolicy::Adaptive => Wait::Adaptive,
        };
        let endpoint = Endpoint::bind(config)?;
        let mesh = endpoint.mesh(MeshOptions::default())?;
        let size = job.size as usize;
        for token in 0..POSTED {
            mesh.receive(From::Any, Tags::Any, vec![0; size + 1], token)?;
        }
        let all: Vec<SocketAddr> = meet(job, console, endpoint.local_addr())?;
        let peers = all.into_iter().map(|peer| mesh.peer(peer));
        Ok(Self {
            size,
            peers: peers.collect::<Result<_, _>>()?,
            cork: endpoint.cork(),
            mesh,
            endpoint,
            done: Vec::new(),
            buffers: Buffers::default(),
            unsent: 0,
        })
    }

    /// A message to a rank.
    fn put(&mut self, rank: usize, message: &Message) -> Worked<()> {
        let octets = self.buffers.message(message, self.size);
        let peer = self
            .peers
            .get(rank)
            .ok_or_else(|| Problem::new("there is no such rank"))?;
        self.mesh.send(*peer, message.channel.into(), 0, octets, 0)?;
        self.unsent += 1;
        Ok(())
    }
}

impl Mesh for MeshRank {
    fn send(&mut self, to: Link, message: &Message) -> Worked<()> {
        self.put(to.rank, message)
    }

    fn receive(&mut self, limit: Duration, arrived: &mut Arrived) -> Worked<()> {
        self.cork.flush();
        match self.mesh.wait(&mut self.done, Some(limit)) {
            Err(error) if error.is_timeout() => {}
            outcome => _ = outcome?,
        }
        for done in std::mem::take(&mut self.done) {
            match done {
                MeshCompletion::Sent { outcome, .. } => {
                    outcome.map_err(|reason| Problem::new(reason.to_string()))?;
                    self.unsent -= 1;
                }
                MeshCompletion::Received {
                    token,
                    memory,
                    outcome,
                } => {
                    let placed = outcome.map_err(|reason| Problem::new(reason.to_string()))?;
                    let message = Message::read(&memory[..placed.taken as usize], self.size)?;
                    arrived.push((usize::from(message.from), message));
                    self.mesh.receive(From::Any, Tags::Any, memory, token)?;
                }
                // A rank that is done leaves.
                MeshCompletion::Lost { .. } => {}
            }
        }
        Ok(())
    }

    fn reply(&mut self, origin: usize, message: &Message) -> Worked<()> {
        self.put(origin, message)
    }

    fn leave(&mut self, _channel: u32) -> Worked<()> {
        Ok(())
    }

    fn is_drained(&self) -> bool {
        self.unsent == 0
    }

    fn calls(&self) -> u64 {
        self.endpoint.stats().system_calls()
    }

    fn trouble(&self) -> String {
        format!(" ({:?})", self.mesh)
    }
}
