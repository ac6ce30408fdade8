//! A second socket at the same address for one busy peer.

use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, UdpSocket as StdSocket};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::address::for_family;
use crate::batch::RecvBatch;
use crate::counters::add;
use crate::socket::UdpSocket;
use crate::train::Ecn;
#[cfg(target_os = "linux")]
use crate::train::{MAX_DATAGRAM, MAX_SEGMENTS};

/// A socket at the address of another, connected to one peer: the system looks up no route for what it sends, and hands
/// it what that peer sends.
///
/// As long as it is open, nothing of its peer arrives at the other socket. Before it is dropped,
/// [`turn_away`](Self::turn_away) and take what is still in it: then nothing is lost.
#[derive(Debug)]
pub struct Shortcut {
    pub(crate) socket: StdSocket,
    pub(crate) peer: SocketAddr,
    pub(crate) local: Option<IpAddr>,
    /// What came before it was connected may still be there, from anybody.
    pub(crate) unsure: AtomicBool,
    /// The mark of what it sends.
    pub(crate) mark: Ecn,
    /// When to ask for the mark of what arrives.
    #[cfg(target_os = "linux")]
    pub(crate) told: crate::sys::Told,
    /// Whether what arrives is joined.
    #[cfg(target_os = "linux")]
    pub(crate) gro: crate::sys::Gro,
    /// How long what arrives in crowds is.
    #[cfg(target_os = "linux")]
    pub(crate) run: crate::sys::Run,
    /// What is lent goes through it.
    #[cfg(target_os = "linux")]
    pub(crate) pipe: crate::sys::Pipe,
    /// Octets of the datagrams into which the system cuts what it sends, 0 for none; `None` where it cannot.
    pub(crate) segments: Option<usize>,
}

impl Shortcut {
    /// Who it is for.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Where what it brings was sent to.
    pub fn local(&self) -> Option<IpAddr> {
        self.local
    }

    /// The mark of what it sends.
    pub fn mark(&self) -> Ecn {
        self.mark
    }

    /// Whether what is in it may be of anybody, because it was never found empty: the system is asked who sent it.
    #[inline]
    pub fn asks_sender(&self) -> bool {
        self.unsure.load(Ordering::Relaxed)
    }

    /// So many of `room` came: what is taken next came when it was connected, if there was not more.
    #[inline]
    #[cfg(target_os = "linux")]
    pub(crate) fn took(&self, count: usize, room: usize) {
        if count < room && self.asks_sender() {
            self.unsure.store(false, Ordering::Relaxed);
        }
    }

    /// Another mark for what it sends.
    ///
    /// # Errors
    /// What the system says; the mark is then unchanged, or not known to have changed.
    pub fn set_mark(&mut self, mark: Ecn) -> io::Result<()> {
        let socket = socket2::SockRef::from(&self.socket);
        let class = u32::from(mark.bits());
        // A socket of IPv6 may carry IPv4, whose mark is another option.
        if self.socket.local_addr()?.is_ipv6() {
            socket.set_tclass_v6(class)?;
        }
        socket.set_tos_v4(class)?;
        self.mark = mark;
        Ok(())
    }

    /// Whether what goes there, from there and with that mark may leave by it.
    #[inline]
    fn leads(&self, dst: SocketAddr, src: Option<IpAddr>, ecn: Ecn) -> bool {
        dst == self.peer && (src.is_none() || src == self.local) && ecn == self.mark
    }

    /// Whether `octets` would leave as datagrams of `segment` octets, the last of what is left; says so to the system
    /// where it does not know.
    #[inline]
    fn cuts(&mut self, octets: usize, segment: usize) -> bool {
        match self.segments {
            // What is no longer than a segment leaves as it is.
            Some(known) if known == segment || octets <= segment && (known == 0 || octets <= known) => true,
            Some(_) => self.cut(if octets <= segment { 0 } else { segment }),
            None => octets <= segment,
        }
    }

    #[cold]
    fn cut(&mut self, segment: usize) -> bool {
        let told = u16::try_from(segment)
            .map_err(|_| io::ErrorKind::InvalidInput.into())
            .and_then(|told| crate::sys::set_segment(self, told));
        if told.is_ok() {
            self.segments = Some(segment);
        }
        told.is_ok()
    }

    /// Wakes whoever sleeps in it.
    ///
    /// # Errors
    /// What the system says.
    pub fn bell(&self) -> io::Result<Bell> {
        self.socket.try_clone().map(Bell)
    }

    /// From now on what the peer sends arrives at the other socket; what is here stays to be taken.
    ///
    /// # Errors
    /// What the system says.
    pub fn turn_away(&self) -> io::Result<()> {
        // Nobody sends from the address of this socket itself.
        self.socket.connect(self.socket.local_addr()?)
    }

    /// It was turned away, and what its peer sends is to arrive here again.
    ///
    /// # Errors
    /// What the system says.
    pub fn turn_back(&self) -> io::Result<()> {
        let local = self.socket.local_addr()?;
        let peer = for_family(self.peer, local.is_ipv6()).ok_or(io::ErrorKind::InvalidInput)?;
        self.unsure.store(true, Ordering::Relaxed);
        self.socket.connect(peer)
    }
}

/// Ends a sleep in a shortcut ([`UdpSocket::recv_asleep_by`]) from another thread.
#[derive(Debug)]
pub struct Bell(StdSocket);

impl Bell {
    /// Whoever sleeps in the shortcut wakes, and nobody sleeps in it any more: it is good for being given up.
    ///
    /// # Errors
    /// What the system says.
    pub fn ring(&self) -> io::Result<()> {
        socket2::SockRef::from(&self.0).shutdown(Shutdown::Read)
    }
}

impl UdpSocket {
    /// Opens a shortcut to `peer`, which must be the only one at this socket's address.
    ///
    /// # Errors
    /// `Unsupported` where the system cannot; what the system says.
    pub fn shortcut(&self, peer: SocketAddr) -> io::Result<Shortcut> {
        self.io.shortcut(&self.endpoint, peer)
    }

    /// As [`UdpSocket::send_one`], by a shortcut, and of datagrams of `segment` octets side by side, of which the last may
    /// be shorter: false, and nothing sent, for another peer, source or mark than its own, and where it cannot.
    #[inline]
    pub fn send_by(
        &self,
        shortcut: &mut Shortcut,
        dst: SocketAddr,
        src: Option<IpAddr>,
        ecn: Ecn,
        octets: &[u8],
        segment: usize,
    ) -> bool {
        let counts = &self.endpoint.counts;
        if !shortcut.leads(dst, src, ecn)
            || octets.is_empty()
            || segment == 0
            || !shortcut.cuts(octets.len(), segment)
        {
            return false;
        }
        add(&counts.send_calls, 1);
        if let Err(error) = crate::sys::send_by(shortcut, octets) {
            // The general way finds out why. Perhaps the device cannot cut: it is not asked again.
            if octets.len() > segment && error.kind() != io::ErrorKind::WouldBlock {
                shortcut.cut(0);
                shortcut.segments = None;
            }
            return false;
        }
        add(&counts.datagrams_out, octets.len().div_ceil(segment) as u64);
        add(&counts.octets_out, octets.len() as u64);
        #[cfg(target_os = "linux")]
        shortcut.told.sent();
        true
    }

    /// As [`UdpSocket::send_by`], of 32 KiB or more, and without a copy: the system refers to the memory until the datagrams
    /// were received, whatever the peer acknowledges. What is written there before they were changes them, and what is
    /// written there afterwards may be seen by a peer that has not taken them: the memory is to be one that
    /// [lends](crate::FrameMemory::lends).
    #[inline]
    pub fn lend_by(
        &self,
        shortcut: &mut Shortcut,
        dst: SocketAddr,
        src: Option<IpAddr>,
        ecn: Ecn,
        octets: &[u8],
        segment: usize,
    ) -> bool {
        #[cfg(target_os = "linux")]
        {
            let counts = &self.endpoint.counts;
            // More than a call takes would count as failures of lending, which is then given up.
            let fits =
                segment > 0 && octets.len() <= MAX_DATAGRAM && octets.len().div_ceil(segment) <= MAX_SEGMENTS;
            if !fits || !shortcut.leads(dst, src, ecn) {
                return false;
            }
            // Where the length of a segment is named, if only of one, the device is left the checksum.
            let named =
                shortcut.segments == Some(segment) || shortcut.segments.is_some() && shortcut.cut(segment);
            if named && crate::sys::lend_by(shortcut, counts, octets) {
                add(&counts.datagrams_out, octets.len().div_ceil(segment) as u64);
                add(&counts.octets_out, octets.len() as u64);
                shortcut.told.sent();
                return true;
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (shortcut, dst, src, ecn, octets, segment);
        false
    }

    /// As [`UdpSocket::recv_within`], by a shortcut: one datagram at most, or some that came joined.
    ///
    /// # Errors
    /// As [`UdpSocket::recv`].
    pub fn recv_by(&self, shortcut: &Shortcut, batch: &mut RecvBatch, looks: u32) -> io::Result<usize> {
        self.io.recv_by(&self.endpoint, shortcut, batch, looks)?;
        Ok(self.count(batch))
    }

    /// As [`UdpSocket::recv_by`], but sleeps as [`UdpSocket::recv_asleep`] does. What arrives at the socket itself, wakers
    /// included, ends no such sleep.
    ///
    /// # Errors
    /// As [`UdpSocket::recv`], and `ConnectionRefused` if the peer's host says that nobody is there.
    pub fn recv_asleep_by(&self, shortcut: &Shortcut, batch: &mut RecvBatch) -> io::Result<usize> {
        self.io.recv_asleep_by(&self.endpoint, shortcut, batch)?;
        Ok(self.count(batch))
    }

    /// As [`UdpSocket::recv_by`], of a datagram about which nothing is to be told but its octets: how many came, 0 if none
    /// did (an empty one is as none). They are [`RecvBatch::landed`]; the batch holds nothing before
    /// [`UdpSocket::keep_by`]. `None`, and nothing done, if more is to be told: that is for [`UdpSocket::recv_by`].
    ///
    /// # Errors
    /// As [`UdpSocket::recv`].
    #[inline]
    pub fn look_by(
        &self,
        shortcut: &Shortcut,
        batch: &mut RecvBatch,
        looks: u32,
    ) -> io::Result<Option<usize>> {
        let looked = self.io.look_by(&self.endpoint, shortcut, batch, looks)?;
        if let Some(octets @ 1..) = looked {
            add(&self.endpoint.counts.datagrams_in, 1);
            add(&self.endpoint.counts.octets_in, octets as u64);
        }
        Ok(looked)
    }

    /// Puts a datagram of so many octets, which [`UdpSocket::look_by`] brought, into `batch`.
    pub fn keep_by(&self, shortcut: &Shortcut, batch: &mut RecvBatch, octets: usize) {
        self.io.keep_by(shortcut, batch, octets);
    }

    /// As [`UdpSocket::recv_within`], by a shortcut, and as many as it: for a stream.
    ///
    /// # Errors
    /// As [`UdpSocket::recv`].
    pub fn recv_many_by(&self, shortcut: &Shortcut, batch: &mut RecvBatch, looks: u32) -> io::Result<usize> {
        self.io.recv_many_by(&self.endpoint, shortcut, batch, looks)?;
        Ok(self.count(batch))
    }
}
