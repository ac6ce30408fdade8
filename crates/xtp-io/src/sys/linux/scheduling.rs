//! What the scheduler did to the calling thread.

use std::mem::MaybeUninit;

/// How often it took the core from this thread, which wanted to go on.
pub(crate) fn switches() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the kernel writes all of a rusage to room for one.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0;
    if failed {
        return None;
    }
    // SAFETY: the call succeeded, so it wrote it.
    let usage = unsafe { usage.assume_init() };
    u64::try_from(usage.ru_nivcsw).ok()
}
