//! Where the peer is, what it was sent and what came from it (§7.6, §7.4).

use core::net::{IpAddr, SocketAddr};
use xtp_core::path::migration::PathValidation;
use xtp_wire::serial_gt;

/// The peer's address and what is known about it.
pub(crate) struct Peer {
    pub(crate) addr: SocketAddr,
    /// Our address the peer's packets were sent to.
    pub(crate) local: Option<IpAddr>,
    /// Key of the FOREIGN entry, by which early packets arrive.
    pub(crate) foreign: Option<(SocketAddr, u64)>,
    /// §7.3: the peer has shown that it receives what is sent to its address. Initiators trust whom they called.
    pub(crate) validated: bool,
    /// UDP payload octets received from and sent to an address not validated yet.
    pub(crate) received: u64,
    pub(crate) sent: u64,
    /// Whether the peer knows that we receive, as far as we know, and the sync of the packet by which.
    pub(crate) proof: Proof,
    pub(crate) proving: u32,
    pub(crate) paths: PathValidation,
    pub(crate) mtu: xtp_core::path::mtu::MtuSearch,
    /// Largest datagram that will ever be tried on this path.
    pub(crate) largest_datagram: usize,
}

/// What we know of the packets that show the peer that we receive what it sends (§7.3): an initiator asks until one of them
/// is known to have arrived (§3.7.3).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// None left.
    Unsent,
    /// The newest packet with an echo. Packets behind it may prove nothing.
    Echo,
    /// Every packet from this one on has the peer's key, and proves.
    Key,
    /// One arrived.
    Arrived,
}

/// Octets always kept for one CNTL {SREQ} (§7.3).
pub(crate) const RESERVED_FOR_CONTROL: u64 = 88;

impl Peer {
    pub(crate) fn new(
        addr: SocketAddr,
        local: Option<IpAddr>,
        mtu: xtp_core::path::mtu::MtuSearch,
        largest_datagram: usize,
    ) -> Self {
        Self {
            addr,
            local,
            foreign: None,
            validated: false,
            received: 0,
            sent: 0,
            proof: Proof::Unsent,
            proving: 0,
            paths: PathValidation::new(addr),
            mtu,
            largest_datagram,
        }
    }

    /// FIRST came from its present address, which was told our key then.
    pub(crate) fn is_where_it_began(&self) -> bool {
        self.foreign.is_none_or(|(from, _)| from == self.addr)
    }

    /// Where FIRST came from, at a responder.
    pub(crate) fn source(&self) -> Option<IpAddr> {
        self.foreign.map(|(source, _)| source.ip())
    }

    /// The packet `sync` leaves, with an echo.
    #[inline]
    pub(crate) fn note_echo(&mut self, sync: u32) {
        if let Proof::Unsent | Proof::Echo = self.proof {
            (self.proof, self.proving) = (Proof::Echo, sync);
        }
    }

    /// Packets from `sync` on have the peer's key.
    pub(crate) fn note_key(&mut self, sync: u32) {
        if let Proof::Unsent | Proof::Echo = self.proof {
            (self.proof, self.proving) = (Proof::Key, sync);
        }
    }

    /// The peer says that the packet `echo` arrived.
    #[inline]
    pub(crate) fn is_echoed(&mut self, echo: u32) {
        let arrived = match self.proof {
            Proof::Arrived => return,
            Proof::Unsent => false,
            Proof::Echo => self.proving == echo,
            Proof::Key => !serial_gt(self.proving, echo),
        };
        if arrived {
            (self.proof, self.proving) = (Proof::Arrived, 0);
        }
    }

    /// Octets that may still be sent as data before validation; `None` = no limit.
    pub(crate) fn data_budget(&self) -> Option<u64> {
        (!self.validated).then(|| (3 * self.received).saturating_sub(self.sent + RESERVED_FOR_CONTROL))
    }

    /// Octets that may still be sent before validation; `None` = no limit.
    pub(crate) fn spare(&self) -> Option<u64> {
        (!self.validated).then(|| (3 * self.received).saturating_sub(self.sent))
    }

    /// Whether a packet of `octets` may leave.
    pub(crate) fn allows_control(&self, octets: u64) -> bool {
        self.validated || self.sent + octets <= 3 * self.received
    }
}
