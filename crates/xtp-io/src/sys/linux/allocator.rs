//! The C library's allocator.

/// What was given back to the allocator goes back to the system.
pub(crate) fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call touches nothing but free memory, under the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Threads share one arena from here on, where the C library has arenas.
pub(crate) fn share_arenas() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call changes a number that the allocator reads under its own lock; any number is allowed.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
