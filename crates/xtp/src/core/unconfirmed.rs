//! What was sent and not confirmed before the endpoint ended.

use std::net::SocketAddr;

use xtp_engine::CloseReason;

/// Entries kept for the report; later ones are counted by the log only.
pub(super) const MAX_LOST: usize = 1_024;

/// Something that was sent and not confirmed before the endpoint ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// Whom it was sent to.
    pub peer: SocketAddr,
    /// Octets without acknowledgement, as far as known.
    pub octets: u64,
    /// How the association ended; [`CloseReason::Unconfirmed`] if the time was over first.
    pub reason: CloseReason,
}
