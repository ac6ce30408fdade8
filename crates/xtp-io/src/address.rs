//! Addresses: plain and IPv4-mapped forms, and whether an address is one of this host's own.

use std::net::{IpAddr, SocketAddr, SocketAddrV6, UdpSocket};

use crate::sys;

/// `addr` with an IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) turned into plain IPv4.
///
/// Everything this crate reports is in this form, so that a peer has one address whether the local
/// socket is IPv4 or dual-stack. Scope ids of real IPv6 addresses are kept, flow labels dropped.
pub fn canonical(addr: SocketAddr) -> SocketAddr {
    match addr {
        SocketAddr::V4(_) => addr,
        SocketAddr::V6(six) => match six.ip().to_ipv4_mapped() {
            Some(four) => SocketAddr::new(IpAddr::V4(four), six.port()),
            None => SocketAddr::V6(SocketAddrV6::new(*six.ip(), six.port(), 0, six.scope_id())),
        },
    }
}

/// `addr` in the form a socket of the given family understands; `None` if it cannot be expressed there.
pub(crate) fn for_family(addr: SocketAddr, ipv6_socket: bool) -> Option<SocketAddr> {
    match (canonical(addr), ipv6_socket) {
        (SocketAddr::V4(four), true) => Some(SocketAddr::V6(SocketAddrV6::new(
            four.ip().to_ipv6_mapped(),
            four.port(),
            0,
            0,
        ))),
        (SocketAddr::V6(_), false) => None,
        (fitting, _) => Some(fitting),
    }
}

/// Whether `ip` is loopback, unspecified ("this host") or an address of one of this host's interfaces.
///
/// Used to tell a local path from a network (\[D-56\]). On Unix the interfaces are listed;
/// elsewhere, or if that fails, the address counts as local when a socket can be bound to it. It costs
/// tens of microseconds: ask once an association, not once a packet.
pub fn is_local(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    if ip.is_loopback() || ip.is_unspecified() {
        return true;
    }
    // A group or broadcast address can be bound on some systems, yet belongs to nobody.
    if ip.is_multicast() || matches!(ip, IpAddr::V4(four) if four.is_broadcast()) {
        return false;
    }
    sys::owns_address(ip).unwrap_or_else(|| UdpSocket::bind((ip, 0)).is_ok())
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
