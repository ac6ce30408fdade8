//! What peers took while others waited at the listener.

use std::collections::hash_map::Entry;
use std::time::Duration;

use xtp_engine::Time;

use super::serial::SerialMap;

/// Octets a peer has to take in the time it has, unless that is all there are: 819 a second in the usual time.
const LEAST: u64 = 16 << 10;
/// The usual time.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// What a peer had taken.
#[derive(Copy, Clone, Debug)]
struct PeerProgress {
    octets: u64,
    at: Time,
    /// It was there at the last look.
    fresh: bool,
}

/// Associations whose peers have not taken everything, while others wait at their listener.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    /// By number of the association.
    taken: SerialMap<u64, PeerProgress>,
    /// When to look.
    pub(super) at: Option<Time>,
}

impl Stalls {
    /// One was looked at: how long it has taken too little.
    pub(super) fn note(&mut self, now: Time, number: u64, octets: u64) -> Duration {
        let taken = PeerProgress {
            octets,
            at: now,
            fresh: true,
        };
        match self.taken.entry(number) {
            Entry::Vacant(place) => {
                place.insert(taken);
            }
            Entry::Occupied(mut known) if octets.saturating_sub(known.get().octets) >= LEAST => {
                known.insert(taken);
            }
            Entry::Occupied(mut known) => known.get_mut().fresh = true,
        }
        self.taken
            .get(&number)
            .map_or(Duration::ZERO, |taken| now.since(taken.at))
    }

    /// Forgets associations that the last look did not find.
    pub(super) fn end_look(&mut self) {
        self.taken.retain(|_, taken| std::mem::take(&mut taken.fresh));
    }
}

#[cfg(test)]
#[path = "stalls_tests.rs"]
mod tests;
