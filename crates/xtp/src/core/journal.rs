//! What the log says of associations: that they opened and ended, and why (information); losses, other paths and sizes of packets
//! (debug); everything that happens to them (trace). The engine itself logs nothing.

use std::net::SocketAddr;

use xtp_engine::{ContextId, ContextStats};

/// What filters call it: `RUST_LOG=xtp::association=debug`.
pub(super) const TARGET: &str = "xtp::association";

/// An association began here.
#[inline]
pub(super) fn opened(id: ContextId, peer: SocketAddr) {
    tracing::info!(target: TARGET, id = id.as_u64(), %peer, "opened to");
}

/// An association began at the peer.
#[inline]
pub(super) fn accepted(id: ContextId, peer: SocketAddr) {
    tracing::info!(target: TARGET, id = id.as_u64(), %peer, "opened by");
}

/// No program here holds it any more.
#[inline]
pub(super) fn dismissed(id: ContextId) {
    tracing::debug!(target: TARGET, id = id.as_u64(), "let go of");
}

/// A call waits.
#[inline]
pub(crate) fn waits(what: &'static str) {
    tracing::trace!(target: "xtp::wait", "waits: {what}");
}

/// What an association cost, in a line.
pub(super) fn counts(stats: &ContextStats) -> String {
    let mut text = format!(
        "{} octets in {} packets sent, {} octets in {} packets received",
        stats.octets_sent, stats.packets_sent, stats.octets_delivered, stats.packets_received
    );
    if stats.packets_lost > 0 {
        text.push_str(&format!(
            ", {} packets lost, {} octets sent again",
            stats.packets_lost, stats.octets_retransmitted
        ));
    }
    if let Some(rtt) = stats.rtt {
        text.push_str(&format!(", round trip {rtt:?}"));
    }
    text
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
