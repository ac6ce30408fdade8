//! Rate and burst as a token bucket, exact in integers (§5.2 [D-29], [D-67]).

use super::pacer::LONGEST_QUANTUM;
use crate::fields::Fields;
use crate::time::Time;
use core::time::Duration;

/// A rate in octets a second and a burst in octets (§1.7). Rate 0: rate control off. Burst 0 with a rate: stopped.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Rate {
    /// Octets a second, counted as whole XTP packets that carry data; 0 = no limit.
    pub octets_per_second: u64,
    /// Octets a burst; 0 together with a rate stops the transmission.
    pub burst: u32,
}

/// Tokens are counted in billionths of an octet, so that one nanosecond at rate r adds exactly r of them.
const OCTET: i64 = 1_000_000_000;
/// Most that can be owed (4 GB), so that the distance to a full bucket stays a number.
const MOST_OWED: i64 = 1 << 62;
/// Packet size assumed until a larger one is taken: no smaller than any packet on Ethernet.
const ASSUMED_PACKET: u32 = 1_500;

/// A bucket of depth `burst`, filled at `rate`, from which a packet may start while it is not empty.
///
/// The level may fall below zero by one packet. Because the last packet of a burst may overdraw, credit is
/// saved up to `burst` minus one packet only; thus no interval of burst/rate seconds sees more than twice the
/// burst (or the burst and one packet, if that is more), once the largest packet was seen.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Rate,
    packet: u32,
    level: i64,
    at: Time,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(rate: Rate, now: Time) -> Self {
        let mut bucket = Self {
            rate,
            packet: ASSUMED_PACKET,
            level: 0,
            at: now,
        };
        bucket.level = bucket.depth();
        bucket
    }

    /// Changes rate and burst from `now` on. What was overdrawn stays owed; a bucket that was off starts full.
    pub fn set(&mut self, rate: Rate, now: Time) {
        if rate == self.rate {
            return;
        }
        self.refill(now);
        let was_off = self.is_off();
        let was_stopped = self.is_stopped();
        self.rate = rate;
        self.level = if was_off {
            self.depth()
        } else {
            self.level.min(self.depth())
        };
        if was_stopped && self.level == 0 && !self.is_stopped() {
            // A lifted stop lets the first packet go at once instead of a nanosecond later.
            self.level = 1;
        }
    }

    /// Adds what has flowed in until `now`. Times that run backwards add nothing.
    pub fn refill(&mut self, now: Time) {
        if now <= self.at {
            return;
        }
        let span = now.as_nanos() - self.at.as_nanos();
        self.at = now;
        if self.is_off() || self.is_stopped() {
            return;
        }
        let room = u128::from(self.depth().saturating_sub(self.level).unsigned_abs());
        let inflow = u128::from(self.rate.octets_per_second) * u128::from(span);
        // The minimum is at most depth - level, which fits.
        self.level = self
            .level
            .saturating_add(i64::try_from(inflow.min(room)).unwrap_or(i64::MAX));
    }

    /// Whether a packet may start, as of the last [`TokenBucket::refill`].
    pub fn may_send(&self) -> bool {
        self.is_off() || (!self.is_stopped() && self.level > 0)
    }

    /// One packet of so many octets started.
    pub fn take(&mut self, octets: u64) {
        if !self.is_off() {
            self.expect(octets);
            self.owe(octets);
        }
    }

    /// So many octets started without waiting for tokens: what waits for them waits longer.
    pub fn owe(&mut self, octets: u64) {
        if !self.is_off() {
            let cost = i64::try_from(octets).unwrap_or(i64::MAX).saturating_mul(OCTET);
            self.level = self.level.saturating_sub(cost).max(-MOST_OWED);
        }
    }

    /// So many packets of so many octets each started.
    pub fn take_run(&mut self, octets: u64, count: u64) {
        if !self.is_off() {
            (0..count).for_each(|_| self.take(octets));
        }
    }

    /// When to come back; `None` if a packet may start now, or never (stopped). Waits for more than the first packet needs, so that a
    /// wake-up sends several where they are many.
    pub fn ready_at(&self, now: Time) -> Option<Time> {
        if self.is_stopped() || self.may_send() {
            return None;
        }
        let flows = i64::try_from(self.rate.octets_per_second).unwrap_or(i64::MAX);
        let wanted = flows
            .saturating_mul(LONGEST_QUANTUM.cast_signed())
            .min(self.depth() / 2);
        let wait = wanted.abs_diff(self.level) / self.rate.octets_per_second + 1;
        Some((self.at + Duration::from_nanos(wait)).max(now))
    }

    /// Rate control on, transmission stopped (burst 0 with a rate).
    pub fn is_stopped(&self) -> bool {
        self.rate.octets_per_second != 0 && self.rate.burst == 0
    }

    /// Rate control off.
    pub fn is_off(&self) -> bool {
        self.rate.octets_per_second == 0
    }

    /// For planning a train: packets may start while the octets planned so far are fewer than this.
    pub fn octets_now(&self) -> u64 {
        if self.is_off() {
            u64::MAX
        } else if self.may_send() {
            self.level.unsigned_abs().div_ceil(OCTET.unsigned_abs())
        } else {
            0
        }
    }

    /// A bucket that is off knows this only: the size of packets it may meet.
    pub fn walk_off(&mut self, fields: &mut impl Fields) {
        fields.small(&mut self.packet);
    }

    /// The limit in force.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Most credit that may be saved.
    /// Packets of this size may follow: less is saved for them (see the type).
    pub fn expect(&mut self, octets: u64) {
        let size = u32::try_from(octets).unwrap_or(u32::MAX);
        if size > self.packet {
            self.packet = size;
            self.level = self.level.min(self.depth());
        }
    }

    fn depth(&self) -> i64 {
        match self.rate.burst {
            0 => 0,
            burst => i64::from(burst.saturating_sub(self.packet).max(1)) * OCTET,
        }
    }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
