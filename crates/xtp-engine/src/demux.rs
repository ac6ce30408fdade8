//! From a packet's key to the slot of its context (§2.2).

use core::net::SocketAddr;

use hashbrown::hash_map::Entry;
use smallvec::SmallVec;

use xtp_core::hash::{KeyedMap, KeyedState, UdpSource, give_back};

/// Contexts of one peer address that are found by [`Demux::by_peer`]. Contexts beyond it are found by their keys
/// only: "port unreachable" then does not hasten their end, their timers decide. Bounds the scan of a removal.
pub(crate) const PEER_LIMIT: usize = 1_024;

/// Contexts whose peers are looked for one by one: short associations are over before they are worth a table.
const FRESH: usize = 32;

/// The tables OWN and FOREIGN, and the contexts of each peer address.
pub(crate) struct Demux {
    own: KeyedMap<u64, u32>,
    foreign: KeyedMap<(UdpSource, u64), u32>,
    peers: KeyedMap<UdpSource, SmallVec<[u32; 4]>>,
    /// The newest contexts, not yet in `peers`.
    fresh: Vec<(UdpSource, u32)>,
}

impl Demux {
    /// Empty tables, hashed under `hash_key`.
    pub(crate) fn new(hash_key: [u8; 16]) -> Self {
        let state = KeyedState::new(hash_key);
        Self {
            own: KeyedMap::with_hasher(state),
            foreign: KeyedMap::with_hasher(state),
            peers: KeyedMap::with_hasher(state),
            fresh: Vec::with_capacity(FRESH),
        }
    }

    /// The context whose own key this is (packets with RTN = 1).
    pub(crate) fn own(&self, key: u64) -> Option<u32> {
        self.own.get(&key).copied()
    }

    /// The context begun by `src` under `src`'s key (packets with RTN = 0).
    pub(crate) fn foreign(&self, src: SocketAddr, key: u64) -> Option<u32> {
        self.foreign.get(&(src.into(), key)).copied()
    }

    /// Makes `slot` known by its own key. False, and nothing changed, if the key is taken or 0 (§2.2).
    pub(crate) fn insert_own(&mut self, key: u64, slot: u32) -> bool {
        key != 0 && put(self.own.entry(key), slot)
    }

    /// Makes `slot` known by the peer's address and key. False, and nothing changed, if taken or the key is 0.
    pub(crate) fn insert_foreign(&mut self, src: SocketAddr, key: u64, slot: u32) -> bool {
        key != 0 && put(self.foreign.entry((src.into(), key)), slot)
    }

    /// Forgets an own key; the slot it led to.
    pub(crate) fn remove_own(&mut self, key: u64) -> Option<u32> {
        let slot = self.own.remove(&key);
        give_back(&mut self.own);
        slot
    }

    /// Forgets a peer's key; the slot it led to.
    pub(crate) fn remove_foreign(&mut self, src: SocketAddr, key: u64) -> Option<u32> {
        let slot = self.foreign.remove(&(src.into(), key));
        give_back(&mut self.foreign);
        slot
    }

    /// Adds `slot`, which is in none, to the contexts of `peer`. The index finds [`PEER_LIMIT`] of them.
    pub(crate) fn insert_peer(&mut self, peer: SocketAddr, slot: u32) {
        if self.fresh.len() == FRESH {
            for (peer, slot) in self.fresh.drain(..) {
                let slots = self.peers.entry(peer).or_default();
                if slots.len() < PEER_LIMIT {
                    slots.push(slot);
                }
            }
        }
        self.fresh.push((peer.into(), slot));
    }

    /// Takes `slot` from the contexts of `peer`. False if it was not among them.
    pub(crate) fn remove_peer(&mut self, peer: SocketAddr, slot: u32) -> bool {
        let peer = UdpSource::from(peer);
        // The slot first: it is in one list only.
        let found = |(its, at): &(UdpSource, u32)| *at == slot && *its == peer;
        if let Some(at) = self.fresh.iter().rposition(found) {
            self.fresh.swap_remove(at);
            return true;
        }
        let Entry::Occupied(mut entry) = self.peers.entry(peer) else {
            return false;
        };
        let slots = entry.get_mut();
        let Some(at) = slots.iter().position(|&other| other == slot) else {
            return false;
        };
        slots.swap_remove(at);
        if slots.is_empty() {
            entry.remove();
        }
        true
    }

    /// The contexts whose peer has this address and port, [`PEER_LIMIT`] and the newest few at most, in no particular
    /// order.
    pub(crate) fn by_peer(&self, peer: SocketAddr) -> impl Iterator<Item = u32> + '_ {
        let peer = UdpSource::from(peer);
        let settled = self.peers.get(&peer).into_iter().flatten().copied();
        let fresh = self.fresh.iter().filter(move |(its, _)| *its == peer);
        settled.chain(fresh.map(|(_, slot)| *slot))
    }
}

/// Fills a vacant entry.
fn put<K: core::hash::Hash>(entry: Entry<'_, K, u32, KeyedState>, slot: u32) -> bool {
    match entry {
        Entry::Occupied(_) => false,
        Entry::Vacant(vacant) => {
            vacant.insert(slot);
            true
        }
    }
}

#[cfg(test)]
#[path = "demux_tests.rs"]
mod tests;
