//! The calls that carry datagrams, straight to the kernel.
//!
//! In a program with threads the C library makes each of its own a point of cancellation, at two locked instructions a call:
//! some 20 ns, of which a polled exchange of small messages makes four and more on its way. No thread is cancelled here.
//! All return what the call of that name returns, with the reason in `errno`. Where the C library's structures may not be
//! the kernel's, its own calls are made.

use libc::{c_int, c_uint, c_void, iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t};

#[cfg(target_env = "gnu")]
macro_rules! call {
    ($number:ident, $name:ident, $($argument:expr),+) => {
        libc::syscall(libc::$number, $($argument),+)
    };
}

#[cfg(not(target_env = "gnu"))]
macro_rules! call {
    ($number:ident, $name:ident, $($argument:expr),+) => {
        libc::$name($($argument),+)
    };
}

/// # Safety
/// As `sendto`.
#[inline]
pub(super) unsafe fn sendto(
    fd: c_int,
    octets: *const c_void,
    count: size_t,
    flags: c_int,
    name: *const sockaddr,
    length: socklen_t,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { call!(SYS_sendto, sendto, fd, octets, count, flags, name, length) as ssize_t }
}

/// # Safety
/// As `sendmsg`.
#[inline]
pub(super) unsafe fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { call!(SYS_sendmsg, sendmsg, fd, message, flags) as ssize_t }
}

/// # Safety
/// As `vmsplice`.
#[inline]
pub(super) unsafe fn vmsplice(fd: c_int, list: *const iovec, count: size_t, flags: c_uint) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { call!(SYS_vmsplice, vmsplice, fd, list, count, flags) as ssize_t }
}

/// From a pipe to a socket.
///
/// # Safety
/// As `splice`.
#[inline]
pub(super) unsafe fn splice(from: c_int, to: c_int, count: size_t, flags: c_uint) -> ssize_t {
    let none: *mut libc::loff_t = std::ptr::null_mut();
    // SAFETY: the caller's.
    unsafe { call!(SYS_splice, splice, from, none, to, none, count, flags) as ssize_t }
}

/// # Safety
/// As `recvfrom`.
#[inline]
pub(super) unsafe fn recvfrom(
    fd: c_int,
    room: *mut c_void,
    count: size_t,
    flags: c_int,
    name: *mut sockaddr,
    length: *mut socklen_t,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { call!(SYS_recvfrom, recvfrom, fd, room, count, flags, name, length) as ssize_t }
}

/// # Safety
/// As `recvmsg`.
#[inline]
pub(super) unsafe fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { call!(SYS_recvmsg, recvmsg, fd, message, flags) as ssize_t }
}

/// Without a timeout.
///
/// # Safety
/// As `recvmmsg`.
#[inline]
pub(super) unsafe fn recvmmsg(fd: c_int, messages: *mut mmsghdr, count: u32, flags: c_int) -> c_int {
    let forever: *mut libc::timespec = std::ptr::null_mut();
    // C libraries differ in its sign.
    #[cfg(not(target_env = "gnu"))]
    let flags = flags as _;
    // SAFETY: the caller's.
    unsafe { call!(SYS_recvmmsg, recvmmsg, fd, messages, count, flags, forever) as c_int }
}
