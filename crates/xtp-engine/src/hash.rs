//! Hash tables whose indices strangers choose: SipHash-1-3 under a key the host hands in (specification 4.4).

use core::hash::{BuildHasher, Hash, Hasher};
use core::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher13;

/// Builds hashers under one secret key. No `Debug`: the key must not reach a log.
#[derive(Copy, Clone)]
pub(crate) struct KeyedState {
    key: [u8; 16],
}

impl KeyedState {
    /// A state with the given secret key.
    pub(crate) const fn new(key: [u8; 16]) -> Self {
        Self { key }
    }
}

impl BuildHasher for KeyedState {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_key(&self.key)
    }
}

/// A hash table nobody outside can aim collisions at.
pub(crate) type KeyedMap<K, V> = hashbrown::HashMap<K, V, KeyedState>;

/// The 16 octets of an address; IPv4 as `::ffff:a.b.c.d`, so both spellings of one host are one host.
pub(crate) fn address_octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// A UDP source in 24 octets, without the flow label (two packets of one peer may differ in it).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Source {
    octets: [u8; 16],
    scope: u32,
    port: u16,
}

impl From<SocketAddr> for Source {
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

impl Hash for Source {
    /// One write instead of a write a field: this runs for every packet of an association without key exchange.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut whole = [0; 22];
        whole[..16].copy_from_slice(&self.octets);
        whole[16..20].copy_from_slice(&self.scope.to_be_bytes());
        whole[20..].copy_from_slice(&self.port.to_be_bytes());
        state.write(&whole);
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
