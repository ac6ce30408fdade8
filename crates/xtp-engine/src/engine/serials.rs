//! Serial numbers of the associations this client has under way (TLV 11).

use std::collections::BTreeSet;

/// Numbers that may still be repeated. Mostly there is one at a time, which needs no tree.
#[derive(Default)]
pub(super) struct Serials {
    lone: Option<u64>,
    others: BTreeSet<u64>,
}

impl Serials {
    /// `n` is greater than all before.
    pub(super) fn insert(&mut self, n: u64) {
        match self.lone.is_none() && self.others.is_empty() {
            true => self.lone = Some(n),
            false => drop(self.others.insert(n)),
        }
    }

    pub(super) fn remove(&mut self, n: u64) {
        match self.lone == Some(n) {
            true => self.lone = None,
            false => drop(self.others.remove(&n)),
        }
    }

    /// The lowest. Whoever is alone came before all others.
    pub(super) fn first(&self) -> Option<u64> {
        self.lone.or_else(|| self.others.first().copied())
    }
}

#[cfg(test)]
#[path = "serials_tests.rs"]
mod tests;
