//! The MTU of the way to a peer, as the kernel knows it: of the route, told by a router, and of the interface.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use socket2::{Domain, Protocol, Socket, Type};

use super::{errors, get_option, set_option};
use crate::address::canonical;
use crate::sys::BoundSocket;

/// More octets than any packet has: sending them fails before anything leaves, and the error queue names the MTU that stood in
/// the way.
const TOO_LONG: usize = 65_535;
static OCTETS: [u8; TOO_LONG] = [0; TOO_LONG];

/// `IP_MTU` of a socket connected to `dst`, through which nothing is sent: the socket in use has no one peer.
pub(super) fn path_mtu(endpoint: &BoundSocket, dst: SocketAddr, src: Option<IpAddr>) -> io::Result<u32> {
    let dst = canonical(dst);
    let socket = Socket::new(Domain::for_address(dst), Type::DGRAM, Some(Protocol::UDP))?;
    if dst.ip().is_multicast() {
        let interface = endpoint.groups_by.load(Ordering::Relaxed);
        match dst.is_ipv6() {
            true => socket.set_multicast_if_v6(interface)?,
            false => super::group::send_groups_by(&socket, interface)?,
        }
    }
    // A broadcast address has a route like any other.
    socket.set_broadcast(true)?;
    // Routes may depend on the source.
    let source = src
        .or(endpoint.bound_ip())
        .filter(|source| source.is_ipv4() == dst.is_ipv4() && !source.is_multicast());
    if let Some(source) = source {
        let scope = match endpoint.local {
            SocketAddr::V6(local) => local.scope_id(),
            SocketAddr::V4(_) => 0,
        };
        let mut source = SocketAddr::new(source, 0);
        if let SocketAddr::V6(six) = &mut source {
            six.set_scope_id(scope);
        }
        socket.bind(&source.into())?;
    }
    socket.connect(&dst.into())?;
    let (level, name) = match dst.is_ipv6() {
        true => (libc::SOL_IPV6, libc::IPV6_MTU),
        false => (libc::SOL_IP, libc::IP_MTU),
    };
    let of_route = get_option(socket.as_raw_fd(), level, name)?;
    let of_route = u32::try_from(of_route).map_err(|_| io::ErrorKind::InvalidData)?;
    // The MTU of a route may exceed that of its interface, and only the latter holds for `IP_PMTUDISC_PROBE`.
    Ok(of_interface(&socket, dst.is_ipv6()).map_or(of_route, |mtu| mtu.min(of_route)))
}

/// Whether a route of this host leads to `group` where no interface is chosen. Nothing is sent.
///
/// # Errors
/// The system's reason why none does.
pub(crate) fn leads_to(group: SocketAddr) -> io::Result<()> {
    let socket = Socket::new(Domain::for_address(group), Type::DGRAM, Some(Protocol::UDP))?;
    socket.connect(&group.into())
}

fn of_interface(socket: &Socket, ipv6: bool) -> Option<u32> {
    let (level, discover, report) = match ipv6 {
        true => (libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_RECVERR),
        false => (libc::SOL_IP, libc::IP_MTU_DISCOVER, libc::IP_RECVERR),
    };
    let fd = socket.as_raw_fd();
    set_option(fd, level, discover, libc::IP_PMTUDISC_PROBE).ok()?;
    set_option(fd, level, report, 1).ok()?;
    match socket.send(&OCTETS) {
        Err(error) if error.raw_os_error() == Some(libc::EMSGSIZE) => errors::queued_mtu(fd),
        _ => None,
    }
}
