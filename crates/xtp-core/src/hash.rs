//! Hash tables whose indices strangers choose: a hash under a key the host hands in (§2.2).
//!
//! Multiplications folded to 64 bits: a table is asked for an index some twenty times in the life of a short
//! association, and SipHash was a seventh of what such a life costs. Nothing of a hash ever leaves the engine, so
//! nobody outside learns what would help to aim; that, and a key of 128 bits, is what keeps collisions from being made.

use core::hash::{BuildHasher, Hash, Hasher};
use core::net::{IpAddr, SocketAddr};

/// Builds hashers under one secret key. No `Debug`: the key must not reach a log.
#[derive(Copy, Clone)]
pub struct KeyedState {
    start: u64,
    factor: u64,
}

impl KeyedState {
    /// A state with the given secret key.
    pub const fn new(key: [u8; 16]) -> Self {
        let key = u128::from_le_bytes(key);
        Self {
            start: scramble(key as u64),
            // Even factors would lose bits.
            factor: scramble((key >> 64) as u64 ^ (key as u64).rotate_left(32)) | 1,
        }
    }
}

/// The finalizer of SplitMix64: a key of few or regular bits makes no regular factor.
pub const fn scramble(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl BuildHasher for KeyedState {
    type Hasher = KeyedHasher;

    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher {
            sum: self.start,
            key: *self,
        }
    }
}

/// A hash in the making.
pub struct KeyedHasher {
    sum: u64,
    key: KeyedState,
}

/// Both halves of the product: every bit of the result depends on every bit of both factors.
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

impl Hasher for KeyedHasher {
    #[inline]
    fn finish(&self) -> u64 {
        fold(self.sum ^ self.key.factor.rotate_left(32), self.key.start | 1)
    }

    #[inline]
    fn write(&mut self, octets: &[u8]) {
        let (words, rest) = octets.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            // The length, so that trailing zeros count.
            last[7] = rest.len() as u8;
            self.write_u64(u64::from_le_bytes(last));
        }
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.sum = fold(self.sum ^ value, self.key.factor).wrapping_add(self.key.start);
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// A hash table nobody outside can aim collisions at.
pub type KeyedMap<K, V> = hashbrown::HashMap<K, V, KeyedState>;

/// Entries a map may have room for whatever it holds.
const ROOM: usize = 1_024;

/// After something was taken out: gives back memory of which little is used.
#[inline]
pub fn give_back<K: Eq + Hash, V>(map: &mut KeyedMap<K, V>) {
    if map.capacity() > ROOM && map.len() < map.capacity() / 8 {
        map.shrink_to(2 * map.len());
    }
}

/// The 16 octets of an address; IPv4 as `::ffff:a.b.c.d`, so both spellings of one host are one host.
pub fn address_octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// A UDP source in 24 octets, without the flow label (two packets of one peer may differ in it).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct UdpSource {
    octets: [u8; 16],
    scope: u32,
    port: u16,
}

impl From<SocketAddr> for UdpSource {
    fn from(address: SocketAddr) -> Self {
        let scope = match address {
            SocketAddr::V4(_) => 0,
            SocketAddr::V6(v6) => v6.scope_id(),
        };
        Self {
            octets: address_octets(address.ip()),
            scope,
            port: address.port(),
        }
    }
}

impl Hash for UdpSource {
    /// Three words: this runs for every packet of an association without key exchange.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let whole = u128::from_le_bytes(self.octets);
        state.write_u64(whole as u64);
        state.write_u64((whole >> 64) as u64);
        state.write_u64(u64::from(self.scope) << 16 | u64::from(self.port));
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
