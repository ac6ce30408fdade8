//! Scripted faults: lose exactly the packets with given indices.

/// A set of packet indices (0 is the first packet sent) to drop, instead of chance.
///
/// ```
/// use xtp_link::Script;
/// let script = Script::from_mask(0b101);
/// assert!(script.drops(0) && !script.drops(1) && script.drops(2));
/// assert_eq!(Script::dropping([70, 3]).len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Indices 0 to 63: the cheap case, and the one exhaustive tests enumerate.
    mask: u64,
    /// Indices from 64 on, ascending.
    later: Vec<u64>,
}

impl Script {
    /// Drops packet `i` for each set bit `i` of `mask`.
    pub fn from_mask(mask: u64) -> Self {
        Self {
            mask,
            later: Vec::new(),
        }
    }

    /// Drops the packets with these indices, in any order.
    pub fn dropping(indices: impl IntoIterator<Item = u64>) -> Self {
        let mut script = Self::default();
        for index in indices {
            if index < 64 {
                script.mask |= 1 << index;
            } else {
                script.later.push(index);
            }
        }
        script.later.sort_unstable();
        script.later.dedup();
        script
    }

    /// Whether packet `index` is dropped.
    pub fn drops(&self, index: u64) -> bool {
        if index < 64 {
            self.mask >> index & 1 == 1
        } else {
            self.later.binary_search(&index).is_ok()
        }
    }

    /// How many packets the script drops.
    pub fn len(&self) -> usize {
        self.mask.count_ones() as usize + self.later.len()
    }

    /// Whether the script drops nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
