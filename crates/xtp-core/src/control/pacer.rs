//! Spreads a congestion window over a round trip (§5.3).

use crate::Time;
use core::num::NonZeroU64;
use core::time::Duration;

/// Levels are counted in billionths of an octet.
const OCTET: i128 = 1_000_000_000;
/// A wake-up should be worth this much time of sending, nanoseconds, so that fast paths are not woken for every packet;
/// on long ones more, for what waits in a queue so long is little beside their round trip.
const QUANTUM: u64 = 250_000;
pub(super) const LONGEST_QUANTUM: u64 = 1_000_000;
/// Quanta a round trip.
const QUANTA: u64 = 64;
/// The bucket holds at least this many of them.
const QUANTA_HELD: u64 = 2;
/// Of the time a wake-up came late so much is made up for; what a busy host loses beyond it stays lost.
const MOST_LATE: u64 = 5_000_000;

/// A token bucket over octets whose rate follows the congestion controller.
#[derive(Clone, Debug)]
pub struct Pacer {
    rate: Option<NonZeroU64>,
    burst: u64,
    level: i128,
    at: Time,
    /// When the writer wants to go on; [`Time::NEVER`] if it does not wait for tokens.
    awaited: Time,
}

/// A pacer that does not pace until it is given a rate.
impl Default for Pacer {
    fn default() -> Self {
        Self {
            rate: None,
            burst: 0,
            level: 0,
            at: Time::ZERO,
            awaited: Time::NEVER,
        }
    }
}

impl Pacer {
    /// Changes rate (octets a second; `None` = unlimited) and burst (octets; ten packets are usual). The burst is
    /// never less than one millisecond's worth, or that of two wake-ups on a path with this round trip. Turning it on fills the bucket.
    pub fn set(&mut self, rate: Option<u64>, burst: u64, rtt: Option<Duration>) {
        let was_off = self.rate.is_none();
        self.rate = rate.map(|rate| NonZeroU64::new(rate).unwrap_or(NonZeroU64::MIN));
        self.burst = burst.max(1);
        if let Some(rate) = rate {
            let millisecond = rate / 1_000;
            // In this order nothing overflows, and a millisecond's worth is exactly that.
            let held = (millisecond / 1_000).saturating_mul(QUANTA_HELD * quantum(rtt) / 1_000);
            self.burst = self.burst.max(millisecond).max(held);
        }
        let full = self.full();
        self.level = if was_off { full } else { self.level.min(full) };
    }

    /// The writer waits for tokens until then, or for something else (`None`).
    pub fn wait(&mut self, until: Option<Time>) {
        self.awaited = until.unwrap_or(Time::NEVER);
    }

    /// Adds what has flowed in until `now` and says what is [`Pacer::available`]. Times that run backwards add
    /// nothing. The bucket holds a burst, and what flows while a writer who waits for it is woken late.
    pub fn budget(&mut self, now: Time) -> u64 {
        let span = now.as_nanos().saturating_sub(self.at.as_nanos());
        let inflow = self.flow(span);
        let late = now.as_nanos().saturating_sub(self.awaited.as_nanos());
        let most = self.full().saturating_add(self.flow(late.min(MOST_LATE)));
        self.level = self.level.saturating_add(inflow).min(most);
        if self.awaited <= now {
            self.awaited = Time::NEVER;
        }
        self.at = self.at.max(now);
        self.available()
    }

    /// Octets that may start, as of the last [`Pacer::budget`]: packets may start while fewer were taken.
    pub fn available(&self) -> u64 {
        if self.rate.is_none() {
            return u64::MAX;
        }
        let level = u128::try_from(self.level).unwrap_or(0);
        u64::try_from(level.div_ceil(OCTET.unsigned_abs())).unwrap_or(u64::MAX)
    }

    /// So many octets started.
    pub fn take(&mut self, octets: u64) {
        if self.rate.is_some() {
            self.level = self.level.saturating_sub(i128::from(octets) * OCTET);
        }
    }

    /// When to come back; `None` if something may start now. Waits for a little more than one octet where the path
    /// is fast, so that wake-ups are few.
    pub fn ready_at(&self, now: Time, rtt: Option<Duration>) -> Option<Time> {
        let rate = u128::from(self.rate?.get());
        if self.level > 0 {
            return None;
        }
        let half = u128::from(self.burst) * OCTET.unsigned_abs() / 2;
        let wanted = (rate * u128::from(quantum(rtt))).min(half);
        let wait = (self.level.unsigned_abs() + wanted) / rate + 1;
        let wait = u64::try_from(wait).unwrap_or(u64::MAX);
        Some((self.at + Duration::from_nanos(wait)).max(now))
    }

    /// What flows in during so many nanoseconds.
    fn flow(&self, nanos: u64) -> i128 {
        let rate = self.rate.map_or(0, NonZeroU64::get);
        i128::try_from(u128::from(rate) * u128::from(nanos)).unwrap_or(i128::MAX)
    }

    fn full(&self) -> i128 {
        i128::from(self.burst) * OCTET
    }
}

/// Nanoseconds of sending a wake-up is for.
fn quantum(rtt: Option<Duration>) -> u64 {
    let rtt = rtt.map_or(0, |rtt| u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX));
    (rtt / QUANTA).clamp(QUANTUM, LONGEST_QUANTUM)
}

#[cfg(test)]
#[path = "pacer_tests.rs"]
mod tests;
