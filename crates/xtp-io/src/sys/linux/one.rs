//! Sending one datagram of which nothing is to be said: what an exchange of small packets consists of.

use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use super::{LinuxIo, call};
use crate::counters::add;
use crate::sys::BoundSocket;
use crate::train::SendTarget;

/// Sends `octets` by `sendto`. False, and nothing sent, if more is to be said than where to, or if they did not leave,
/// which the general way finds out about.
#[inline]
pub(super) fn send(io: &LinuxIo, endpoint: &BoundSocket, envelope: &SendTarget, octets: &[u8]) -> bool {
    let (SocketAddr::V4(dst), SocketAddr::V4(_)) = (envelope.dst, endpoint.local) else {
        return false;
    };
    let from_elsewhere = envelope.src.is_some() && envelope.src != endpoint.bound_ip();
    if from_elsewhere || !io.mark.is(envelope.class) {
        return false;
    }
    // SAFETY: a C struct of integers, for which all zeros is a value.
    let mut name: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    name.sin_family = libc::AF_INET as _;
    name.sin_port = dst.port().to_be();
    name.sin_addr.s_addr = u32::from_ne_bytes(dst.ip().octets());
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: octets and name outlive the call, with their true lengths; the kernel only reads them.
    let result = unsafe {
        let fd = endpoint.socket.as_raw_fd();
        let name = (&raw const name).cast();
        let length = size_of::<libc::sockaddr_in>() as _;
        call::sendto(fd, octets.as_ptr().cast(), octets.len(), flags, name, length)
    };
    add(&endpoint.counts.send_calls, 1);
    if result < 0 {
        return false;
    }
    add(&endpoint.counts.datagrams_out, 1);
    add(&endpoint.counts.octets_out, octets.len() as u64);
    true
}
