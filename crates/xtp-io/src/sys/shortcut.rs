//! A second socket at the same address for one busy peer.
#![forbid(unsafe_code)]

use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, UdpSocket as StdSocket};
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_os = "linux")]
use super::linux::{ecn_history::EcnHistory, gro::Gro, lend::Pipe, run::ExpectedLength};
use super::set_segment;
use crate::address::for_family;
use crate::train::TrafficClass;

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
    /// The traffic class of what it sends.
    pub(crate) class: TrafficClass,
    /// When to ask for the mark of what arrives.
    #[cfg(target_os = "linux")]
    pub(crate) ecn_history: EcnHistory,
    /// Whether what arrives is joined.
    #[cfg(target_os = "linux")]
    pub(crate) gro: Gro,
    /// How long what arrives in crowds is.
    #[cfg(target_os = "linux")]
    pub(crate) run: ExpectedLength,
    /// What is lent goes through it.
    #[cfg(target_os = "linux")]
    pub(crate) pipe: Pipe,
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

    /// The traffic class of what it sends.
    pub fn class(&self) -> TrafficClass {
        self.class
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

    /// Another traffic class for what it sends.
    ///
    /// # Errors
    /// What the system says; the class is then unchanged, or not known to have changed.
    pub fn set_class(&mut self, class: impl Into<TrafficClass>) -> io::Result<()> {
        let class = class.into();
        let socket = socket2::SockRef::from(&self.socket);
        let bits = u32::from(class.bits());
        // A socket of IPv6 may carry IPv4, whose class is another option.
        #[cfg(unix)]
        if self.socket.local_addr()?.is_ipv6() {
            socket.set_tclass_v6(bits)?;
        }
        socket.set_tos_v4(bits)?;
        self.class = class;
        Ok(())
    }

    /// Whether what goes there, from there and of that class may leave by it.
    #[inline]
    pub(crate) fn leads(&self, dst: SocketAddr, src: Option<IpAddr>, class: TrafficClass) -> bool {
        dst == self.peer && (src.is_none() || src == self.local) && class == self.class
    }

    /// Whether `octets` would leave as datagrams of `segment` octets, the last of what is left; says so to the system
    /// where it does not know.
    #[inline]
    pub(crate) fn cuts(&mut self, octets: usize, segment: usize) -> bool {
        match self.segments {
            // What is no longer than a segment leaves as it is.
            Some(known) if known == segment || octets <= segment && (known == 0 || octets <= known) => true,
            Some(_) => self.cut(if octets <= segment { 0 } else { segment }),
            None => octets <= segment,
        }
    }

    #[cold]
    pub(crate) fn cut(&mut self, segment: usize) -> bool {
        let told = u16::try_from(segment)
            .map_err(|_| io::ErrorKind::InvalidInput.into())
            .and_then(|told| set_segment(self, told));
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

/// Ends a sleep in a shortcut ([`UdpSocket::recv_asleep_by`](crate::UdpSocket::recv_asleep_by)) from another thread.
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
