//! The keys by which the parties of groups are found (§9.1).

use super::TakenKeys;
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;
use xtp_core::hash::{KeyedMap, KeyedState};

/// Own keys of groups: K and the T of each member at a transmitter, R at a receiver.
pub(super) struct Keys(KeyedMap<u64, u32>);

impl Keys {
    pub(super) fn new(hash_key: [u8; 16]) -> Self {
        Self(KeyedMap::with_hasher(KeyedState::new(hash_key)))
    }

    /// A key of 63 bits that neither a context nor a party of this endpoint has, for the party in `slot`.
    pub(super) fn fresh(&mut self, rng: &mut ChaCha20Rng, taken: &dyn TakenKeys, slot: u32) -> u64 {
        loop {
            let key = rng.next_u64() >> 1;
            if key != 0 && !taken.is_taken(key) && !self.0.contains_key(&key) {
                self.0.insert(key, slot);
                return key;
            }
        }
    }

    /// Whose key it is.
    pub(super) fn find(&self, key: u64) -> Option<u32> {
        self.0.get(&key).copied()
    }

    pub(super) fn remove(&mut self, key: u64) {
        self.0.remove(&key);
    }
}
