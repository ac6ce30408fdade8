//! Counters of an endpoint.

use xtp_engine::EngineStats;
use xtp_io::Counters;

/// Counters of one endpoint: what the engine did and what it cost in system calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointStats {
    /// The protocol engine.
    pub engine: EngineStats,
    /// The socket: exact counts of system calls, datagrams and octets. Includes [`wakes`](Self::wakes).
    pub socket: Counters,
    /// Datagrams by which threads of this process woke each other; no packets, but counted by the socket.
    pub wakes: u64,
    /// Trains the system refused for passing reasons.
    pub send_errors: u64,
    /// Calls of receiving that failed and were made again.
    pub receive_errors: u64,
    /// User octets copied above the engine (its own copies are in `ContextStats`): `io::Write` and `io::Read`,
    /// messages of several packets put together, and trains of short packets gathered for one system call (their
    /// headers included).
    pub octets_copied: u64,
}

impl EndpointStats {
    /// XTP packets sent, one a datagram.
    pub fn packets_sent(&self) -> u64 {
        self.socket.datagrams_out
    }

    /// XTP packets received, one a datagram.
    pub fn packets_received(&self) -> u64 {
        self.socket.datagrams_in.saturating_sub(self.wakes)
    }

    /// System calls made to send, receive, wait and ask for errors.
    pub fn system_calls(&self) -> u64 {
        self.socket.send_calls + self.socket.recv_calls + self.socket.poll_calls + self.socket.error_calls
    }
}
