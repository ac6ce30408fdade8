//! When the pipe is full, so that doubling ends.

use core::time::Duration;

use super::estimate::LeastRtt;
use super::round::Round;

/// Growth a round that shows that there is more.
const GROWTH: f64 = 1.25;
/// Rounds without it after which the pipe is full.
const ROUNDS: u32 = 3;
/// Rounds in which the window stood still until the round trips of what left before are through.
const STILL: u32 = 2;
/// Round trips grow if they do by this part of the least one in a round.
const GROWS: u32 = 50;

/// What the round after packets that waited says: its packets left before that, at nearly three times the bandwidth.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum StartupVerdict {
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
    /// They ended it for good, as far as is known.
    by_waiting: bool,
    /// The bandwidth it began with; 0: nothing was known.
    began: u64,
    /// So long packets wait in a queue that others made longer, and it still grows by so much a round.
    others: Duration,
    creep: Duration,
    /// Rounds whose packets waited while the window stood still, and the least round trip of the last of them.
    still: (u32, Duration),
}

impl Startup {
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// A round has ended; what it says about the end of startup, if that is in doubt.
    pub(super) fn judge(&mut self, bandwidth: u64, round: &Round) -> Option<StartupVerdict> {
        let (rounds, then) = self.doubt.as_mut()?;
        // The round in which it ended has the packets whose waiting ended it.
        *rounds += 1;
        if *rounds < 2 {
            return None;
        }
        let grew = bandwidth as f64 >= *then as f64 * GROWTH;
        self.doubt = None;
        // One that brought nothing has found the end.
        self.by_waiting = round.mostly_waited() && bandwidth as f64 >= self.began as f64 * GROWTH;
        Some(match grew {
            _ if round.mostly_waited() => StartupVerdict::Right,
            true => StartupVerdict::Wrong,
            false => StartupVerdict::Open,
        })
    }

    /// Whether packets that waited ended it, and nothing has told more since.
    pub(super) fn was_ended_by_waiting(&self) -> bool {
        self.by_waiting
    }

    /// It is certain that it ended well, or a probe tells how much there is.
    pub(super) fn settle(&mut self) {
        self.by_waiting = false;
    }

    /// There is more than `bandwidth` after all.
    pub(super) fn resume(&mut self, bandwidth: u64) {
        *self = Self {
            best: bandwidth,
            began: bandwidth,
            ..Self::default()
        };
    }

    /// Something else showed it.
    pub(super) fn end(&mut self) {
        self.full = true;
    }

    /// A round has ended; `still`: the window stands still because packets wait. What grows then is not ours, and says nothing
    /// about how much of the link there is to be had: a queue counts from there on.
    pub(super) fn watch(&mut self, still: bool, round: &Round, least: &LeastRtt) {
        self.others += self.creep;
        let Some(rtt) = round.least.filter(|_| still) else {
            self.still = (0, Duration::ZERO);
            return;
        };
        let (rounds, before) = self.still;
        let grew = rtt > before + least.get().unwrap_or_default() / GROWS;
        self.still = (rounds + 1, rtt);
        if rounds >= STILL && grew {
            self.others = least.excess(round.longest.unwrap_or(rtt));
            self.creep = rtt - before;
            self.still = (0, Duration::ZERO);
        }
    }

    /// How long a packet with this round trip waited, less what others are the cause of.
    fn ours(&self, rtt: Duration, least: &LeastRtt) -> Duration {
        least.waited(rtt).saturating_sub(self.others)
    }

    /// A round has ended in which the path was the limit.
    pub(super) fn on_round(&mut self, bandwidth: u64, round: &Round, least: &LeastRtt) {
        if bandwidth as f64 >= self.best as f64 * GROWTH {
            self.best = bandwidth;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        let queue = round.least.map_or(Duration::ZERO, |rtt| self.ours(rtt, least));
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
            .map_or(Duration::ZERO, |rtt| self.ours(rtt, least));
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

#[cfg(test)]
#[path = "startup_tests.rs"]
mod tests;
