//! All associations of an endpoint at a glance.

use std::net::SocketAddr;

use xtp_engine::ContextStats;

use crate::core::Core;
use crate::endpoint::Endpoint;

/// What holds an association at this end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssociationHolder {
    /// The program, by a handle.
    Program,
    /// A listener: the program has not accepted it yet.
    Listener,
    /// Nothing: it ends by itself, once what was written is confirmed.
    Background,
    /// The built-in echo service.
    Echo,
    /// A completion queue.
    Queue,
}

/// One association as it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AssociationReport {
    /// As [`Stream::number`](crate::Stream::number).
    pub number: u64,
    /// The peer.
    pub peer: SocketAddr,
    /// What holds it.
    pub holder: AssociationHolder,
    /// Something came from the peer.
    pub is_heard: bool,
    /// It has ended, and its holder does not know yet.
    pub is_over: bool,
    /// Octets written that the peer's host has not acknowledged.
    pub unacknowledged: u64,
    /// Octets that came and were not read.
    pub readable: u64,
    /// Octets for which the writer has room.
    pub writable: u64,
    /// Counters and estimates.
    pub stats: ContextStats,
}

impl Endpoint {
    /// The first `most` associations of this endpoint, by number; [`EngineStats::contexts`](crate::EngineStats) says how many there
    /// are; [`groups`](Self::groups) tells of groups. For views and logs: each call looks at all of them, and no packet leaves.
    pub fn associations(&self, most: usize) -> Vec<AssociationReport> {
        self.shared.look(|core| core.associations(most))
    }
}

impl Core {
    fn associations(&mut self, most: usize) -> Vec<AssociationReport> {
        let mut ids = self.known();
        ids.sort_unstable_by_key(|id| id.as_u64());
        ids.truncate(most);
        ids.into_iter().filter_map(|id| self.report_of(id)).collect()
    }
}
