//! The two numbers the model is made of: the most the path delivered lately, and its least round trip.

use core::time::Duration;

use xtp_core::Time;

/// After so long without a round trip near the least one it is measured again.
const LEAST_LIFE: Duration = Duration::from_secs(10);

/// Most octets a second delivered in this cycle of probing and the one before.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Bandwidth {
    cycles: [u64; 2],
}

impl Bandwidth {
    /// Octets a second; 0 if unknown.
    pub(super) fn get(&self) -> u64 {
        self.cycles[0].max(self.cycles[1])
    }

    /// Another measurement.
    pub(super) fn sample(&mut self, rate: u64) {
        self.cycles[1] = self.cycles[1].max(rate);
    }

    /// What was measured in this cycle until now.
    pub(super) fn of_cycle(&self) -> u64 {
        self.cycles[1]
    }

    /// What was measured in this cycle since it was `until` says nothing about the path.
    pub(super) fn take_back(&mut self, until: u64) {
        self.cycles[1] = self.cycles[1].min(until);
    }

    /// It is certainly no more than this.
    pub(super) fn cap(&mut self, rate: u64) {
        self.cycles = self.cycles.map(|cycle| cycle.min(rate));
    }

    /// A cycle is over: what was measured before it is forgotten, unless nothing was measured in it.
    pub(super) fn advance(&mut self) {
        if self.cycles[1] > 0 {
            self.cycles = [self.cycles[1], 0];
        }
    }
}

/// Round trips over which jitter is averaged.
const AVERAGED: i64 = 16;
/// Jitter is so many times the mean change from one round trip to the next.
const SPREAD: i64 = 2;
/// A path jitters where that is more than this part of its least round trip, and that is not so short that trains, busy hosts and
/// members of groups cause as much. Less is what the packets of others cause everywhere.
const NOTABLE: u32 = 12;
const JITTERS_FROM: Duration = Duration::from_millis(10);
/// So many times its jitter the usual round trip of a path that jitters is longer than its least.
const USUALLY: f64 = 2.5;

/// How much round trips differ for no reason, nanoseconds: how much they change from one to the next, less how much they grow
/// or shrink by it. A queue that fills makes them longer one after the other, which is no jitter.
#[derive(Copy, Clone, Debug, Default)]
struct Jitter {
    last: Option<i64>,
    /// Changes seen, [`AVERAGED`] at most: the first ones count for as many as there are.
    count: i64,
    change: i64,
    drift: i64,
}

impl Jitter {
    fn sample(&mut self, rtt: Duration) {
        let rtt = i64::try_from(rtt.as_nanos())
            .unwrap_or(i64::MAX / 4)
            .min(i64::MAX / 4);
        if let Some(last) = self.last.replace(rtt) {
            self.count = (self.count + 1).min(AVERAGED);
            self.change += ((rtt - last).abs() - self.change) / self.count;
            self.drift += (rtt - last - self.drift) / self.count;
        }
    }

    fn get(&self) -> Duration {
        let nanos = SPREAD.saturating_mul(self.change - self.drift.abs());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }
}

/// The least round trip.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct LeastRtt {
    known: Option<(Duration, Time)>,
    jitter: Jitter,
}

impl LeastRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.known.map(|(least, _)| least)
    }

    /// A round trip. One close to the least shows that it still holds.
    pub(super) fn sample(&mut self, rtt: Duration, now: Time) {
        self.jitter.sample(rtt);
        self.known = match self.known {
            Some((least, _)) if rtt > least + least / 32 + Duration::from_micros(300) => return,
            Some((least, _)) => Some((least.min(rtt), now)),
            None => Some((rtt, now)),
        };
    }

    /// Whether nothing has confirmed it for a long time.
    pub(super) fn is_old(&self, now: Time) -> bool {
        self.known.is_some_and(|(_, at)| now.since(at) > LEAST_LIFE)
    }

    /// It was measured anew, larger perhaps; or could not be, and holds for another while.
    pub(super) fn renew(&mut self, rtt: Option<Duration>, now: Time) {
        if let Some(rtt) = rtt.or(self.get()) {
            self.known = Some((rtt, now));
        }
    }

    /// By how much a round trip exceeds it.
    pub(super) fn excess(&self, rtt: Duration) -> Duration {
        self.get()
            .map_or(Duration::ZERO, |least| rtt.saturating_sub(least))
    }

    /// How much round trips of this path differ for no reason; nothing unless that is notable.
    pub(super) fn jitter(&self) -> Duration {
        let jitter = self.jitter.get();
        let least = self.get().unwrap_or_default();
        match least >= JITTERS_FROM && NOTABLE * jitter > least {
            true => jitter,
            false => Duration::ZERO,
        }
    }

    /// By how much round trips usually exceed the least where jitter is notable: a stream in order waits for its latest packets, so that
    /// the least is that of a few that were alone.
    pub(super) fn usual(&self) -> Duration {
        self.jitter().mul_f64(USUALLY)
    }

    /// Whether it is no longer than usual, on a path that jitters.
    pub(super) fn is_usual(&self, rtt: Duration) -> bool {
        let usual = self.usual();
        !usual.is_zero() && self.excess(rtt) <= usual
    }

    /// By how much it exceeds what notable jitter explains.
    pub(super) fn queued(&self, rtt: Duration) -> Duration {
        self.excess(rtt).saturating_sub(self.jitter())
    }

    /// By how much it exceeds what jitter explains: so long it waited in a queue. What may end startup for good must be one;
    /// afterwards caution costs less, and leaves others room.
    pub(super) fn waited(&self, rtt: Duration) -> Duration {
        self.excess(rtt).saturating_sub(self.jitter.get())
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
