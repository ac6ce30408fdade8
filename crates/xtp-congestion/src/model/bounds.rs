//! What losses and marks say about how much may be in flight.
//!
//! Loss alone is no sign of congestion: a path that loses one packet in a hundred loses as many at half the rate.
//! Loss that comes with a queue is one, and so is loss that no reasonable path has by itself.

use core::time::Duration;

use super::estimate::LeastRtt;
use super::round::Round;
use super::startup::floor;

/// One octet lost in so many is too much whatever the queue.
const HEAVY: u64 = 12;
/// The same where packets waited.
const MODERATE: u64 = 50;
/// Losses of fewer packets are chance.
pub(super) const CHANCE: u64 = 8;
/// What is left after a congested round.
const REDUCTION: f64 = 0.7;
/// Part of the long bound used between probes, so that others find room.
const HEADROOM: f64 = 0.85;

/// Most octets in flight.
#[derive(Copy, Clone, Debug)]
pub(super) struct Bounds {
    /// What a probe found to be too much.
    long: u64,
    /// What was too much since the last probe.
    short: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            long: u64::MAX,
            short: u64::MAX,
        }
    }
}

/// The part of what is sent that this path loses by itself, as rounds without a queue show it.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Chance(f64);

impl Chance {
    /// Octets of `total` whose loss says nothing: twice what is usual.
    fn usual(self, total: u64) -> u64 {
        (2.0 * self.0 * total as f64) as u64
    }

    fn note(&mut self, lost: u64, total: u64) {
        if total > 0 {
            self.0 += (lost as f64 / total as f64 - self.0) / 8.0;
        }
    }
}

/// Whether so many lost octets beside those delivered are too many whatever the queue.
pub(super) fn is_heavy(lost: u64, delivered: u64) -> bool {
    lost * HEAVY > lost + delivered
}

/// Whether a round that delivered so many octets shows congestion. Rounds without a queue teach `chance`.
pub(super) fn is_congested(
    round: &Round,
    delivered: u64,
    segment: u64,
    least: &LeastRtt,
    chance: &mut Chance,
) -> bool {
    let waited = round.longest.map_or(Duration::ZERO, |rtt| least.excess(rtt));
    let total = round.lost + delivered;
    let unusual = round.lost.saturating_sub(chance.usual(total));
    let heavy = round.lost >= CHANCE * segment && is_heavy(round.lost, delivered);
    let many = unusual >= CHANCE * segment && unusual * MODERATE > total;
    let moderate = many && waited > floor(least, 8);
    // A full queue is known by its length; then few losses are enough.
    let overflow = unusual >= 2 * segment && waited > floor(least, 2);
    if waited <= floor(least, 8) {
        chance.note(round.lost, total);
    }
    round.marked || heavy || moderate || overflow
}

impl Bounds {
    /// A congested round while probing, which had so many octets in flight at most. `product` is worth keeping.
    pub(super) fn probe_failed(&mut self, most_in_flight: u64, product: u64) {
        self.long = ((most_in_flight as f64 * HEADROOM) as u64).max(product);
    }

    /// A congested round otherwise, which had so many octets in flight at most. `product` is worth keeping.
    pub(super) fn reduce(&mut self, most_in_flight: u64, product: u64) {
        let reduced = (self.short.min(most_in_flight) as f64 * REDUCTION) as u64;
        self.short = reduced.max(product);
    }

    /// A new probe begins: what was learnt since the last one is history.
    pub(super) fn probe(&mut self) {
        self.short = u64::MAX;
    }

    /// The path is another one than it was.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// More is in flight than was thought possible, without harm.
    pub(super) fn raise(&mut self, in_flight: u64, acked: u64) {
        if self.long != u64::MAX && in_flight + acked >= self.long {
            self.long = self.long.saturating_add(acked / 4);
        }
    }

    /// Octets that may be in flight.
    pub(super) fn get(&self, probing: bool, product: u64) -> u64 {
        let long = match self.long {
            u64::MAX => u64::MAX,
            long if probing => long,
            long => ((long as f64 * HEADROOM) as u64).max(product),
        };
        long.min(self.short)
    }
}

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
