//! What threads that share memory without a lock meet at: the standard library's, or in a build with `--cfg xtp_loom` that of a model
//! checker, which tries every order in which they may see it (`cargo xtask model`, `docs/decisions/zero-copy.md`).

#[cfg(xtp_loom)]
pub(crate) use loom::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(xtp_loom))]
pub(crate) use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
};

#[cfg(not(xtp_loom))]
pub(crate) use std::thread;

/// The model checker's, which knows no time: who naps is woken, or naps for ever.
#[cfg(xtp_loom)]
pub(crate) mod thread {
    pub(crate) use loom::thread::{Builder, JoinHandle, Thread, current, park};

    pub(crate) fn park_timeout(_: std::time::Duration) {
        park();
    }
}

/// The standard library's, and the checker sees who looks and who fills it.
#[cfg(xtp_loom)]
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    is_there: AtomicBool,
}

#[cfg(xtp_loom)]
impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            value: std::sync::OnceLock::new(),
            is_there: AtomicBool::new(false),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        let is_there = self.is_there.load(Ordering::Acquire);
        is_there.then(|| self.value.get()).flatten()
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let value = self.value.get_or_init(make);
        self.is_there.swap(true, Ordering::AcqRel);
        value
    }
}
