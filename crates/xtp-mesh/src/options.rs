//! What a mesh allows.

use core::time::Duration;

/// Service number that meshes use unless told otherwise.
pub const SERVICE: u16 = xtp_wire::service_numbers::MESH;

/// How a mesh begins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeshOptions {
    /// Service number at every peer. Default [`SERVICE`].
    pub service_number: u16,
    /// How long a peer to which something is to be said, or from which something is to come, may be silent before it is lost. Time in
    /// which this end did not run does not count. Default 10 min.
    pub patience: Duration,
    /// Peers, those included that came by themselves. Default 1 048 576.
    pub max_peers: usize,
    /// Receives that may wait for a message. Default 1 048 576.
    pub max_posted: usize,
    /// Messages that may wait for a receive; each peer may have 1 024 beside, so that none is kept out by the others. Senders keep what is
    /// beyond. Default 1 048 576.
    pub max_unexpected: usize,
}

impl Default for MeshOptions {
    fn default() -> Self {
        Self {
            service_number: SERVICE,
            patience: Duration::from_secs(600),
            max_peers: 1 << 20,
            max_posted: 1 << 20,
            max_unexpected: 1 << 20,
        }
    }
}
