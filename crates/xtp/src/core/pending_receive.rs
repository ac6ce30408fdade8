//! A posted receive that a program holds, and what became of it.

use std::task::Waker;

use smallvec::SmallVec;

use crate::error::Result;
use crate::matched::Matched;

/// What became of a posted receive, if anything did; `None`: nothing will.
pub(super) type ReceiveOutcome = Result<Option<Matched>>;

/// A receive that the program holds.
#[derive(Debug)]
pub(crate) struct PendingReceive {
    /// Longest message it takes.
    pub(super) limit: usize,
    pub(super) outcome: Option<ReceiveOutcome>,
    /// The completion queue that tells of it, if one does, and by which number.
    pub(super) told_by: Option<(u32, u64)>,
    /// Tasks to wake when there is one.
    pub(super) wakers: SmallVec<[Waker; 1]>,
}
