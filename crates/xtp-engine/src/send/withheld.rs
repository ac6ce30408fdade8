//! Memory that is never given back, because somebody may still read it (see [`SendQueue::lend`](super::SendQueue::lend)).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// Octets after which no more memory is put at risk.
const LIMIT: usize = 64 << 20;

/// How much memory an engine has withheld: shared by the queues that may add to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Withheld(Arc<AtomicUsize>);

impl Withheld {
    /// Whether more may be lent.
    pub(crate) fn allows_more(&self) -> bool {
        self.0.load(Ordering::Relaxed) < LIMIT
    }

    /// Keeps this memory as it is for as long as the process lives.
    pub(super) fn keep(&self, data: Bytes) {
        self.0.fetch_add(data.len(), Ordering::Relaxed);
        std::mem::forget(data);
    }

    /// Octets so far.
    #[cfg(test)]
    pub(crate) fn octets(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
