//! How much a reader buffers: as much as the path needs, and no more than it may.
//!
//! A writer can have no more under way than the reader grants, and losses keep what came behind them waiting for a
//! round trip or two. So a reader that begins with a few megabytes watches how much arrives in a round trip and
//! grants a multiple of it, as long as its user keeps up. It never takes back what it granted.

use core::time::Duration;

use crate::Time;
use crate::fields::Fields;
use crate::path::rtt::NEAR;

/// Round trips' worth of octets to grant: one under way, two and more behind a loss whose repetition was lost, and
/// one for growth before the next look.
const ROUNDS: u64 = 5;
/// Looks a round trip.
const LOOKS: u32 = 4;
/// Round trip assumed as long as none is known.
const ASSUMED: Duration = Duration::from_millis(100);

/// Watches one reader.
#[derive(Copy, Clone, Debug)]
pub struct Growth {
    limit: u64,
    /// Nanoseconds, 0 as long as none is known: an `Option<Duration>` takes twice the room.
    rtt: u64,
    since: Time,
    from: u64,
}

impl Growth {
    /// A reader that may come to buffer `limit` octets.
    pub fn new(limit: u64, now: Time) -> Self {
        Self {
            limit,
            rtt: 0,
            since: now,
            from: 0,
        }
    }

    /// What a reader at rest, with this capacity, has to remember.
    pub fn walk(&mut self, capacity: u64, fields: &mut impl Fields) {
        let Self {
            limit,
            rtt,
            since,
            from,
        } = self;
        let mut may_grow = *limit != capacity;
        fields.flag(&mut may_grow);
        if may_grow {
            fields.number(limit);
            fields.number(rtt);
            fields.time(since);
            fields.number(from);
        } else {
            *limit = capacity;
        }
    }

    /// The most it may come to.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// A round trip as far as a reader can tell.
    pub fn set_rtt(&mut self, rtt: Duration) {
        let rtt = u64::try_from(rtt.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.rtt = match self.rtt {
            0 => rtt,
            known => known.min(rtt),
        };
    }

    /// The path is another one.
    pub fn forget_rtt(&mut self) {
        self.rtt = 0;
    }

    /// The least round trip it was told.
    pub fn rtt(&self) -> Option<Duration> {
        (self.rtt != 0).then(|| Duration::from_nanos(self.rtt))
    }

    /// Whether nothing that comes now can change the capacity: it is the most, or that of a near reader, or has just been looked at.
    pub fn has_looked(&self, capacity: u64, now: Time) -> bool {
        capacity >= self.limit || self.since == now || self.is_near()
    }

    /// What is under way to a near reader waits in its socket: to grant more would only make that overflow.
    fn is_near(&self) -> bool {
        self.rtt().is_some_and(|rtt| rtt < NEAR)
    }

    /// Octets beyond `capacity` are in order now, up to `highest` arrived, `waiting` wait for the user: the capacity
    /// the reader should have.
    #[inline]
    pub fn capacity(&mut self, capacity: u64, highest: u64, waiting: u64, now: Time) -> u64 {
        if capacity >= self.limit || self.is_near() {
            return capacity;
        }
        let look = self.rtt().unwrap_or(ASSUMED) / LOOKS;
        if now.since(self.since) < look {
            return capacity;
        }
        let span = now.since(self.since).max(Duration::from_nanos(1));
        let came = u128::from(highest.saturating_sub(self.from));
        self.since = now;
        self.from = highest;
        if waiting > capacity / 4 {
            return capacity;
        }
        // A look may come late: what counts is the rate.
        let round = came * (look * LOOKS).as_nanos() / span.as_nanos();
        let wanted = u64::try_from(round).unwrap_or(u64::MAX).saturating_mul(ROUNDS);
        capacity.max(wanted.min(self.limit))
    }
}

#[cfg(test)]
#[path = "growth_tests.rs"]
mod tests;
