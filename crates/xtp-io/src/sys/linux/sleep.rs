//! Sleeping in the receive call itself: one system call where polling the descriptor takes three.
//!
//! Its timeout is an option of the socket, in ticks of the kernel: too coarse for timers of a protocol, and to change it
//! would be a call again. So it is the shortest there is, and whoever has a timer due before it waits another way.

use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use socket2::Socket;

use super::last_error;

/// Gives the socket the shortest timeout and lets its calls wait unless they say otherwise, which all others do.
/// Returns the longest time such a call can take: one tick, and what is left of the one it begins in.
pub(super) fn prepare(socket: &Socket) -> io::Result<Duration> {
    let tick = tick()?;
    socket.set_read_timeout(Some(Duration::from_micros(1)))?;
    socket.set_nonblocking(false)?;
    Ok(2 * tick)
}

/// What the coarse clock counts in.
fn tick() -> io::Result<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the kernel writes a timespec to room for one.
    let failed = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, time.as_mut_ptr()) } != 0;
    if failed {
        return Err(io::Error::from_raw_os_error(last_error()));
    }
    // SAFETY: the call succeeded, so it wrote the time.
    let time = unsafe { time.assume_init() };
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(u64::MAX);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(u64::MAX);
    Ok(Duration::from_nanos(nanos).saturating_add(Duration::from_secs(seconds)))
}
