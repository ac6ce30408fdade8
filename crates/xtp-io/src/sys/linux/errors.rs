//! The error queue: what the network or the kernel says about datagrams sent earlier.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};

use super::super::BoundSocket;
use super::super::cmsg::{ControlBuffer, ControlMessage};
use super::recv::{CONTROL, Name};
use super::{empty_header, last_error};
use crate::counters::add;
use crate::error::{SocketError, SocketErrorKind};
use crate::verdict::{ErrnoRow, ErrorVerdict};

/// Most reports of one call: whoever can forge them must not keep the caller here.
const MOST: usize = 64;

/// What a report says: kind, error number, reporter.
type ErrorReport = (SocketErrorKind, i32, Option<IpAddr>);

/// Appends queued errors to `out`; returns how many.
pub(super) fn recv_errors(endpoint: &BoundSocket, out: &mut Vec<SocketError>) -> io::Result<usize> {
    let mut count = 0;
    for _ in 0..MOST {
        add(&endpoint.counts.error_calls, 1);
        let (peer, told) = match next(endpoint.socket.as_raw_fd()) {
            Ok(next) => next,
            Err(libc::EAGAIN) => break,
            Err(code) if ErrnoRow::of(code).receive == ErrorVerdict::Again => continue,
            Err(code) => return Err(io::Error::from_raw_os_error(code)),
        };
        if let (Some(peer), Some((kind, code, reporter))) = (peer, told) {
            out.push(SocketError {
                peer,
                kind,
                code,
                reporter,
            });
            count += 1;
        }
    }
    Ok(count)
}

/// The MTU in the first of the queued errors of a socket, if that is about one.
pub(super) fn queued_mtu(fd: RawFd) -> Option<u32> {
    match next(fd) {
        Ok((_, Some((SocketErrorKind::MessageTooBig { mtu }, ..)))) => Some(mtu),
        _ => None,
    }
}

/// Takes the next queued error: about whom, and what; or the error number of the call.
fn next(fd: RawFd) -> Result<(Option<SocketAddr>, Option<ErrorReport>), i32> {
    let mut name = Name::new();
    let mut control = ControlBuffer::<CONTROL>::new();
    let mut header = empty_header();
    header.msg_name = name.as_mut_ptr();
    header.msg_namelen = size_of::<libc::sockaddr_in6>() as _;
    header.msg_control = control.as_mut_ptr();
    header.msg_controllen = CONTROL as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: name and control live until the call returns, with their true lengths; no payload is
    // asked for.
    if unsafe { libc::recvmsg(fd, &raw mut header, flags) } < 0 {
        return Err(last_error());
    }
    #[allow(
        clippy::unnecessary_cast,
        reason = "the length's type differs between C libraries"
    )]
    let length = header.msg_controllen as usize;
    let told = control.messages(length).find_map(|message| report(&message));
    Ok((name.address(header.msg_namelen), told))
}

/// Reads a `sock_extended_err` and the reporter's address behind it.
fn report(message: &ControlMessage<'_>) -> Option<ErrorReport> {
    if !matches!(
        (message.level, message.kind),
        (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
    ) {
        return None;
    }
    // errno (4), origin, type, code, pad (1 each), info (4), data (4)
    let code = message.word(0)?.cast_signed();
    let kind = match ErrnoRow::of(code).report {
        ErrorVerdict::TooLong => SocketErrorKind::MessageTooBig {
            mtu: message.word(8)?,
        },
        ErrorVerdict::Unreachable | ErrorVerdict::Refused | ErrorVerdict::NoPort => {
            SocketErrorKind::Unreachable
        }
        _ => SocketErrorKind::Other,
    };
    Some((kind, code, reporter(message)))
}

/// The socket address behind a `sock_extended_err`; the kernel leaves its family 0 if it knows none.
fn reporter(message: &ControlMessage<'_>) -> Option<IpAddr> {
    const ADDRESS: usize = 16;
    let family = u16::from_ne_bytes(message.octets(ADDRESS)?);
    match i32::from(family) {
        libc::AF_INET => message
            .octets::<4>(ADDRESS + 4)
            .map(|ip| IpAddr::V4(Ipv4Addr::from(ip))),
        libc::AF_INET6 => message
            .octets::<16>(ADDRESS + 8)
            .map(|ip| IpAddr::V6(Ipv6Addr::from(ip)).to_canonical()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "errors_tests.rs"]
mod tests;
