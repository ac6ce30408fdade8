//! When the pipe is full, so that doubling ends.

use core::time::Duration;

use super::estimate::LeastRtt;
use super::round::Round;

/// Growth a round that shows that there is more.
const GROWTH: f64 = 1.25;
/// Rounds without it after which the pipe is full.
const ROUNDS: u32 = 3;

/// What the round after packets that waited says: its packets left before that, at nearly three times the bandwidth.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They waited, too.
    Right,
    /// They did not, and more of them arrived than before.
    Wrong,
    /// They did not, but they were no more: a probe must tell.
    Open,
}

/// Looks for the end of growth.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Startup {
    best: u64,
    rounds: u32,
    full: bool,
    /// Packets that waited ended it, and whether for good is not judged yet: it may have been a host that stopped for a
    /// moment. Rounds that ended since, and the bandwidth then.
    doubt: Option<(u32, u64)>,
}

impl Startup {
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// A round has ended; what it says about the end of startup, if that is in doubt.
    pub(super) fn judge(&mut self, bandwidth: u64, round: &Round) -> Option<Verdict> {
        let (rounds, then) = self.doubt.as_mut()?;
        // The round in which it ended has the packets whose waiting ended it.
        *rounds += 1;
        if *rounds < 2 {
            return None;
        }
        let grew = bandwidth as f64 >= *then as f64 * GROWTH;
        self.doubt = None;
        Some(match grew {
            _ if round.mostly_waited() => Verdict::Right,
            true => Verdict::Wrong,
            false => Verdict::Open,
        })
    }

    /// There is more than `bandwidth` after all.
    pub(super) fn resume(&mut self, bandwidth: u64) {
        *self = Self {
            best: bandwidth,
            ..Self::default()
        };
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
        let queue = round.least.map_or(Duration::ZERO, |rtt| least.waited(rtt));
        // A round without growth whose every packet waited: three more would only fill the queue.
        let waited = queue > floor(least, 8);
        if waited {
            self.waited(bandwidth);
        }
        self.full |= self.rounds >= ROUNDS;
    }

    /// A queue of a quarter of a round trip at the bottleneck is enough, whatever still grows. Whether there is a
    /// queue at all, so that the window must not grow further: what is under way will lengthen it.
    pub(super) fn on_rtt(&mut self, bandwidth: u64, round: &Round, least: &LeastRtt) -> bool {
        let queue = round
            .recent_least()
            .map_or(Duration::ZERO, |rtt| least.waited(rtt));
        if queue > floor(least, 4) {
            self.waited(bandwidth);
        }
        queue > floor(least, 16)
    }

    fn waited(&mut self, bandwidth: u64) {
        if !self.full {
            (self.full, self.doubt) = (true, Some((0, bandwidth)));
        }
    }
}

/// A part of the least round trip, but not less than what schedulers and interrupts cause.
pub(super) fn floor(least: &LeastRtt, part: u32) -> Duration {
    (least.get().unwrap_or_default() / part).max(Duration::from_millis(1))
}
