//! Associations at a listener whose initiators have shown that they receive what is sent to them (§7.4.1). As long as half
//! of their places are free, anybody takes one. Of the other half each source may hold as many as it leaves free: one alone
//! gets half of them, two a third each, and whoever comes after any number of them still finds one.

use core::net::IpAddr;

use xtp_core::hash::{KeyedMap, KeyedState};

/// The places of one listener.
pub(crate) struct Proved {
    limit: usize,
    taken: usize,
    /// Places taken when fewer than half were free.
    by_source: KeyedMap<IpAddr, usize>,
}

impl Proved {
    /// `limit` places.
    pub(super) fn new(limit: usize, hash: KeyedState) -> Self {
        Self {
            limit,
            taken: 0,
            by_source: KeyedMap::with_hasher(hash),
        }
    }

    /// Whether there is a place for `source`.
    pub(super) fn has_place(&self, source: IpAddr) -> bool {
        let free = self.limit.saturating_sub(self.taken);
        free > 0
            && (self.by_source.is_empty() || self.by_source.get(&source).is_none_or(|held| *held <= free))
    }

    /// One from `source` takes a place.
    pub(super) fn take(&mut self, source: IpAddr) {
        self.taken += 1;
        if self.taken * 2 > self.limit {
            *self.by_source.entry(source).or_insert(0) += 1;
        }
    }

    /// A place that one from `source` held is free again.
    pub(super) fn leave(&mut self, source: IpAddr) {
        self.taken = self.taken.saturating_sub(1);
        // Mostly there is nobody to look for.
        if !self.by_source.is_empty()
            && let Some(held) = self.by_source.get_mut(&source)
        {
            *held -= 1;
            if *held == 0 {
                self.by_source.remove(&source);
            }
        }
    }
}

#[cfg(test)]
#[path = "proved_tests.rs"]
mod tests;
