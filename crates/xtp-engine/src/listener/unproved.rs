//! Associations at a listener whose initiator has not shown that it receives what is sent to it (§7.4): they
//! have places of their own, so that they take none of those who have.

use core::net::IpAddr;
use core::num::NonZeroU32;
use std::collections::VecDeque;

use crate::event::ContextId;
use xtp_core::hash::{KeyedMap, KeyedState};

/// One source may hold one in so many of the places.
const SHARE: usize = 4;
/// Numbers of those that have gone which may lie about.
const SPARE: usize = 64;

/// What one of them holds: the low bits of its number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place(NonZeroU32);

/// Why there is no place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// All are taken.
    All,
    /// All that this source may take.
    Share,
}

/// The places of one listener.
pub(crate) struct Unproved {
    limit: usize,
    taken: usize,
    by_source: KeyedMap<IpAddr, usize>,
    /// Those that may have to give way under their numbers, from the oldest on; nobody where one has gone.
    order: VecDeque<(u64, Option<ContextId>)>,
    next: u64,
}

impl Unproved {
    /// `limit` places.
    pub(super) fn new(limit: usize, hash: KeyedState) -> Self {
        Self {
            limit,
            taken: 0,
            by_source: KeyedMap::with_hasher(hash),
            order: VecDeque::new(),
            next: 0,
        }
    }

    /// How many are taken, and how many there are.
    pub(super) fn places(&self) -> (usize, usize) {
        (self.taken, self.limit)
    }

    /// Whether there is a place for `source`. Whoever is `listed` is most likely no stranger, and has no share.
    pub(super) fn check(&self, source: IpAddr, listed: bool) -> Result<(), Full> {
        if self.taken >= self.limit {
            return Err(Full::All);
        }
        let share = (self.limit / SHARE).max(1);
        if !listed && self.by_source.get(&source).is_some_and(|taken| *taken >= share) {
            return Err(Full::Share);
        }
        Ok(())
    }

    /// A place for `id`, which came from `source`.
    pub(super) fn take(&mut self, id: ContextId, source: IpAddr) -> Place {
        self.next += 1;
        let low = NonZeroU32::new(self.next as u32).unwrap_or_else(|| {
            self.next += 1;
            NonZeroU32::MIN
        });
        self.taken += 1;
        *self.by_source.entry(source).or_insert(0) += 1;
        if self.order.len() >= 2 * self.limit + SPARE {
            self.order.retain(|(_, id)| id.is_some());
        }
        self.order.push_back((self.next, Some(id)));
        Place(low)
    }

    /// A place that one from `source` held is free again.
    pub(super) fn leave(&mut self, Place(low): Place, source: IpAddr) {
        self.taken = self.taken.saturating_sub(1);
        if let Some(taken) = self.by_source.get_mut(&source) {
            *taken -= 1;
            if *taken == 0 {
                self.by_source.remove(&source);
            }
        }
        let behind = (self.next as u32).wrapping_sub(low.get());
        let number = self.next - u64::from(behind);
        if let Ok(spot) = self.order.binary_search_by_key(&number, |(number, _)| *number) {
            self.order[spot].1 = None;
        }
        self.drop_empty();
    }

    /// The oldest that may have to give way. It is named once: who asks makes it give way, or knows why it need not.
    pub(super) fn oldest(&mut self) -> Option<ContextId> {
        let (_, oldest) = self.order.pop_front()?;
        self.drop_empty();
        oldest
    }

    fn drop_empty(&mut self) {
        while let Some((_, None)) = self.order.front() {
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
#[path = "unproved_tests.rs"]
mod tests;
