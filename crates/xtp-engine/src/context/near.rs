//! How much lies in the carrier of a near peer (§5.1): the system that keeps it counts more than octets.

use super::Context;
use xtp_congestion::CongestionControl;
use xtp_core::path::rtt::NEAR;

/// What is counted for a datagram besides its octets.
const DATAGRAM: u64 = 768;
/// Memory comes in powers of two: for a datagram below this, up to twice its octets; longer ones lie in pages.
const ROUNDED: u64 = 8 << 10;

impl Context {
    /// Whether a near peer's carrier, which holds `room` octets, might throw away what is sent besides all that it has not
    /// acknowledged. What is lost lies there no longer: were it counted, nobody could send it again where it fills all of it.
    pub(super) fn may_overrun(&self, room: u64) -> bool {
        let inflight = &self.writer.inflight;
        if self.pattern.no_feedback
            || counted(inflight.octets(), inflight.sendings()) <= room
            || !self.is_near()
        {
            return false;
        }
        !inflight.has_lost() || counted(inflight.in_flight(None, None), inflight.sendings_not_lost()) > room
    }

    pub(super) fn is_near(&self) -> bool {
        let measured = match &self.writer.control {
            CongestionControl::Model(model) => model.least_round_trip(),
            _ => self.rtt.srtt(),
        };
        self.peer.mtu.is_local() || measured.is_some_and(|rtt| rtt < NEAR)
    }
}

/// What a system counts for them at most.
fn counted(octets: u64, sendings: usize) -> u64 {
    let sendings = sendings as u64;
    octets + octets.min(sendings * ROUNDED) + sendings * DATAGRAM
}
