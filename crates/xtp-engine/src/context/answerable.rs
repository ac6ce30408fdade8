//! How long an answer of a regular association may be that leaves at once: worked out with the bookkeeping, while packets
//! travel, so that little is left to ask between a message and its answer.

use super::Context;
use super::express::NOT_IDLE;
use crate::congestion::Controller;
use crate::time::Time;
use xtp_wire::{XDATA_LEN, size};

impl Context {
    /// Whether an answer of `octets` to the message that came is one packet that may leave at once, by what the bookkeeping found.
    #[inline]
    pub(super) fn may_answer(&self, octets: usize, now: Time) -> bool {
        self.regular
            && octets > 0
            && octets <= self.answerable as usize
            && now < self.idle_from()
            && self.writer.all_sent()
    }

    /// From when on the writer counts as idle.
    #[inline]
    pub(super) fn idle_from(&self) -> Time {
        self.timers.last_sent.max(self.timers.decayed) + NOT_IDLE
    }

    /// Octets of an answer of which [`may_depart`](Self::may_depart) and [`room`](Self::room) have nothing to say as long as the
    /// association stays regular; fewer where it is not certain.
    pub(super) fn answerable(&self) -> u32 {
        let writer = &self.writer;
        let open = self.regular
            && self.tuning.sort.is_none()
            && writer.control.window() > 0
            && writer.pacer.available() > 0;
        if !open {
            return 0;
        }
        let mtu = &self.peer.mtu;
        let longest = size::packet(writer.max_data as usize);
        let probes =
            self.tuning.overrides.probe_mtu && mtu.current() < longest && mtu.would_probe(self.idle_from());
        let octets = (self.segment_size().saturating_sub(XDATA_LEN) as u64)
            .min(writer.credit.alloc.saturating_sub(writer.nxt))
            .min(self.room())
            .min(if probes { self.before_probing() } else { u64::MAX });
        u32::try_from(octets).unwrap_or(u32::MAX)
    }
}
