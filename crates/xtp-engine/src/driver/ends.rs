//! The END of an exchange leaves behind the FIRST of the next one.
//!
//! END tells a peer that its answer came. Nobody waits for that, and whoever makes one call after the other waits for the next
//! answer: so FIRST goes first, and END leaves while the peer works. Only the caller knows whether another call follows, so it says
//! how long END may wait, and sees to a turn when that is over.

use super::{Driver, Outlet};
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;

/// The END that waits.
#[derive(Debug, Default)]
pub(super) struct DeferredEnd {
    /// How long one may wait; `None`: it leaves at once.
    longest: Option<Duration>,
    packet: TransmitBatch,
    until: Time,
}

impl DeferredEnd {
    /// Whether what ends an exchange at `now` waits: then it is gone from `out`. One waits at a time.
    pub(super) fn takes(&mut self, now: Time, out: &mut TransmitBatch) -> bool {
        let Some(longest) = self.longest.filter(|_| self.packet.is_empty()) else {
            return false;
        };
        core::mem::swap(&mut self.packet, out);
        self.until = now + longest;
        true
    }
}

impl Driver {
    /// From here on the END of an exchange whose answer meets an [expectation](crate::Expectation::Answer) may wait so long, and
    /// leaves behind the packets of the next [turn](Self::turn); `None`, as at first: it leaves at once.
    /// [`deadline`](Self::deadline) says when a turn is due for one that waits.
    #[inline]
    pub fn defer_ends(&mut self, longest: Option<Duration>) {
        self.deferred_end.longest = longest;
    }

    /// Until when the END of an exchange waits, if one does.
    #[inline]
    pub fn end_due(&self) -> Option<Time> {
        let end = &self.deferred_end;
        (!end.packet.is_empty()).then_some(end.until)
    }

    /// The END that waits leaves, as part of a turn.
    pub(super) fn send_end(&mut self, now: Time, outlet: &mut impl Outlet) {
        match self.is_stalled() {
            true => self.out.append(&mut self.deferred_end.packet),
            false => {
                core::mem::swap(&mut self.out, &mut self.deferred_end.packet);
                self.send_out(now, outlet);
            }
        }
    }
}
