//! When to ask for the ECN mark of what arrives: a receive call that tells it costs 0.1 us more, and an exchange of lone
//! packets has none.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::train::EcnCodepoint;

/// Datagrams in a row without a mark after which not every one is asked about.
const UNMARKED: u32 = 64;
/// Of so many datagrams one is asked about then.
const SAMPLE: u32 = 16;

/// What was learnt of a peer's marks. Only the first datagram behind one that was sent goes without being asked about:
/// what comes in a row has a window that a mark can make smaller.
#[derive(Debug)]
pub(crate) struct EcnHistory {
    /// The socket tells marks at all.
    available: bool,
    /// Datagrams in a row that were asked about and had none.
    unmarked: AtomicU32,
    /// Datagrams since the last that was asked about.
    unasked: AtomicU32,
    /// Something was sent since the last datagram came.
    answered: AtomicBool,
}

impl EcnHistory {
    pub(super) fn new(available: bool) -> Self {
        Self {
            available,
            unmarked: AtomicU32::new(0),
            unasked: AtomicU32::new(0),
            answered: AtomicBool::new(false),
        }
    }

    /// Whether to ask for the mark of the next datagram.
    #[inline]
    pub(super) fn asks(&self) -> bool {
        let lone = || {
            self.unmarked.load(Ordering::Relaxed) >= UNMARKED
                && self.unasked.load(Ordering::Relaxed) < SAMPLE - 1
                && self.answered.load(Ordering::Relaxed)
        };
        self.available && !lone()
    }

    /// A datagram came, with this mark if it was asked about. The counts are of all threads together: being wrong costs
    /// time, or the mark of one datagram.
    #[inline]
    pub(super) fn came(&self, mark: Option<EcnCodepoint>) {
        if !self.available {
            return;
        }
        let (unmarked, unasked) = match mark {
            Some(EcnCodepoint::NotEct) => (self.unmarked.load(Ordering::Relaxed).saturating_add(1), 0),
            Some(_) => (0, 0),
            None => {
                let unmarked = self.unmarked.load(Ordering::Relaxed);
                (unmarked, self.unasked.load(Ordering::Relaxed) + 1)
            }
        };
        self.unmarked.store(unmarked, Ordering::Relaxed);
        self.unasked.store(unasked, Ordering::Relaxed);
        self.answered.store(false, Ordering::Relaxed);
    }

    /// Something was sent.
    #[inline]
    pub(crate) fn sent(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[path = "ecn_history_tests.rs"]
mod tests;
