//! Datagrams in a flood (§7.4.2). Nobody who sends them is ever answered, so nobody can be asked to prove its address; what is
//! left is to drop some before anything is made of them.

use core::hash::BuildHasher;
use core::net::IpAddr;
use core::time::Duration;

use super::pressure::{SECOND, within_ahead};
use xtp_core::hash::{KeyedState, address_octets};
use xtp_core::time::Time;

/// Datagrams a second, of all sources together, that are taken whatever happens.
const ALL: u64 = 16_384;
/// How long that rate is saved up, nanoseconds: 4 096 may come at once, about what a listener keeps.
const SAVED: u64 = SECOND / 4;
/// Beyond that in a flood: datagrams a second of the sources of one bucket.
const EACH: u64 = 32;
/// Buckets into which sources are sorted: any number of forged ones is no more than these.
const BUCKETS: usize = 1_024;
/// As many associations of unproved addresses that wait for their user show that it does not keep up.
const BEHIND: usize = 64;
/// A flood is over when nothing had to be dropped for so long.
const CALM: Duration = Duration::from_millis(250);

/// How fast datagrams come, and whether that is a flood.
pub(crate) struct Shedding {
    hash: KeyedState,
    /// Moment up to which the rate of all is used, nanoseconds.
    used: u64,
    /// The same for each bucket; none as long as there was no flood.
    used_each: Vec<u64>,
    /// The flood lasts until then.
    until: Time,
}

impl Shedding {
    /// No flood. Sources are hashed under `hash_key`.
    pub(crate) fn new(hash_key: [u8; 16]) -> Self {
        Self {
            hash: KeyedState::new(hash_key),
            used: 0,
            used_each: Vec::new(),
            until: Time::ZERO,
        }
    }

    /// Counts a datagram of `source`; whether it is to be dropped, unless its address is on the list.
    pub(crate) fn is_too_much(&mut self, now: Time, source: IpAddr) -> bool {
        if let Some(after) = within_ahead(self.used, now.as_nanos(), ALL, SAVED) {
            self.used = after;
            return false;
        }
        now < self.until && !self.is_within_bucket(now, source)
    }

    fn is_within_bucket(&mut self, now: Time, source: IpAddr) -> bool {
        if self.used_each.is_empty() {
            self.used_each = vec![0; BUCKETS];
        }
        let bucket = self.hash.hash_one(address_octets(source)) as usize % BUCKETS;
        let used = &mut self.used_each[bucket];
        let after = within_ahead(*used, now.as_nanos(), EACH, SECOND);
        *used = after.unwrap_or(*used);
        after.is_some()
    }

    /// One was dropped: the flood goes on.
    pub(crate) fn dropped(&mut self, now: Time) {
        self.until = now + CALM;
    }

    /// One is about to be taken, and so many `waiting` associations of unproved addresses were not taken by their user yet:
    /// whether a flood begins decides itself here.
    pub(crate) fn takes(&mut self, now: Time, waiting: usize) {
        if waiting >= BEHIND && within_ahead(self.used, now.as_nanos(), ALL, SAVED).is_none() {
            self.until = now + CALM;
        }
    }
}

#[cfg(test)]
#[path = "shedding_tests.rs"]
mod tests;
