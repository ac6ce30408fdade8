//! Messages matched with receives that were posted for them, as MPI and the tagged calls of libfabric do: the two tables.
//!
//! A message goes to the receive posted first of those that it matches ([`Posted`]), a receive takes the message that began first of those
//! that match it ([`Waiting`]). What a source is, and what stands for a message, is its user's.

mod posted;
mod waiting;

pub use posted::Posted;
pub use waiting::{Turn, Waiting};

/// Where a message comes from.
pub trait MessageOrigin: Copy {
    /// Whose messages a receive may be for.
    type Source: Copy + Ord;

    /// The sources that it is one of, each of another variant.
    fn sources(&self) -> impl Iterator<Item = Self::Source>;
}

/// Which messages of a source a receive is for, by the tag that is bound to their first octet (§1.8).
///
/// ```
/// use xtp_core::matching::Tags;
///
/// assert!(Tags::exact(7).has(Some(7)) && Tags::exact(7) == 7.into());
/// // What a program keeps in the upper half does not count.
/// let odd = Tags::like(1, 1);
/// assert!(odd.has(Some(0x5_0000_0003)) && !odd.has(Some(2)) && !odd.has(None));
/// assert!(Tags::TAGGED.has(Some(0)) && !Tags::TAGGED.has(None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tags {
    /// Every message, with a tag or without.
    #[default]
    Any,
    /// Messages without a tag.
    Without,
    /// Messages whose tag is equal to `tag` in the bits that are set in `mask`.
    Like {
        /// The tag.
        tag: u64,
        /// The bits that count. `u64::MAX`: all; 0: any tag.
        mask: u64,
    },
}

impl Tags {
    /// Messages with a tag, whichever.
    pub const TAGGED: Self = Self::like(0, 0);

    /// Messages with exactly this tag.
    pub const fn exact(tag: u64) -> Self {
        Self::like(tag, u64::MAX)
    }

    /// Messages whose tag is equal to `tag` in the bits that are set in `mask`.
    pub const fn like(tag: u64, mask: u64) -> Self {
        Self::Like { tag, mask }
    }

    /// Whether a message with this tag is one of them.
    pub fn has(&self, tag: Option<u64>) -> bool {
        match (*self, tag) {
            (Self::Any, _) => true,
            (Self::Without, tag) => tag.is_none(),
            (Self::Like { tag: wanted, mask }, Some(tag)) => (tag ^ wanted) & mask == 0,
            (Self::Like { .. }, None) => false,
        }
    }
}

/// Messages with exactly this tag.
impl From<u64> for Tags {
    fn from(tag: u64) -> Self {
        Self::exact(tag)
    }
}

/// Messages with exactly this tag, or those without one.
impl From<Option<u64>> for Tags {
    fn from(tag: Option<u64>) -> Self {
        tag.map_or(Self::Without, Self::exact)
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
