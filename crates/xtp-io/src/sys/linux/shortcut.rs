//! Opening a shortcut: a socket bound where another is, and connected.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::ecn_history::EcnHistory;
use super::lend::Pipe;
use super::{LinuxIo, UDP_SEGMENT, call, get_option, set_option};
use crate::address::{canonical, for_family};
use crate::sys::shortcut::Shortcut;
use crate::sys::{BoundSocket, wrong_family};
use crate::train::TrafficClass;

/// Options of the first socket that the second takes over: what it asks for, its own mark, and the size of its buffers
/// (which the system reports doubled).
const INHERITED: [(i32, i32); 6] = [
    (libc::SOL_SOCKET, libc::SO_BROADCAST),
    (libc::SOL_IP, libc::IP_MTU_DISCOVER),
    (libc::SOL_IP, libc::IP_RECVTOS),
    (libc::SOL_IP, libc::IP_TOS),
    (libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER),
    (libc::SOL_IPV6, libc::IPV6_RECVTCLASS),
];

/// Opens a shortcut of `endpoint`'s socket to `peer`.
pub(super) fn open(io: &LinuxIo, endpoint: &BoundSocket, peer: SocketAddr) -> io::Result<Shortcut> {
    let first = SockRef::from(&endpoint.socket);
    let ipv6 = endpoint.local.is_ipv6();
    let to = for_family(peer, ipv6).ok_or_else(wrong_family)?;
    let second = Socket::new(
        Domain::for_address(endpoint.local),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    // Its calls wait only where they say so, if they can.
    let sleeps = io.longest.is_some() && super::sleep::prepare(&second).is_ok();
    second.set_nonblocking(!sleeps)?;
    super::size_recv_buffer(&second, first.recv_buffer_size()? / 2)?;
    second.set_send_buffer_size(first.send_buffer_size()? / 2)?;
    if ipv6 {
        second.set_only_v6(first.only_v6()?)?;
    }
    let (from_fd, to_fd) = (endpoint.socket.as_raw_fd(), second.as_raw_fd());
    for (level, name) in INHERITED {
        if (level != libc::SOL_IPV6 || ipv6)
            && let Ok(value) = get_option(from_fd, level, name)
        {
            set_option(to_fd, level, name, value)?;
        }
    }
    let mark = io.mark.own();
    if ipv6 {
        set_option(to_fd, libc::SOL_IPV6, libc::IPV6_TCLASS, mark.into())?;
    }
    // Two may be bound to one address if both say so at that moment. Until the second is connected it may be given what
    // is meant for the first: whoever opens it takes what arrives at both.
    second.set_reuse_port(true)?;
    first.set_reuse_port(true)?;
    let bound = second.bind(&endpoint.local.into());
    first.set_reuse_port(false)?;
    bound?;
    second.set_reuse_port(false)?;
    second.connect(&to.into())?;
    let local = second
        .local_addr()?
        .as_socket()
        .map(|local| canonical(local).ip());
    let segments = io.gso.load(Ordering::Relaxed).then_some(0);
    Ok(Shortcut {
        gro: io.gro.beside(to_fd),
        segments,
        socket: second.into(),
        peer,
        local,
        unsure: AtomicBool::new(true),
        class: TrafficClass::from_bits(mark),
        ecn_history: EcnHistory::new(io.marks),
        run: super::run::ExpectedLength::default(),
        pipe: Pipe::default(),
    })
}

/// Tells the kernel how long the datagrams are into which it is to cut what this socket sends.
pub(crate) fn set_segment(shortcut: &Shortcut, segment: u16) -> io::Result<()> {
    set_option(
        shortcut.socket.as_raw_fd(),
        libc::SOL_UDP,
        UDP_SEGMENT,
        segment.into(),
    )
}

/// Sends `octets` to the peer of a shortcut.
#[inline]
pub(crate) fn send(shortcut: &Shortcut, octets: &[u8]) -> io::Result<()> {
    let (fd, flags) = (
        shortcut.socket.as_raw_fd(),
        libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
    );
    // SAFETY: the kernel reads the octets, which outlive the call, and no name.
    let result = unsafe {
        call::sendto(
            fd,
            octets.as_ptr().cast(),
            octets.len(),
            flags,
            std::ptr::null(),
            0,
        )
    };
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
