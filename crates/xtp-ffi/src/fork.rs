//! Which process made a handle: a child of `fork` has its parent's memory, and must not touch its sockets.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many times this process, or a parent of it, was the child of a fork.
static FORKS: AtomicU32 = AtomicU32::new(0);

#[cfg(unix)]
extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Counts forks from now on, and returns how many there were.
pub(crate) fn watch() -> u32 {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        #[cfg(unix)]
        // SAFETY: the handler lives as long as the program and only adds to an atomic number.
        unsafe {
            // It fails without memory; then handles of a parent are not told.
            libc::pthread_atfork(None, None, Some(in_child));
        }
    });
    count()
}

/// How many forks there were.
pub(crate) fn count() -> u32 {
    FORKS.load(Ordering::Relaxed)
}
