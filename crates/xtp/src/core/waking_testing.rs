//! A task that counts how often it is woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

/// Its waker is made of an `Arc` of it.
#[derive(Default)]
pub(super) struct Task(AtomicUsize);

impl Task {
    pub(super) fn woken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
