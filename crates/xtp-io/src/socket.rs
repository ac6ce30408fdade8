//! The UDP socket: set up once, then used through whichever back end the system allows.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::address::canonical;
use crate::capabilities::Capabilities;
use crate::counters::{Counters, LiveCounters, add};
use crate::error::{IoError, SocketError};
use crate::options::{Backend, SocketOptions};
use crate::readiness::{Interest, Readiness};
use crate::sys::{self, BoundSocket, DatagramIo, RecvBatch};
use crate::train::{SendOutcome, SendTarget, SendTrain, TrafficClass};

/// A bound, unconnected, non-blocking UDP socket.
///
/// `Send` and `Sync`: several threads may send and receive at once, each with its own [`RecvBatch`].
/// For the counters see [`Counters`].
#[derive(Debug)]
pub struct UdpSocket {
    pub(crate) endpoint: BoundSocket,
    pub(crate) io: Box<dyn DatagramIo>,
    capabilities: Capabilities,
}

impl UdpSocket {
    /// Binds `addr` (port 0: the system chooses one) and finds out what the system offers.
    ///
    /// `[::]` also carries IPv4. An IPv4-mapped address binds the IPv4 one.
    ///
    /// # Errors
    /// [`IoError`] when the socket cannot be made, bound, or set non-blocking. A feature the system
    /// lacks is not an error: see [`UdpSocket::capabilities`].
    pub fn bind(addr: SocketAddr, options: &SocketOptions) -> Result<Self, IoError> {
        Self::bind_prepared(addr, options, false, |_| Ok(()))
    }

    /// As [`UdpSocket::bind`]; `only_v6`: a socket of IPv6 carries no IPv4; `prepare` has the socket before it is bound.
    pub(crate) fn bind_prepared(
        addr: SocketAddr,
        options: &SocketOptions,
        only_v6: bool,
        prepare: impl FnOnce(&Socket) -> Result<(), IoError>,
    ) -> Result<Self, IoError> {
        let addr = canonical(addr);
        let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))
            .map_err(|source| IoError::Create { addr, source })?;
        let required = |option, result: io::Result<()>| {
            result.map_err(|source| IoError::Option { option, addr, source })
        };
        required("non-blocking mode", socket.set_nonblocking(true))?;
        if addr.is_ipv6() {
            let set = socket.set_only_v6(only_v6);
            // Some systems know IPv6-only sockets and nothing else: that is no reason to fail.
            if only_v6 {
                required("IPV6_V6ONLY", set)?;
            }
        }
        if options.broadcast {
            required("SO_BROADCAST", socket.set_broadcast(true))?;
        }
        prepare(&socket)?;
        socket
            .bind(&addr.into())
            .map_err(|source| IoError::Bind { addr, source })?;
        let local = socket
            .local_addr()
            .and_then(|local| local.as_socket().ok_or_else(|| io::ErrorKind::Unsupported.into()))
            .map_err(|source| IoError::Bind { addr, source })?;
        let local = match options.backend {
            Backend::Wired(wire) => wire.address(),
            _ => local,
        };

        let mut capabilities = Capabilities {
            recv_buffer_asked: options.recv_buffer,
            send_buffer_asked: options.send_buffer,
            dual_stack: local.ip().is_unspecified()
                && matches!(socket.only_v6(), Ok(false))
                && local.is_ipv6(),
            ..Capabilities::default()
        };
        size_buffers(&socket, options, &mut capabilities);
        let endpoint = BoundSocket {
            socket: socket.into(),
            local,
            counts: LiveCounters::default(),
            groups_by: AtomicU32::new(0),
        };
        let io = sys::open(&endpoint, options, &mut capabilities);
        Ok(Self {
            endpoint,
            io,
            capabilities,
        })
    }

    /// The bound address, with the port the system chose.
    pub fn local_addr(&self) -> SocketAddr {
        self.endpoint.local
    }

    /// What the system granted when the socket was bound.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Whether trains still leave by segmentation offload: it is switched off when a device turns out
    /// to be unable.
    pub fn gso_active(&self) -> bool {
        self.io.gso_active()
    }

    /// System calls and datagrams so far.
    pub fn counters(&self) -> Counters {
        Counters {
            overflows: self.io.overflows(&self.endpoint),
            ..self.endpoint.counts.snapshot()
        }
    }

    /// Sends `train` without waiting, in one system call where the kernel can: at most
    /// [`MAX_SEGMENTS`](crate::MAX_SEGMENTS) datagrams, [`MAX_DATAGRAM`](crate::MAX_DATAGRAM) octets
    /// and [`MAX_PIECES`](crate::MAX_PIECES) pieces a call; longer trains take several.
    ///
    /// The plain back end ignores source, interface and traffic class.
    ///
    /// # Errors
    /// `InvalidInput` for a train that contradicts itself, has a datagram of more than `MAX_PIECES`
    /// pieces or an address of the wrong family, and what the system says (no route, not permitted).
    /// A full buffer and a datagram too long are no errors but [`SendOutcome`]s.
    pub fn send(&self, train: &SendTrain<'_>) -> io::Result<SendOutcome> {
        self.send_from(train, 0)
    }

    /// Continues `train` at its datagram number `first`, after an outcome that named it `sent`.
    ///
    /// # Errors
    /// As [`UdpSocket::send`].
    pub fn send_from(&self, train: &SendTrain<'_>, first: usize) -> io::Result<SendOutcome> {
        train.check()?;
        if train.segment > crate::MAX_DATAGRAM && train.total > crate::MAX_DATAGRAM {
            return Ok(SendOutcome::TooBig {
                sent: first,
                left: train.segments().saturating_sub(first),
            });
        }
        self.io.send(&self.endpoint, train, first)
    }

    /// Sends one datagram if that needs nothing but its octets and where they go: the shortest way. False, and nothing
    /// done, where it needs more or the system has something to say about it: that is for [`UdpSocket::send`].
    #[inline]
    pub fn send_one(
        &self,
        dst: SocketAddr,
        src: Option<IpAddr>,
        class: impl Into<TrafficClass>,
        octets: &[u8],
    ) -> bool {
        !octets.is_empty()
            && self.io.send_one(
                &self.endpoint,
                &SendTarget {
                    dst,
                    src,
                    class: class.into(),
                },
                octets,
            )
    }

    /// Receives what is there without waiting; returns the number of datagrams, 0 if there are none.
    /// What `batch` held before is forgotten.
    ///
    /// # Errors
    /// What the system says. ICMP errors are not reported here but by [`UdpSocket::recv_errors`].
    pub fn recv(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        self.recv_within(batch, 1)
    }

    /// As [`UdpSocket::recv`], but looks up to `looks` times (at least once) before it says that nothing is there:
    /// for a caller that polls, this is the shortest way round.
    ///
    /// # Errors
    /// As [`UdpSocket::recv`].
    pub fn recv_within(&self, batch: &mut RecvBatch, looks: u32) -> io::Result<usize> {
        self.io.recv(&self.endpoint, batch, looks)?;
        Ok(self.count(batch))
    }

    /// Longest time [`UdpSocket::recv_asleep`] waits: a few milliseconds, by the kernel's clock. `None` where a receive
    /// call cannot wait: use [`UdpSocket::wait`].
    pub fn longest_sleep(&self) -> Option<Duration> {
        self.io.longest_sleep()
    }

    /// As [`UdpSocket::recv`], but sleeps until something comes, a signal or a report of the network arrives, or
    /// [`UdpSocket::longest_sleep`] is over: one system call where waiting and receiving are two. Where a receive call
    /// cannot wait it is [`UdpSocket::recv`].
    ///
    /// # Errors
    /// As [`UdpSocket::recv`].
    pub fn recv_asleep(&self, batch: &mut RecvBatch) -> io::Result<usize> {
        self.io.recv_asleep(&self.endpoint, batch)?;
        Ok(self.count(batch))
    }

    pub(crate) fn count(&self, batch: &RecvBatch) -> usize {
        let counts = &self.endpoint.counts;
        if !batch.is_empty() {
            add(&counts.datagrams_in, batch.len() as u64);
            add(&counts.octets_in, batch.octets());
        }
        batch.len()
    }

    /// Sleeps until the socket is ready, `timeout` is over (`None`: never) or a signal arrives.
    ///
    /// Nanosecond timeouts on Linux, rounded up to milliseconds elsewhere. Queued errors wake it
    /// whatever the interest.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait(&self, timeout: Option<Duration>, interest: Interest) -> io::Result<Readiness> {
        self.endpoint.counts.poll_calls.fetch_add(1, Ordering::Relaxed);
        sys::wait(&self.endpoint.socket, timeout, interest)
    }

    /// As [`wait`](Self::wait), and for a datagram that can be received from one of `others`; readable if there is one anywhere.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_with(
        &self,
        others: &[Arc<UdpSocket>],
        timeout: Option<Duration>,
        interest: Interest,
    ) -> io::Result<Readiness> {
        if others.is_empty() {
            return self.wait(timeout, interest);
        }
        self.endpoint.counts.poll_calls.fetch_add(1, Ordering::Relaxed);
        let others = others.iter().map(|other| &other.endpoint.socket);
        sys::wait_any(&self.endpoint.socket, others, timeout, interest)
    }

    /// As [`wait_with`](Self::wait_with), and for anything to be read from `descriptor`, whatever it is; readable if there is anything anywhere.
    ///
    /// # Errors
    /// What the system says.
    #[cfg(unix)]
    pub fn wait_beside(
        &self,
        others: &[Arc<UdpSocket>],
        descriptor: std::os::fd::BorrowedFd<'_>,
        timeout: Option<Duration>,
        interest: Interest,
    ) -> io::Result<Readiness> {
        use std::os::fd::AsFd;

        self.endpoint.counts.poll_calls.fetch_add(1, Ordering::Relaxed);
        let others = others.iter().map(|other| other.endpoint.socket.as_fd());
        let all = others.chain(std::iter::once(descriptor));
        sys::wait_beside(&self.endpoint.socket, all, timeout, interest)
    }

    /// Appends queued reports about datagrams sent earlier to `out`, at most 64 a call; returns how
    /// many. A system without an error queue reports nothing.
    ///
    /// # Errors
    /// What the system says.
    pub fn recv_errors(&self, out: &mut Vec<SocketError>) -> io::Result<usize> {
        self.io.recv_errors(&self.endpoint, out)
    }

    /// MTU of the way to `dst` in octets, IP header included, as this host knows it without sending: the least of the MTU
    /// of its interface, of the route's own (`ip route ... mtu`) and of what a router said lately. `src`: the address it
    /// is sent from, where that is not left to the system. For a group it is the interface by which this socket sends to
    /// groups. A few system calls: not for every datagram.
    ///
    /// # Errors
    /// `Unsupported` where the system does not tell; no route leads there; what else the system says.
    pub fn path_mtu(&self, dst: SocketAddr, src: Option<IpAddr>) -> io::Result<u32> {
        self.io.path_mtu(&self.endpoint, dst, src)
    }

    /// Takes the socket's pending error, which names no peer (`SO_ERROR`).
    ///
    /// # Errors
    /// What the system says about the question itself.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.endpoint.socket.take_error()
    }
}

/// Asks for the buffers and notes what was given; the system may give less, which is no error.
fn size_buffers(socket: &Socket, options: &SocketOptions, capabilities: &mut Capabilities) {
    if options.recv_buffer > 0 {
        #[cfg(target_os = "linux")]
        let _ = crate::sys::size_recv_buffer(socket, options.recv_buffer);
        #[cfg(not(target_os = "linux"))]
        let _ = socket.set_recv_buffer_size(options.recv_buffer);
    }
    if options.send_buffer > 0 {
        let _ = socket.set_send_buffer_size(options.send_buffer);
    }
    // Linux doubles what is asked, for its own bookkeeping, and reports the double.
    let unit = if cfg!(target_os = "linux") { 2 } else { 1 };
    let socket = SockRef::from(socket);
    capabilities.recv_buffer = socket.recv_buffer_size().unwrap_or(0) / unit;
    capabilities.send_buffer = socket.send_buffer_size().unwrap_or(0) / unit;
}

#[cfg(unix)]
impl std::os::fd::AsFd for UdpSocket {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.endpoint.socket.as_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for UdpSocket {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.endpoint.socket.as_raw_fd()
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsSocket for UdpSocket {
    fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
        self.endpoint.socket.as_socket()
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsRawSocket for UdpSocket {
    fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
        self.endpoint.socket.as_raw_socket()
    }
}
