//! A bounded table in order of last use.

use core::cell::Cell;
use core::hash::Hash;

use super::list::{List, ListSlab};
use xtp_core::hash::{KeyedMap, KeyedState, give_back};

/// At most `capacity` entries; one more pushes out the one not used for longest.
pub(super) struct Lru<K, V> {
    map: KeyedMap<K, u32>,
    /// Found last: who comes mostly comes again.
    recent: Cell<Option<(K, u32)>>,
    slab: ListSlab<(K, V)>,
    order: List,
    capacity: usize,
}

impl<K: Copy + Eq + Hash, V> Lru<K, V> {
    /// An empty table. A capacity of 0 keeps nothing.
    pub(super) fn new(capacity: usize, state: KeyedState) -> Self {
        Self {
            map: KeyedMap::with_hasher(state),
            recent: Cell::new(None),
            slab: ListSlab::new(),
            order: List::new(),
            capacity,
        }
    }

    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) const fn len(&self) -> usize {
        self.slab.len()
    }

    #[inline]
    fn find(&self, key: &K) -> Option<u32> {
        match self.recent.get() {
            Some((recent, slot)) if recent == *key => Some(slot),
            _ => {
                let slot = *self.map.get(key)?;
                self.recent.set(Some((*key, slot)));
                Some(slot)
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        let slot = self.find(key)?;
        self.slab.get(slot).map(|(_, value)| value)
    }

    /// The value, without counting this as a use.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let slot = self.find(key)?;
        self.slab.get_mut(slot).map(|(_, value)| value)
    }

    /// The value, used now.
    pub(super) fn touch(&mut self, key: &K) -> Option<&mut V> {
        let slot = self.find(key)?;
        if self.order.back() != Some(slot) {
            self.slab.unlink(&mut self.order, slot);
            self.slab.push_back(&mut self.order, slot);
        }
        self.slab.get_mut(slot).map(|(_, value)| value)
    }

    /// Sets an entry, used now. What there was no room for any more comes back (the new entry itself at capacity 0).
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        if let Some(old) = self.touch(&key) {
            *old = value;
            return None;
        }
        if self.capacity == 0 {
            return Some((key, value));
        }
        let out = if self.len() >= self.capacity {
            self.pop_oldest()
        } else {
            None
        };
        let slot = self.slab.insert((key, value));
        self.slab.push_back(&mut self.order, slot);
        self.map.insert(key, slot);
        out
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let slot = self.map.remove(key)?;
        give_back(&mut self.map);
        self.recent.set(None);
        self.slab.unlink(&mut self.order, slot);
        self.slab.remove(slot).map(|(_, value)| value)
    }

    /// The entry not used for longest.
    pub(super) fn oldest(&self) -> Option<&(K, V)> {
        self.slab.get(self.order.front()?)
    }

    pub(super) fn pop_oldest(&mut self) -> Option<(K, V)> {
        let slot = self.order.front()?;
        self.slab.unlink(&mut self.order, slot);
        let entry = self.slab.remove(slot)?;
        self.map.remove(&entry.0);
        give_back(&mut self.map);
        self.recent.set(None);
        Some(entry)
    }
}

#[cfg(test)]
#[path = "lru_tests.rs"]
mod tests;
