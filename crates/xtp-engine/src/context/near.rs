//! How much lies in the carrier of a near peer (§5.1): the system that keeps it counts more than octets.

use super::Context;
use crate::congestion::Control;
use crate::path::rtt::NEAR;
use crate::send::Inflight;

/// What is counted for a datagram besides its octets.
const DATAGRAM: u64 = 768;
/// Memory comes in powers of two: for a datagram below this, up to twice its octets; longer ones lie in pages.
const ROUNDED: u64 = 8 << 10;

impl Context {
    /// Whether a near peer's carrier, which holds `room` octets, might throw away what is sent besides all that it has not
    /// acknowledged.
    pub(super) fn may_overrun(&self, room: u64) -> bool {
        !self.pattern.no_feedback && counted(&self.writer.inflight) > room && self.is_near()
    }

    pub(super) fn is_near(&self) -> bool {
        let measured = match &self.writer.control {
            Control::Model(model) => model.least_round_trip(),
            _ => self.rtt.srtt(),
        };
        self.peer.mtu.is_local() || measured.is_some_and(|rtt| rtt < NEAR)
    }
}

/// What a system counts for them at most.
fn counted(inflight: &Inflight) -> u64 {
    let (octets, sendings) = (inflight.octets(), inflight.sendings() as u64);
    octets + octets.min(sendings * ROUNDED) + sendings * DATAGRAM
}
