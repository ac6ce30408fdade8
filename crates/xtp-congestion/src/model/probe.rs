//! What a probe for more bandwidth finds where others hold a queue.
//!
//! Whoever sends `g` times as fast into a full link gets `g / (1 + (g - 1) s)` times what it had, if its share was
//! `s`: 1.2 times for a newcomer, nothing for whoever is alone. So there a probe tells the share. Whoever has little
//! goes on as long as it brings much; whoever has much already does not keep what it took from the others.

use super::estimate::Bandwidth;

/// A queue of this many least round trips before a probe is not ours: there is nothing to be found but what others have.
const OTHERS: f64 = 0.04;
/// Growth in a round that only a small share explains: a half would bring 1.11.
const MUCH: f64 = 1.13;
/// Growth that shows, if no packet waited, that the path carries more than was sent to see it.
const ENDLESS: f64 = 1.15;
/// Growth of what arrives that shows that others were there: who has all of a full link gets no more by sending faster.
const TOOK: f64 = 1.05;
/// Rounds until reports tell of what left since the probe began.
const BLIND: u64 = 2;
/// Rounds after which even a probe that brings much ends.
const LONGEST: u64 = 6;

/// One probe.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct BandwidthProbe {
    /// There was a queue before it.
    crowded: bool,
    /// Bandwidth measured in this cycle before it.
    before: u64,
    /// Bandwidth when the last round was judged.
    base: u64,
    grew: bool,
    goes_on: bool,
    /// Bandwidth it began with; 0: there was none yet.
    first: u64,
    /// Rounds since it began.
    age: u64,
    /// Octets a second that arrived in the round before it, and the most in a round since.
    came: (u64, u64),
}

impl BandwidthProbe {
    /// Begins, with a queue of so many least round trips, after a round in which `came` octets a second arrived.
    pub(super) fn begin(queue: f64, came: u64, bandwidth: &Bandwidth) -> Self {
        let crowded = queue > OTHERS;
        Self {
            crowded,
            before: bandwidth.of_cycle(),
            base: bandwidth.get(),
            grew: false,
            goes_on: crowded,
            first: bandwidth.get(),
            age: 0,
            came: (came, came),
        }
    }

    /// A round in it or after it is over, in which so many octets a second arrived.
    pub(super) fn came(&mut self, rate: u64) {
        self.came.1 = self.came.1.max(rate);
    }

    /// Whether more arrived for it than before, so that what overflows was not its own link.
    pub(super) fn took(&self) -> bool {
        self.came.1 as f64 > self.came.0 as f64 * TOOK
    }

    /// Its round number `rounds` is over.
    pub(super) fn on_round(&mut self, rounds: u64, bandwidth: &Bandwidth) {
        if !self.crowded || rounds < BLIND {
            return;
        }
        let grows = bandwidth.get() as f64 >= self.base as f64 * MUCH;
        self.base = bandwidth.get();
        self.grew |= grows;
        self.goes_on = grows && rounds < LONGEST;
    }

    /// A round is over, whatever the phase; its last packets waited if `queue`. Whether just that round told of what the
    /// probe sent, and there was room for all of it.
    pub(super) fn met_no_end(&mut self, queue: bool, bandwidth: &Bandwidth) -> bool {
        self.age += 1;
        if self.age != BLIND || self.crowded || self.first == 0 {
            return false;
        }
        let grew = bandwidth.get() as f64 >= self.first as f64 * ENDLESS;
        grew && !queue
    }

    /// Whether it has to last, because its rounds bring much or have not told yet.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Ends: what it took from others is forgotten.
    pub(super) fn end(&mut self, bandwidth: &mut Bandwidth) {
        if self.was_in_vain() {
            bandwidth.take_back(self.before);
        }
    }

    /// Whether it found nothing that should be kept.
    pub(super) fn was_in_vain(&self) -> bool {
        self.crowded && !self.grew
    }
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
