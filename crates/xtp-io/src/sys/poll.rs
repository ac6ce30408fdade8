//! Waiting until a socket is ready.

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use crate::readiness::{Interest, Readiness};

/// Waits for `interest` at most `timeout` (`None`: for ever).
#[cfg(unix)]
pub(crate) fn wait(
    socket: &UdpSocket,
    timeout: Option<Duration>,
    interest: Interest,
) -> io::Result<Readiness> {
    use std::os::fd::AsRawFd;

    let mut entry = [entry(socket.as_raw_fd(), interest)];
    if poll(&mut entry, timeout) < 0 {
        return not_polled();
    }
    Ok(told(&entry[0], interest))
}

/// As [`wait`], and for anything to be read from one of `others`.
#[cfg(unix)]
pub(crate) fn wait_any<'a>(
    socket: &UdpSocket,
    others: impl Iterator<Item = &'a UdpSocket>,
    timeout: Option<Duration>,
    interest: Interest,
) -> io::Result<Readiness> {
    use std::os::fd::AsFd;

    wait_beside(socket, others.map(UdpSocket::as_fd), timeout, interest)
}

/// As [`wait_any`], for descriptors of any kind.
#[cfg(unix)]
pub(crate) fn wait_beside<'a>(
    socket: &UdpSocket,
    others: impl Iterator<Item = std::os::fd::BorrowedFd<'a>>,
    timeout: Option<Duration>,
    interest: Interest,
) -> io::Result<Readiness> {
    use std::os::fd::AsRawFd;

    let mut entries = vec![entry(socket.as_raw_fd(), interest)];
    entries.extend(others.map(|other| entry(other.as_raw_fd(), Interest::READABLE)));
    if poll(&mut entries, timeout) < 0 {
        return not_polled();
    }
    let mut readiness = told(&entries[0], interest);
    // Whatever one of the others has to say, a receive call finds out.
    readiness.readable |= entries[1..].iter().any(|entry| entry.revents != 0);
    Ok(readiness)
}

#[cfg(unix)]
fn entry(fd: std::os::fd::RawFd, interest: Interest) -> libc::pollfd {
    let events =
        if interest.readable { libc::POLLIN } else { 0 } | if interest.writable { libc::POLLOUT } else { 0 };
    libc::pollfd {
        fd,
        events,
        revents: 0,
    }
}

/// What a failed call means.
#[cfg(unix)]
fn not_polled() -> io::Result<Readiness> {
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::Interrupted {
        return Ok(Readiness {
            interrupted: true,
            ..Readiness::default()
        });
    }
    Err(error)
}

#[cfg(unix)]
fn told(entry: &libc::pollfd, interest: Interest) -> Readiness {
    let told = |event| entry.revents & event != 0;
    Readiness {
        readable: interest.readable && told(libc::POLLIN),
        writable: interest.writable && told(libc::POLLOUT),
        error: told(libc::POLLERR | libc::POLLHUP | libc::POLLNVAL),
        interrupted: false,
    }
}

#[cfg(target_os = "linux")]
fn poll(entries: &mut [libc::pollfd], timeout: Option<Duration>) -> i32 {
    let limit = timeout.map(|timeout| libc::timespec {
        // The longest limit that fits every system's seconds: 68 years.
        tv_sec: timeout.as_secs().min(i32::MAX as u64) as _,
        tv_nsec: timeout.subsec_nanos() as _,
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = entries.len() as libc::nfds_t;
    // SAFETY: so many valid entries; `limit` is null or points to a timespec that outlives the call; no mask.
    unsafe { libc::ppoll(entries.as_mut_ptr(), count, limit, std::ptr::null()) }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn poll(entries: &mut [libc::pollfd], timeout: Option<Duration>) -> i32 {
    let milliseconds = timeout.map_or(-1, |timeout| {
        // Rounded up, or the last part of a wait would be spent spinning.
        i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
    });
    let count = entries.len() as libc::nfds_t;
    // SAFETY: so many valid entries.
    unsafe { libc::poll(entries.as_mut_ptr(), count, milliseconds) }
}

/// Waits for `interest` by looking every half millisecond: the standard library has no poll, and the
/// socket must stay non-blocking for other threads.
#[cfg(not(unix))]
pub(crate) fn wait(
    socket: &UdpSocket,
    timeout: Option<Duration>,
    interest: Interest,
) -> io::Result<Readiness> {
    use std::time::Instant;

    const STEP: Duration = Duration::from_micros(500);
    let start = Instant::now();
    loop {
        // A look at no octets fails for a waiting datagram on some systems, which still tells.
        let readable = match socket.peek_from(&mut [0u8; 1]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            _ => interest.readable,
        };
        // A datagram socket's buffer drains by itself: room is a matter of trying.
        if readable || interest.writable {
            return Ok(Readiness {
                readable,
                writable: interest.writable,
                ..Readiness::default()
            });
        }
        let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        if left == Some(Duration::ZERO) {
            return Ok(Readiness::default());
        }
        std::thread::sleep(left.map_or(STEP, |left| left.min(STEP)));
    }
}

/// As [`wait`]: no system that comes here has groups ([`UdpSocket::join`](crate::UdpSocket::join)).
#[cfg(not(unix))]
pub(crate) fn wait_any<'a>(
    socket: &UdpSocket,
    _: impl Iterator<Item = &'a UdpSocket>,
    timeout: Option<Duration>,
    interest: Interest,
) -> io::Result<Readiness> {
    wait(socket, timeout, interest)
}
