//! A path that swallows the large packets it used to carry: a black hole (§5.5).
//!
//! Silence says nothing about sizes, because a peer that stopped, or a link that is down, answers small packets as little as
//! large ones. What counts is that smaller packets got through while large ones did not.
//!
//! And a peer that answers and does not take what it is sent, because its host has no memory left: as fast as the round trip allows it
//! would be sent the same again and again.

use core::time::Duration;
use xtp_core::fields::Fields;
use xtp_core::path::mtu::MtuSearch;
use xtp_core::path::rtt::Rtt;
use xtp_core::send::Inflight;
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

/// How often the oldest segment did not get through.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StuckSegment {
    /// Where the oldest segment began that was lost last, and how often in a row it was.
    oldest: u64,
    losses: u32,
    /// Handshakes answered in a row while nothing of the large segments before them arrived.
    handshakes: u32,
}

impl StuckSegment {
    /// Something that was sent is acknowledged.
    pub(super) fn acknowledged(&mut self) {
        self.handshakes = 0;
    }

    /// A handshake was answered, and nothing that left before it had arrived.
    pub(super) fn handshake_alone(&mut self, inflight: &Inflight, mtu: &mut MtuSearch, now: Time) {
        if !inflight.last().is_some_and(|(_, len)| may_be_too_large(mtu, len)) {
            return;
        }
        self.handshakes += 1;
        if self.handshakes >= HANDSHAKES {
            self.handshakes = 0;
            mtu.on_black_hole(now);
        }
    }

    /// Something was lost, where everything below `una` is acknowledged. The oldest segment again and again, while only smaller ones get
    /// through, means that it is too large. WTIMER cannot tell, because answers keep coming.
    pub(super) fn lost(&mut self, una: u64, inflight: &Inflight, mtu: &mut MtuSearch, now: Time) {
        let Some((seq, len)) = inflight.lost_from(una) else {
            return;
        };
        if seq != una {
            return;
        }
        let before = if self.oldest == seq { self.losses } else { 0 };
        (self.oldest, self.losses) = (seq, before + 1);
        if self.losses >= LOSSES && may_be_too_large(mtu, len) {
            mtu.on_black_hole(now);
        }
    }

    /// How old what is reported missing must be to be lost, where the oldest segment was lost so often that its peer does not take it.
    #[inline]
    pub(super) fn pause(&self, una: u64, rtt: &Rtt) -> Option<Duration> {
        match self.losses.checked_sub(BACKED_OFF) {
            Some(more) if self.oldest == una => Some(pause_after(more, rtt)),
            _ => None,
        }
    }

    /// The peer has what lies in `left..right`. Segments in it that were missing and are as large as the oldest one that was lost
    /// show that its size is not why.
    #[inline]
    pub(super) fn arrived(&mut self, left: u64, right: u64, inflight: &Inflight) {
        if self.losses == 0 {
            return;
        }
        let len = inflight.first_len();
        if len.is_none_or(|len| inflight.has_as_large(left, right, len)) {
            self.losses = 0;
        }
    }

    /// As part of the walk over a context at rest.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        fields.number(&mut self.oldest);
        fields.small(&mut self.losses);
        fields.small(&mut self.handshakes);
    }
}

#[cold]
fn pause_after(more: u32, rtt: &Rtt) -> Duration {
    let pause = rtt.wtimer_base().saturating_mul(1 << more.min(12));
    pause.min(LONGEST_PAUSE)
}

fn may_be_too_large(mtu: &MtuSearch, len: u32) -> bool {
    mtu.is_above_base(size::packet(len as usize))
}

#[cfg(test)]
#[path = "black_hole_tests.rs"]
mod tests;
