//! The Linux back end: what the kernel offers is switched on here, used in `send` and `recv`.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::SockRef;

use super::{BoundSocket, DatagramIo};
use crate::capabilities::Capabilities;
use crate::error::SocketError;
use crate::options::{Backend, Lacking, SocketOptions};
use crate::sys::batch::RecvBatch;
use crate::sys::shortcut::Shortcut;
use crate::train::{MAX_SEGMENTS, SendOutcome, SendTarget, SendTrain};

pub(crate) mod allocator;
mod call;
pub(crate) mod clock;
pub(super) mod ecn_history;
mod errors;
pub(crate) mod gro;
pub(crate) mod group;
pub(crate) mod lend;
mod mark;
mod one;
pub(crate) mod pages;
pub(crate) mod recv;
pub(crate) mod route;
pub(crate) mod run;
mod send;
pub(crate) mod shortcut;
mod sleep;
#[cfg(feature = "standard-streams")]
pub(crate) mod streams;
#[cfg(feature = "tun")]
pub(crate) mod tun;

/// `UDP_SEGMENT` and `UDP_GRO` of `linux/udp.h`; not every C library's binding has them.
const UDP_SEGMENT: i32 = 103;
const UDP_GRO: i32 = 104;
/// `SO_MEMINFO` of `asm-generic/socket.h` and what it tells, from `linux/sock_diag.h`.
const SO_MEMINFO: i32 = 55;
const MEMINFO_DROPS: usize = 8;
const MEMINFO_VARS: usize = 9;

/// Trains by gather list and segmentation offload, batches by `recvmmsg` and receive offload.
#[derive(Debug)]
pub(crate) struct LinuxIo {
    /// Cleared when a device proves unable.
    gso: AtomicBool,
    gro: gro::Gro,
    /// ECN marks are told.
    marks: bool,
    /// Something is told with every datagram: its ECN mark, or the address it was sent to.
    told: bool,
    mark: mark::SocketClass,
    sendmmsg: bool,
    recvmmsg: bool,
    /// Longest sleep of a receive call.
    longest: Option<Duration>,
}

impl LinuxIo {
    /// Switches on what `options` wish and the kernel has.
    pub(crate) fn open(endpoint: &BoundSocket, options: &SocketOptions, found: &mut Capabilities) -> Self {
        let fd = endpoint.socket.as_raw_fd();
        let ipv6 = endpoint.local.is_ipv6();
        let set = |level, name, value| set_option(fd, level, name, value).is_ok();
        // An IPv6 socket may carry IPv4, which has options of its own; where it does not, they do no harm.
        let both = |four: i32, six: i32, value| {
            let four = set(libc::SOL_IP, four, value);
            if ipv6 {
                set(libc::SOL_IPV6, six, value)
            } else {
                four
            }
        };
        let lacks = match options.backend {
            Backend::Lacking(lacks) => lacks,
            _ => Lacking::default(),
        };
        found.backend = "linux";
        found.gso = !lacks.gso && get_option(fd, libc::SOL_UDP, UDP_SEGMENT).is_ok();
        found.gro = !lacks.gro && set(libc::SOL_UDP, UDP_GRO, 1);
        found.ecn = options.marks && both(libc::IP_RECVTOS, libc::IPV6_RECVTCLASS, 1);
        found.pktinfo = if ipv6 {
            set(libc::SOL_IPV6, libc::IPV6_RECVPKTINFO, 1)
        } else {
            set(libc::SOL_IP, libc::IP_PKTINFO, 1)
        };
        // Bound to one address the socket knows it: telling it with every datagram would only cost time.
        if endpoint.bound_ip().is_some() {
            let (level, name) = match ipv6 {
                true => (libc::SOL_IPV6, libc::IPV6_RECVPKTINFO),
                false => (libc::SOL_IP, libc::IP_PKTINFO),
            };
            set(level, name, 0);
        }
        // Sent with "don't fragment", whatever the kernel remembers of the path: the caller finds its MTU itself.
        found.dont_fragment = both(
            libc::IP_MTU_DISCOVER,
            libc::IPV6_MTU_DISCOVER,
            libc::IP_PMTUDISC_PROBE,
        );
        found.error_queue = options.report_errors && both(libc::IP_RECVERR, libc::IPV6_RECVERR, 1);
        found.rxq_overflow = dropped(fd).is_some();
        // SAFETY: no message, so nothing is read or written; only whether the call exists matters.
        let sendmmsg = unsafe { libc::sendmmsg(fd, ptr::null_mut(), 0, 0) } == 0;
        // SAFETY: as above.
        let recvmmsg = unsafe { libc::recvmmsg(fd, ptr::null_mut(), 0, 0, ptr::null_mut()) } == 0;
        found.sendmmsg = !lacks.batching && sendmmsg;
        found.recvmmsg = !lacks.batching && recvmmsg;
        found.max_segments = if found.gso || found.sendmmsg {
            MAX_SEGMENTS
        } else {
            1
        };
        Self {
            gso: AtomicBool::new(found.gso),
            gro: gro::Gro::new(found.gro),
            marks: found.ecn,
            told: found.ecn || endpoint.bound_ip().is_none(),
            mark: mark::SocketClass::default(),
            sendmmsg: found.sendmmsg,
            recvmmsg: found.recvmmsg,
            longest: sleep::prepare(&SockRef::from(&endpoint.socket)).ok(),
        }
    }
}

impl DatagramIo for LinuxIo {
    fn send(&self, endpoint: &BoundSocket, train: &SendTrain<'_>, first: usize) -> io::Result<SendOutcome> {
        send::send(self, endpoint, train, first)
    }

    fn send_one(&self, endpoint: &BoundSocket, envelope: &SendTarget, octets: &[u8]) -> bool {
        one::send(self, endpoint, envelope, octets)
    }

    fn recv(&self, endpoint: &BoundSocket, batch: &mut RecvBatch, looks: u32) -> io::Result<()> {
        recv::recv(self, endpoint, None, batch, recv::RecvWait::Looks(looks))?;
        self.note(endpoint, batch);
        Ok(())
    }

    fn longest_sleep(&self) -> Option<Duration> {
        self.longest
    }

    fn recv_asleep(&self, endpoint: &BoundSocket, batch: &mut RecvBatch) -> io::Result<()> {
        recv::recv(self, endpoint, None, batch, recv::RecvWait::Sleep)?;
        self.note(endpoint, batch);
        Ok(())
    }

    fn shortcut(&self, endpoint: &BoundSocket, peer: SocketAddr) -> io::Result<Shortcut> {
        shortcut::open(self, endpoint, peer)
    }

    fn recv_by(
        &self,
        endpoint: &BoundSocket,
        shortcut: &Shortcut,
        batch: &mut RecvBatch,
        looks: u32,
    ) -> io::Result<()> {
        self.recv_lone_by(endpoint, shortcut, batch, recv::RecvWait::Looks(looks))
    }

    fn recv_asleep_by(
        &self,
        endpoint: &BoundSocket,
        shortcut: &Shortcut,
        batch: &mut RecvBatch,
    ) -> io::Result<()> {
        self.recv_lone_by(endpoint, shortcut, batch, recv::RecvWait::SleepConnected)
    }

    fn look_by(
        &self,
        endpoint: &BoundSocket,
        shortcut: &Shortcut,
        batch: &mut RecvBatch,
        looks: u32,
    ) -> io::Result<Option<usize>> {
        if !recv::is_plain(shortcut) {
            return Ok(None);
        }
        shortcut.gro.note_kept(shortcut.socket.as_raw_fd());
        batch.prepare();
        let length = recv::look_plain(endpoint, shortcut, batch, recv::RecvWait::Looks(looks))?;
        if length.is_some() {
            shortcut.gro.keep(gro::RecvRound {
                messages: 1,
                datagrams: 1,
                waited: batch.end_wait(),
            });
        }
        Ok(Some(length.unwrap_or(0)))
    }

    fn keep_by(&self, shortcut: &Shortcut, batch: &mut RecvBatch, octets: usize) {
        batch.fill(0, recv::plain_arrival(shortcut, octets));
    }

    fn recv_many_by(
        &self,
        endpoint: &BoundSocket,
        shortcut: &Shortcut,
        batch: &mut RecvBatch,
        looks: u32,
    ) -> io::Result<()> {
        let waiting = recv::RecvWait::Looks(looks);
        recv::recv(self, endpoint, Some(shortcut), batch, waiting)?;
        shortcut.gro.note(shortcut.socket.as_raw_fd(), round(batch));
        Ok(())
    }

    fn recv_errors(&self, endpoint: &BoundSocket, out: &mut Vec<SocketError>) -> io::Result<usize> {
        errors::recv_errors(endpoint, out)
    }

    fn path_mtu(&self, endpoint: &BoundSocket, dst: SocketAddr, src: Option<IpAddr>) -> io::Result<u32> {
        route::path_mtu(endpoint, dst, src)
    }

    fn overflows(&self, endpoint: &BoundSocket) -> u64 {
        dropped(endpoint.socket.as_raw_fd()).map_or(0, u64::from)
    }

    fn gso_active(&self) -> bool {
        self.gso.load(Ordering::Relaxed)
    }
}

impl LinuxIo {
    fn recv_lone_by(
        &self,
        endpoint: &BoundSocket,
        shortcut: &Shortcut,
        batch: &mut RecvBatch,
        waiting: recv::RecvWait,
    ) -> io::Result<()> {
        // What the round before brought is noted now, when the packet that answers it is under way.
        shortcut.gro.note_kept(shortcut.socket.as_raw_fd());
        batch.prepare();
        recv::recv_lone(self, endpoint, Some(shortcut), batch, waiting)?;
        shortcut.gro.keep(round(batch));
        Ok(())
    }

    fn note(&self, endpoint: &BoundSocket, batch: &RecvBatch) {
        self.gro.note(endpoint.socket.as_raw_fd(), round(batch));
    }

    /// Whether a datagram may come with control messages.
    fn is_told_more(&self) -> bool {
        self.told || self.gro.is_on()
    }
}

/// What the last call brought.
fn round(batch: &RecvBatch) -> gro::RecvRound {
    gro::RecvRound {
        messages: batch.messages(),
        datagrams: batch.len(),
        waited: batch.has_waited(),
    }
}

/// Datagrams the kernel threw away for want of room in the receive buffer. Asked for when somebody wants to know: told
/// with every datagram, it would cost with every datagram.
fn dropped(fd: RawFd) -> Option<u32> {
    let mut facts = [0u32; MEMINFO_VARS];
    let mut length = size_of_val(&facts) as libc::socklen_t;
    let place = (&raw mut facts).cast();
    // SAFETY: the kernel writes at most `length` octets into an array that outlives the call.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, SO_MEMINFO, place, &raw mut length) };
    let there = result == 0 && length as usize > MEMINFO_DROPS * size_of::<u32>();
    there.then(|| facts[MEMINFO_DROPS])
}

/// The number of the last failed call's error.
fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// An empty message header.
fn empty_header() -> libc::msghdr {
    // SAFETY: a C struct of integers and pointers, for which all zeros is a value.
    unsafe { std::mem::zeroed() }
}

/// Asks for a receive buffer; beyond what the system lets everybody have it is given to who may (`CAP_NET_ADMIN`), and
/// else the system's most.
pub(crate) fn size_recv_buffer(socket: &socket2::Socket, octets: usize) -> io::Result<()> {
    socket.set_recv_buffer_size(octets)?;
    if socket.recv_buffer_size()? / 2 < octets {
        let octets = i32::try_from(octets).unwrap_or(i32::MAX);
        let _ = set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, octets);
    }
    Ok(())
}

/// Octets of a stream may be sent from where they lie.
pub(crate) fn let_lend(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ZEROCOPY, 1)
}

fn set_option(fd: RawFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    let length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the value is an int that outlives the call, and its length is given.
    match unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn get_option(fd: RawFd, level: i32, name: i32) -> io::Result<i32> {
    let mut value = 0i32;
    let mut length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` octets into an int that outlives the call.
    match unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &raw mut length) } {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}
