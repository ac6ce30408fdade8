//! A path that swallows the large packets it used to carry: a black hole (§5.5).
//!
//! Silence says nothing about sizes, because a peer that stopped, or a link that is down, answers small packets as little as
//! large ones. What counts is that smaller packets got through while large ones did not.
//!
//! And a peer that answers and does not take what it is sent, because its host has no memory left: as fast as the round trip allows it
//! would be sent the same again and again.

use super::Context;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_wire::size;

/// Handshakes in a row that were answered while nothing of what left before them arrived.
const HANDSHAKES: u32 = 3;
/// Losses in a row of the oldest segment while nothing of its size got through.
const LOSSES: u32 = 4;

/// Losses in a row of the oldest segment after which its repetitions back off.
const BACKED_OFF: u32 = 8;
/// The longest pause between two of these.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Context {
    /// A handshake was answered, and nothing that left before it had arrived.
    pub(super) fn note_handshake_alone(&mut self, now: Time) {
        let last = self.writer.inflight.last();
        if !last.is_some_and(|(_, len)| self.may_be_too_large(len)) {
            return;
        }
        self.writer.handshakes_alone += 1;
        if self.writer.handshakes_alone >= HANDSHAKES {
            self.writer.handshakes_alone = 0;
            self.peer.mtu.on_black_hole(now);
        }
    }

    /// Something was lost. The oldest segment again and again, while only smaller ones get through, means that it is too
    /// large. WTIMER cannot tell, because answers keep coming.
    pub(super) fn note_stuck_segment(&mut self, now: Time) {
        let Some((seq, len)) = self.writer.inflight.lost_from(self.writer.una) else {
            return;
        };
        if seq != self.writer.una {
            return;
        }
        let (oldest, losses) = self.writer.oldest_lost;
        let losses = if oldest == seq { losses + 1 } else { 1 };
        self.writer.oldest_lost = (seq, losses);
        if losses >= LOSSES && self.may_be_too_large(len) {
            self.peer.mtu.on_black_hole(now);
        }
    }

    /// How old what is reported missing must be to be lost, where the oldest segment was lost so often that its peer does not take it.
    #[inline]
    pub(super) fn pause_of_the_stuck(&self) -> Option<Duration> {
        let (oldest, losses) = self.writer.oldest_lost;
        match losses.checked_sub(BACKED_OFF) {
            Some(more) if oldest == self.writer.una => Some(self.pause_after(more)),
            _ => None,
        }
    }

    #[cold]
    fn pause_after(&self, more: u32) -> Duration {
        let pause = self.rtt.wtimer_base().saturating_mul(1 << more.min(12));
        pause.min(LONGEST_PAUSE)
    }

    /// The peer has what lies in `left..right`. Segments in it that were missing and are as large as the oldest one that was lost
    /// show that its size is not why.
    #[inline]
    pub(super) fn note_large_arrival(&mut self, left: u64, right: u64) {
        if self.writer.oldest_lost.1 == 0 {
            return;
        }
        let inflight = &self.writer.inflight;
        let len = inflight.first_len();
        if len.is_none_or(|len| inflight.has_as_large(left, right, len)) {
            self.writer.oldest_lost.1 = 0;
        }
    }

    fn may_be_too_large(&self, len: u32) -> bool {
        self.peer.mtu.is_above_base(size::packet(len as usize))
    }
}
