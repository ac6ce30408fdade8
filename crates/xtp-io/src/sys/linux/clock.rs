//! The monotonic clock as a count of nanoseconds, which saves taking two moments of seconds and nanoseconds apart.

use std::mem::MaybeUninit;

/// Nanoseconds since some moment before this system started.
#[inline]
pub(crate) fn monotonic_nanos() -> u64 {
    let mut moment = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the clock exists on every Linux, and the call writes the whole of `moment`, which outlives it; with a valid
    // clock and a valid place it cannot fail.
    let moment = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, moment.as_mut_ptr());
        moment.assume_init()
    };
    (moment.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(moment.tv_nsec as u64)
}
