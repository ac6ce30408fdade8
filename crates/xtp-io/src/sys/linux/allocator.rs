//! The C library's allocator.

/// Threads share one arena from here on, where the C library has arenas.
pub(crate) fn share_arenas() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call changes a number that the allocator reads under its own lock; any number is allowed.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
