//! One packet-timed round trip: what was delivered and lost in it, and how long its round trips were.

use core::time::Duration;

use xtp_core::Time;

/// Round trips compared to tell a queue from one late packet.
const RECENT: usize = 4;
/// So few runs of lost packets in a round, so long in the mean, are bursts.
const FEW_GAPS: u32 = 3;
const BURST: u64 = 4;

/// A round: it ends when something sent after its beginning has arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// Octets delivered at which it ends, and at which it began.
    ends: u64,
    began: u64,
    since: Time,
    /// Octets lost in it.
    pub(super) lost: u64,
    /// How often something was lost in it.
    pub(super) losses: u32,
    /// Runs of packets lost in it that left one after the other.
    pub(super) gaps: u32,
    /// Marks of congestion came in it.
    pub(super) marked: bool,
    /// Most octets in flight.
    pub(super) most_in_flight: u64,
    /// Least round trip, and the longest that several in a row exceeded: one late report is no queue.
    pub(super) least: Option<Duration>,
    pub(super) longest: Option<Duration>,
    recent: [Duration; RECENT],
    samples: usize,
    /// Round trips in it, and how many of them showed that a packet waited.
    seen: u32,
    waited: u32,
}

impl Round {
    /// Whether a packet that left when `prior` octets were delivered, and has arrived, ends this round.
    pub(super) fn is_over(&self, prior: u64) -> bool {
        prior >= self.ends
    }

    /// The next round begins now, with so many octets delivered; gives the one that ended.
    pub(super) fn next(&mut self, delivered: u64, now: Time) -> Self {
        let fresh = Self {
            ends: delivered,
            began: delivered,
            since: now,
            recent: self.recent,
            samples: self.samples,
            ..Self::default()
        };
        std::mem::replace(self, fresh)
    }

    /// Octets delivered since it began.
    pub(super) fn delivered(&self, now: u64) -> u64 {
        now - self.began
    }

    /// Octets a second delivered until now.
    pub(super) fn rate(&self, delivered: u64, now: Time) -> u64 {
        let nanos = now.since(self.since).as_nanos().max(1);
        let rate = u128::from(self.delivered(delivered)) * 1_000_000_000 / nanos;
        u64::try_from(rate).unwrap_or(u64::MAX)
    }

    /// Whether many of its reports told of losses: one burst is in few of them.
    pub(super) fn lost_throughout(&self) -> bool {
        self.losses > 1 && 4 * self.losses >= self.seen
    }

    /// Whether what it lost left in few bursts, as what is lost by chance may. What is too much for a path is lost here and there,
    /// all the round long.
    pub(super) fn lost_in_bursts(&self, segment: u64) -> bool {
        // None began in it where a gap goes on that began before.
        self.lost > 0 && self.gaps <= FEW_GAPS && self.lost >= u64::from(self.gaps) * BURST * segment
    }

    /// A round trip; `waited`: longer than without a queue.
    pub(super) fn sample(&mut self, rtt: Duration, waited: bool) {
        self.seen += 1;
        self.waited += u32::from(waited);
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        self.recent[self.samples % RECENT] = rtt;
        self.samples += 1;
        self.longest = self.longest.max(self.recent_least());
    }

    /// Whether half of its packets waited, or nothing is known of them.
    pub(super) fn mostly_waited(&self) -> bool {
        2 * self.waited >= self.seen
    }

    /// The least of the last few round trips, if there are enough.
    pub(super) fn recent_least(&self) -> Option<Duration> {
        let enough = self.samples >= RECENT;
        self.recent.iter().min().copied().filter(|_| enough)
    }
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
