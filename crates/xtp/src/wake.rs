//! Waking a thread that sleeps on the socket, from a thread that changed what it should wait for.
//!
//! The thread that drives an endpoint sleeps until a datagram arrives or a timer is due. When another thread's
//! command makes a timer due earlier, or ends what the sleeper waits for, a datagram of one octet from a socket
//! of our own wakes it: the one way that needs no second descriptor to wait on and works on every system. The
//! second socket is made when first needed, so programs of one thread never have it. Its datagrams are neither
//! parsed, captured nor counted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::OnceLock;
use std::time::Duration;

/// Longest sleep on a host whose loopback interface does not work, so that nobody oversleeps by more.
pub(crate) const WITHOUT_WAKING: Duration = Duration::from_millis(10);

/// Wakes whoever sleeps on the socket bound to `target`.
#[derive(Debug)]
pub(crate) struct Waker {
    target: SocketAddr,
    socket: OnceLock<Option<(UdpSocket, SocketAddr)>>,
}

impl Waker {
    /// A waker for the socket bound to `local`.
    pub(crate) fn new(local: SocketAddr) -> Self {
        let ip = match local.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        let mut target = local;
        target.set_ip(ip);
        Self {
            target,
            socket: OnceLock::new(),
        }
    }

    /// Source address of the datagrams to ignore, once there can be any.
    pub(crate) fn source(&self) -> Option<SocketAddr> {
        self.socket.get()?.as_ref().map(|(_, source)| *source)
    }

    /// Whether this host turned out not to allow it.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.socket.get(), Some(None))
    }

    /// Wakes the sleeper. A datagram lost here means that the socket's buffer is full, and then nobody sleeps.
    pub(crate) fn wake(&self) {
        if let Some((socket, _)) = self.socket.get_or_init(|| open(self.target)) {
            let _ = socket.send(&[0]);
        }
    }
}

fn open(target: SocketAddr) -> Option<(UdpSocket, SocketAddr)> {
    let any: IpAddr = if target.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.set_nonblocking(true).ok()?;
    socket.connect(target).ok()?;
    let source = xtp_io::canonical(socket.local_addr().ok()?);
    Some((socket, source))
}

#[cfg(test)]
#[path = "wake_tests.rs"]
mod tests;
