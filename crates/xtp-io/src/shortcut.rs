//! Sending and receiving by a second socket for one busy peer.

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::counters::add;
use crate::socket::UdpSocket;
use crate::sys::{self, RecvBatch, Shortcut};
use crate::train::TrafficClass;
#[cfg(target_os = "linux")]
use crate::train::{MAX_DATAGRAM, MAX_SEGMENTS};

impl UdpSocket {
    /// Opens a shortcut to `peer`, which must be the only one at this socket's address.
    ///
    /// # Errors
    /// `Unsupported` where the system cannot; what the system says.
    pub fn shortcut(&self, peer: SocketAddr) -> io::Result<Shortcut> {
        self.io.shortcut(&self.endpoint, peer)
    }

    /// As [`UdpSocket::send_one`], by a shortcut, and of datagrams of `segment` octets side by side, of which the last may
    /// be shorter: false, and nothing sent, for another peer, source or traffic class than its own, and where it cannot.
    #[inline]
    pub fn send_by(
        &self,
        shortcut: &mut Shortcut,
        dst: SocketAddr,
        src: Option<IpAddr>,
        class: impl Into<TrafficClass>,
        octets: &[u8],
        segment: usize,
    ) -> bool {
        let counts = &self.endpoint.counts;
        if !shortcut.leads(dst, src, class.into())
            || octets.is_empty()
            || segment == 0
            || !shortcut.cuts(octets.len(), segment)
        {
            return false;
        }
        add(&counts.send_calls, 1);
        if let Err(error) = sys::send_by(shortcut, octets) {
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
        shortcut.ecn_history.sent();
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
        class: impl Into<TrafficClass>,
        octets: &[u8],
        segment: usize,
    ) -> bool {
        #[cfg(target_os = "linux")]
        {
            let counts = &self.endpoint.counts;
            // More than a call takes would count as failures of lending, which is then given up.
            let fits =
                segment > 0 && octets.len() <= MAX_DATAGRAM && octets.len().div_ceil(segment) <= MAX_SEGMENTS;
            if !fits || !shortcut.leads(dst, src, class.into()) {
                return false;
            }
            // Where the length of a segment is named, if only of one, the device is left the checksum.
            let named =
                shortcut.segments == Some(segment) || shortcut.segments.is_some() && shortcut.cut(segment);
            if named && sys::lend_by(shortcut, counts, octets) {
                add(&counts.datagrams_out, octets.len().div_ceil(segment) as u64);
                add(&counts.octets_out, octets.len() as u64);
                shortcut.ecn_history.sent();
                return true;
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (shortcut, dst, src, class.into(), octets, segment);
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
