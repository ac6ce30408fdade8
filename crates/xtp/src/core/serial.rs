//! Tables by the engine's serial numbers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Identifiers are the engine's own serial numbers: spreading them needs one multiplication, and no stranger
/// chooses them.
#[derive(Default)]
pub(crate) struct SerialHasher(u64);

impl Hasher for SerialHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, octets: &[u8]) {
        for octet in octets {
            self.write_u64(u64::from(*octet));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
}

/// A table by such numbers.
pub(super) type SerialMap<K, V> = HashMap<K, V, BuildHasherDefault<SerialHasher>>;
