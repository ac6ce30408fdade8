//! System calls: the only place that speaks to the operating system, and the only one with `unsafe`.
//!
//! A back end implements [`DatagramIo`]; [`open`] chooses one when a socket is bound. `plain` works
//! everywhere through the standard library, `linux` speaks in trains and batches. `failing` and `wired` are for tests.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::capabilities::Capabilities;
use crate::counters::LiveCounters;
use crate::error::SocketError;
use crate::options::{Backend, SocketOptions};
use crate::train::{SendOutcome, SendTarget, SendTrain};

#[cfg(all(test, target_os = "linux"))]
mod alloc_tests;
pub(crate) mod batch;
#[cfg(target_os = "linux")]
mod cmsg;
pub(crate) mod failing;
mod frames;
#[cfg(not(target_os = "linux"))]
mod groupless;
#[cfg(unix)]
mod interfaces;
#[cfg(target_os = "linux")]
mod linux;
mod plain;
mod poll;
pub(crate) mod shortcut;
pub(crate) mod wired;

pub(crate) use batch::RecvBatch;
#[cfg(xtp_loom)]
pub use frames::Referring;
pub use frames::{FrameMemory, FrameRegion};
#[cfg(not(unix))]
pub(crate) use groupless::{interface_named, interface_with, up};
#[cfg(not(target_os = "linux"))]
pub(crate) use groupless::{join_group, leads_to, only_by_interface, only_own_groups, send_groups_by};
#[cfg(unix)]
pub(crate) use interfaces::{interface_named, interface_with, up};
#[cfg(target_os = "linux")]
pub(crate) use linux::allocator::{give_back_memory, share_arenas};
#[cfg(target_os = "linux")]
pub(crate) use linux::clock::monotonic_nanos;
#[cfg(target_os = "linux")]
pub(crate) use linux::group::{join_group, only_by_interface, only_own_groups, send_groups_by};
#[cfg(target_os = "linux")]
pub(crate) use linux::lend::lend_by;
#[cfg(target_os = "linux")]
pub(crate) use linux::route::leads_to;
#[cfg(target_os = "linux")]
pub(crate) use linux::shortcut::{send as send_by, set_segment};
#[cfg(all(target_os = "linux", feature = "standard-streams"))]
pub(crate) use linux::streams::output_was_closed;
#[cfg(all(target_os = "linux", feature = "tun"))]
pub(crate) use linux::tun::open as open_tun;
#[cfg(target_os = "linux")]
pub(crate) use linux::{let_lend, size_recv_buffer};
#[cfg(unix)]
pub(crate) use poll::wait_beside;
pub(crate) use poll::{wait, wait_any};
pub(crate) use shortcut::Shortcut;

/// An interface that is up, with one of its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Up {
    pub(crate) name: String,
    pub(crate) index: u32,
    pub(crate) address: IpAddr,
    /// Its link carries packets to groups to other hosts at present.
    pub(crate) carries_groups: bool,
}

/// Whether sockets of this system can join groups and send to them.
pub(crate) const HAS_GROUPS: bool = cfg!(target_os = "linux");

/// Nothing is known of arenas here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn share_arenas() {}

/// Nor of what an allocator keeps.
#[cfg(not(target_os = "linux"))]
pub(crate) fn give_back_memory() {}

/// Nothing is lent by streams.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn let_lend(_: std::os::fd::BorrowedFd<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nanoseconds since it was asked first.
#[cfg(not(target_os = "linux"))]
pub(crate) fn monotonic_nanos() -> u64 {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let passed = FIRST.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}

/// Only Linux has shortcuts.
#[cfg(not(target_os = "linux"))]
pub(crate) fn set_segment(_: &Shortcut, _: u16) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Only Linux has shortcuts.
#[cfg(not(target_os = "linux"))]
pub(crate) fn send_by(_: &Shortcut, _: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What every back end needs of a socket.
#[derive(Debug)]
pub(crate) struct BoundSocket {
    /// Bound, not connected. No call on it waits, but for the one that is there to sleep.
    pub(crate) socket: UdpSocket,
    pub(crate) local: SocketAddr,
    pub(crate) counts: LiveCounters,
    /// Index of the interface by which it sends to groups, 0 for that of the route.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(
            dead_code,
            reason = "what is sent to groups leaves by it, which is built for Linux only"
        )
    )]
    pub(crate) groups_by: AtomicU32,
}

impl BoundSocket {
    /// The one address the socket is bound to, unless it is bound to all.
    pub(crate) fn bound_ip(&self) -> Option<IpAddr> {
        let ip = self.local.ip().to_canonical();
        (!ip.is_unspecified()).then_some(ip)
    }
}

/// An implementation of sending trains and receiving batches.
pub(crate) trait DatagramIo: fmt::Debug + Send + Sync {
    /// Sends the datagrams of a valid train from number `first` on.
    fn send(&self, endpoint: &BoundSocket, train: &SendTrain<'_>, first: usize) -> io::Result<SendOutcome>;

    /// Sends a datagram of which nothing is to be said; false, and nothing done, if something is.
    fn send_one(&self, _: &BoundSocket, _: &SendTarget, _: &[u8]) -> bool {
        false
    }

    /// A shortcut to one peer.
    fn shortcut(&self, _: &BoundSocket, _: SocketAddr) -> io::Result<Shortcut> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fills the first slot of `batch` from a shortcut, as [`recv`](Self::recv).
    fn recv_by(&self, _: &BoundSocket, _: &Shortcut, _: &mut RecvBatch, _: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The same asleep.
    fn recv_asleep_by(&self, _: &BoundSocket, _: &Shortcut, _: &mut RecvBatch) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Octets of a datagram that came by a shortcut into the first slab of `batch`, which does not know of it, 0 if none did;
    /// `None`, and nothing done, if more is to be asked about it.
    fn look_by(&self, _: &BoundSocket, _: &Shortcut, _: &mut RecvBatch, _: u32) -> io::Result<Option<usize>> {
        Ok(None)
    }

    /// Tells `batch` of such a datagram.
    fn keep_by(&self, _: &Shortcut, _: &mut RecvBatch, _: usize) {}

    /// Fills `batch` from a shortcut, as [`recv`](Self::recv).
    fn recv_many_by(&self, _: &BoundSocket, _: &Shortcut, _: &mut RecvBatch, _: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fills `batch`; empty if nothing was there in `looks` looks in a row (at least one is taken).
    fn recv(&self, endpoint: &BoundSocket, batch: &mut RecvBatch, looks: u32) -> io::Result<()>;

    /// Longest time [`Self::recv_asleep`] waits; `None` if this system cannot wait so.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }

    /// As [`Self::recv`], sleeping until something comes, a signal or a report of the network arrives, or the longest
    /// time is over.
    fn recv_asleep(&self, endpoint: &BoundSocket, batch: &mut RecvBatch) -> io::Result<()> {
        self.recv(endpoint, batch, 1)
    }

    /// Appends queued errors, a bounded number.
    fn recv_errors(&self, endpoint: &BoundSocket, out: &mut Vec<SocketError>) -> io::Result<usize>;

    /// MTU of the way to an address, as far as the system knows it.
    fn path_mtu(&self, _: &BoundSocket, _: SocketAddr, _: Option<IpAddr>) -> io::Result<u32> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Datagrams the system threw away because the receive buffer was full, as far as it tells.
    fn overflows(&self, _: &BoundSocket) -> u64 {
        0
    }

    /// Whether segmentation offload is in use.
    fn gso_active(&self) -> bool {
        false
    }
}

/// Chooses a back end, switches on what it can, and notes that in `capabilities`.
#[cfg_attr(
    not(target_os = "linux"),
    allow(unused_variables, reason = "plain needs nothing set up")
)]
pub(crate) fn open(
    endpoint: &BoundSocket,
    options: &SocketOptions,
    capabilities: &mut Capabilities,
) -> Box<dyn DatagramIo> {
    if let Backend::Failing(faults) = options.backend {
        let options = SocketOptions {
            backend: Backend::Auto,
            ..options.clone()
        };
        return Box::new(failing::FailingIo::new(
            open(endpoint, &options, capabilities),
            faults,
        ));
    }
    if let Backend::Wired(wire) = options.backend {
        capabilities.backend = "wired";
        return Box::new(wired::WiredIo(wire));
    }
    #[cfg(target_os = "linux")]
    if options.backend != Backend::Plain {
        return Box::new(linux::LinuxIo::open(endpoint, options, capabilities));
    }
    capabilities.backend = "plain";
    capabilities.max_segments = 1;
    Box::new(plain::PlainIo)
}

/// What is wrong with a train whose destination the socket's family cannot express.
pub(crate) fn wrong_family() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "an address of the train is of another family than the socket or the destination",
    )
}

/// What is wrong with a train that has a datagram in too many pieces.
pub(crate) fn too_many_pieces() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a datagram of the train has more than 1024 pieces",
    )
}
