//! Places that clients hold at a server: how many one address may have, and which client gives way while others wait.

use std::time::{Duration, Instant};

/// Octets a client has to move in [`PAUSE`] to keep a place that others wait for.
const LEAST: u64 = 16 << 10;
/// How long it may move less than that.
pub(crate) const PAUSE: Duration = Duration::from_secs(20);

/// Whether an address that holds `held` of `most` places may take one more, of which `taken` are taken. As long as half are free anybody
/// may; beyond, an address may hold as many as it leaves free, so that one is left after any number of greedy addresses.
pub(crate) fn may_enter(most: usize, taken: usize, held: usize) -> bool {
    let free = most.saturating_sub(taken);
    free > 0 && (taken * 2 < most || held < free)
}

/// How a client gets on.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Pace {
    octets: u64,
    since: Instant,
}

impl Pace {
    /// Of a client that begins.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            octets: 0,
            since: now,
        }
    }

    /// So many octets have moved, and others wait: how long it has been too slow.
    pub(crate) fn note(&mut self, octets: u64, now: Instant) -> Duration {
        if octets.saturating_sub(self.octets) >= LEAST {
            self.rest(octets, now);
        }
        now.saturating_duration_since(self.since)
    }

    /// The same where the client waits for this end: its time begins anew.
    pub(crate) fn rest(&mut self, octets: u64, now: Instant) {
        (self.octets, self.since) = (octets, now);
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
