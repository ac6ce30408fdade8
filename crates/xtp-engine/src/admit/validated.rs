//! Addresses that have proved that they receive what is sent to them (§7.4, "List").

use core::net::IpAddr;
use core::time::Duration;

use super::lru::Lru;
use xtp_core::hash::{KeyedState, address_octets};
use xtp_core::time::Time;

/// How long a proof is remembered.
const LIFE: Duration = Duration::from_secs(600);
/// Entries one call of `expire` forgets at most.
const BATCH: usize = 64;

/// The list; its least recently proved address gives way to a new one.
pub(crate) struct Validated {
    proofs: Lru<[u8; 16], Time>,
}

impl Validated {
    /// At most `max` addresses, hashed under `hash_key`.
    pub(crate) fn new(max: usize, hash_key: [u8; 16]) -> Self {
        Self {
            proofs: Lru::new(max, KeyedState::new(hash_key)),
        }
    }

    /// `address` has proved itself now.
    pub(crate) fn insert(&mut self, now: Time, address: IpAddr) {
        self.proofs.insert(address_octets(address), now);
    }

    /// Whether `address` proved itself within the last 10 minutes.
    pub(crate) fn contains(&self, now: Time, address: IpAddr) -> bool {
        self.proofs
            .get(&address_octets(address))
            .is_some_and(|proof| now.since(*proof) < LIFE)
    }

    /// Addresses held, including some that have expired.
    pub(crate) const fn len(&self) -> usize {
        self.proofs.len()
    }

    /// Forgets expired addresses, a bounded number a call.
    pub(crate) fn expire(&mut self, now: Time) {
        for _ in 0..BATCH {
            match self.proofs.oldest() {
                Some((_, proof)) if now.since(*proof) >= LIFE => self.proofs.pop_oldest(),
                _ => return,
            };
        }
    }
}

#[cfg(test)]
#[path = "validated_tests.rs"]
mod tests;
