//! Addresses: plain and IPv4-mapped forms.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

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

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
