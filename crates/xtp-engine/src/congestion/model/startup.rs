//! When the pipe is full, so that doubling ends.

use core::time::Duration;

use super::estimate::LeastRtt;
use super::round::Round;

/// Growth a round that shows that there is more.
const GROWTH: f64 = 1.25;
/// Rounds without it after which the pipe is full.
const ROUNDS: u32 = 3;

/// Looks for the end of growth.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Startup {
    best: u64,
    rounds: u32,
    full: bool,
}

impl Startup {
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Something else showed it.
    pub(super) fn end(&mut self) {
        self.full = true;
    }

    /// A round has ended in which the path was the limit.
    pub(super) fn on_round(&mut self, bandwidth: u64, round: &Round, least: &LeastRtt) {
        if bandwidth as f64 >= self.best as f64 * GROWTH {
            self.best = bandwidth;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        let queue = round.least.map_or(Duration::ZERO, |rtt| least.excess(rtt));
        // A round without growth whose every packet waited: three more would only fill the queue.
        let waited = queue > floor(least, 8);
        self.full |= self.rounds >= ROUNDS || waited;
    }

    /// A queue of a quarter of a round trip at the bottleneck is enough, whatever still grows. Whether there is a
    /// queue at all, so that the window must not grow further: what is under way will lengthen it.
    pub(super) fn on_rtt(&mut self, round: &Round, least: &LeastRtt) -> bool {
        let queue = round
            .recent_least()
            .map_or(Duration::ZERO, |rtt| least.excess(rtt));
        self.full |= queue > floor(least, 4);
        queue > floor(least, 16)
    }
}

/// A part of the least round trip, but not less than what schedulers and interrupts cause.
pub(super) fn floor(least: &LeastRtt, part: u32) -> Duration {
    (least.get().unwrap_or_default() / part).max(Duration::from_millis(1))
}
