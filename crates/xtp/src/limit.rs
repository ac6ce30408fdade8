//! How long a call waits, as its user last said.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longest time of a wait; any thread may change it.
#[derive(Debug)]
pub(crate) struct TimeLimit {
    /// `u64::MAX` for none.
    nanos: AtomicU64,
}

impl TimeLimit {
    /// For ever.
    pub(crate) const fn none() -> Self {
        Self {
            nanos: AtomicU64::new(u64::MAX),
        }
    }

    pub(crate) fn set(&self, timeout: Option<Duration>) {
        let nanos = timeout.map_or(u64::MAX, |span| {
            u64::try_from(span.as_nanos()).unwrap_or(u64::MAX - 1)
        });
        self.nanos.store(nanos, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<Duration> {
        match self.nanos.load(Ordering::Relaxed) {
            u64::MAX => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }
}
