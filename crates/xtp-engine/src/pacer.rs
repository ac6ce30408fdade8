//! Spreads a congestion window over a round trip (specification 12.5, 23).

use crate::Time;
use core::time::Duration;

/// Levels are counted in billionths of an octet.
const OCTET: i128 = 1_000_000_000;
/// A wake-up should be worth this much time of sending, so that fast paths are not woken for every packet.
const QUANTUM: u128 = 250_000;

/// A token bucket over octets whose rate follows the congestion controller.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    rate: Option<u64>,
    burst: u64,
    level: i128,
    at: Time,
}

impl Pacer {
    /// A pacer that does not pace until it is given a rate.
    pub(crate) fn new() -> Self {
        Self {
            rate: None,
            burst: 0,
            level: 0,
            at: Time::ZERO,
        }
    }

    /// The burst for a rate: ten packets, or one millisecond's worth if that is more.
    pub(crate) fn burst_for(rate: u64, packet: u64) -> u64 {
        packet.saturating_mul(10).max(rate / 1_000)
    }

    /// Changes rate (octets a second; `None` = unlimited) and burst (octets). Turning it on fills the bucket.
    pub(crate) fn set(&mut self, rate: Option<u64>, burst: u64) {
        let rate = rate.map(|rate| rate.max(1));
        let burst = burst.max(1);
        if self.rate.is_none() && rate.is_some() {
            self.level = i128::from(burst) * OCTET;
        }
        self.rate = rate;
        self.burst = burst;
        self.level = self.level.min(i128::from(burst) * OCTET);
    }

    /// Octets that may start at `now`: packets may start while fewer were taken.
    pub(crate) fn budget(&mut self, now: Time) -> u64 {
        let Some(rate) = self.rate else {
            self.at = self.at.max(now);
            return u64::MAX;
        };
        if now > self.at {
            let inflow = u128::from(rate) * u128::from(now.as_nanos() - self.at.as_nanos());
            let inflow = i128::try_from(inflow).unwrap_or(i128::MAX);
            self.level = self
                .level
                .saturating_add(inflow)
                .min(i128::from(self.burst) * OCTET);
            self.at = now;
        }
        let level = u128::try_from(self.level).unwrap_or(0);
        u64::try_from(level.div_ceil(OCTET.unsigned_abs())).unwrap_or(u64::MAX)
    }

    /// So many octets started.
    pub(crate) fn take(&mut self, octets: u64) {
        if self.rate.is_some() {
            self.level = self.level.saturating_sub(i128::from(octets) * OCTET);
        }
    }

    /// When to come back; `None` if something may start now.
    pub(crate) fn ready_at(&self, now: Time) -> Option<Time> {
        let rate = u128::from(self.rate?);
        if self.level > 0 {
            return None;
        }
        let half = u128::from(self.burst) * OCTET.unsigned_abs() / 2;
        let wanted = (rate * QUANTUM).min(half);
        let wait = (self.level.unsigned_abs() + wanted) / rate + 1;
        let wait = u64::try_from(wait).unwrap_or(u64::MAX);
        Some((self.at + Duration::from_nanos(wait)).max(now))
    }
}

#[cfg(test)]
#[path = "pacer_tests.rs"]
mod tests;
