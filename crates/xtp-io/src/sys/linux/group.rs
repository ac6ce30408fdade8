//! Membership in groups, and the interface by which a socket sends to them.

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;

use socket2::{SockAddr, Socket};

/// Joins a group on an interface (0: the system's choice), for what `source` sends, or what anybody sends.
pub(crate) fn join_group(
    socket: &Socket,
    group: IpAddr,
    interface: u32,
    source: Option<IpAddr>,
) -> io::Result<()> {
    let level = level(group.is_ipv4());
    match source {
        None => {
            let request = libc::group_req {
                gr_interface: interface,
                gr_group: storage(group),
            };
            set(socket, level, libc::MCAST_JOIN_GROUP, &request)
        }
        Some(source) => {
            let request = libc::group_source_req {
                gsr_interface: interface,
                gsr_group: storage(group),
                gsr_source: storage(source),
            };
            set(socket, level, libc::MCAST_JOIN_SOURCE_GROUP, &request)
        }
    }
}

/// What is sent to a group comes to the sockets that joined it, not to all that are bound to its port.
pub(crate) fn only_own_groups(socket: &Socket, four: bool) -> io::Result<()> {
    if four {
        socket.set_multicast_all_v4(false)
    } else {
        socket.set_multicast_all_v6(false)
    }
}

/// What comes by other interfaces is not for this socket. A membership alone does not say so for IPv6: it makes a socket
/// hear its group wherever the host hears it.
pub(crate) fn only_by_interface(socket: &Socket, interface: u32) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_BINDTOIFINDEX, &interface)
}

/// By which interface packets to IPv4 groups leave; 0: that of the route.
pub(crate) fn send_groups_by(socket: &Socket, interface: u32) -> io::Result<()> {
    let any = libc::in_addr { s_addr: 0 };
    let request = libc::ip_mreqn {
        imr_multiaddr: any,
        imr_address: any,
        imr_ifindex: interface.cast_signed(),
    };
    set(socket, libc::IPPROTO_IP, libc::IP_MULTICAST_IF, &request)
}

fn level(four: bool) -> i32 {
    if four {
        libc::IPPROTO_IP
    } else {
        libc::IPPROTO_IPV6
    }
}

/// An address as the kernel's groups want it; the port says nothing.
fn storage(ip: IpAddr) -> libc::sockaddr_storage {
    let address = SockAddr::from(SocketAddr::new(ip, 0));
    // SAFETY: socket addresses are plain numbers, for which all zeros are a value.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    // SAFETY: both are as long as `address.len()` says at least, and do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(
            address.as_ptr().cast::<u8>(),
            (&raw mut storage).cast::<u8>(),
            address.len() as usize,
        );
    }
    storage
}

/// Sets an option whose value is one of the kernel's structures.
fn set<T>(socket: &Socket, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value outlives the call, and its length is given.
    match unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const *value).cast(),
            length,
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
