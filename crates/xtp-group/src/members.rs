//! Who has how much: the members of a group in the order of what they have received without a gap.
//!
//! It answers what moves the window: what the last one has, what the k-th of those who are ahead has, what half of them have,
//! and who is behind. A sorted row of pairs: a question costs nothing or a binary search, a report moves what lies between
//! where its member was and where it is.

/// One member and one past the last octet it has without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MemberPosition {
    /// One past the last octet.
    pub rseq: u64,
    /// The member's number.
    pub member: u32,
}

/// Members by position.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemberIndex {
    ordered: Vec<MemberPosition>,
    /// Where each member is, by its number.
    positions: Vec<Option<u64>>,
}

impl MemberIndex {
    /// Nobody yet.
    #[must_use]
    pub(crate) const fn new() -> Self {
        Self {
            ordered: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Puts a member where it is now; it may be new, and it may go back. Numbers are those of a slab: memory grows with the
    /// greatest one.
    pub(crate) fn set(&mut self, member: u32, rseq: u64) {
        let index = member as usize;
        if index >= self.positions.len() {
            self.positions.resize(index + 1, None);
        }
        let place = MemberPosition { rseq, member };
        match self.positions[index].replace(rseq) {
            None => {
                let to = self.ordered.partition_point(|other| *other < place);
                self.ordered.insert(to, place);
            }
            Some(before) => self.shift(MemberPosition { rseq: before, member }, place),
        }
    }

    /// Moves a member without moving those beyond both of its places.
    fn shift(&mut self, from: MemberPosition, to: MemberPosition) {
        let Ok(start) = self.ordered.binary_search(&from) else {
            return;
        };
        let end = self.ordered.partition_point(|other| *other < to);
        self.ordered[start] = to;
        if end > start + 1 {
            self.ordered[start..end].rotate_left(1);
        } else if end < start {
            self.ordered[end..=start].rotate_right(1);
        }
    }

    /// Takes a member out; says where it was.
    pub(crate) fn remove(&mut self, member: u32) -> Option<u64> {
        let rseq = self.positions.get_mut(member as usize)?.take()?;
        let at = self
            .ordered
            .binary_search(&MemberPosition { rseq, member })
            .ok()?;
        self.ordered.remove(at);
        Some(rseq)
    }

    /// How many there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.ordered.len()
    }

    /// The greatest position that at least `count` members have reached; `None` if there are fewer, or `count` is 0.
    #[must_use]
    pub(crate) fn reached_by(&self, count: usize) -> Option<u64> {
        let at = self.ordered.len().checked_sub(count)?;
        self.ordered.get(at).map(|place| place.rseq)
    }

    /// The greatest position that half of them have reached.
    #[must_use]
    pub(crate) fn quorum(&self) -> Option<u64> {
        self.reached_by(self.ordered.len().div_ceil(2))
    }
}

#[cfg(test)]
#[path = "members_tests.rs"]
mod tests;
