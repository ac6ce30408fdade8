//! Where the peer is, what it was sent and what came from it (§7.6, §7.4).

use crate::path::PathValidation;
use core::net::{IpAddr, SocketAddr};

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
    /// Something of ours carried an echo of the peer's packets.
    pub(crate) echo_sent: bool,
    /// FIRST carried a token.
    pub(crate) token_sent: bool,
    pub(crate) paths: PathValidation,
    pub(crate) mtu: crate::mtu::MtuSearch,
    /// Largest datagram that will ever be tried on this path.
    pub(crate) largest_datagram: usize,
}

/// Octets always kept for one CNTL {SREQ} (§7.3).
pub(crate) const RESERVED_FOR_CONTROL: u64 = 88;

impl Peer {
    pub(crate) fn new(
        addr: SocketAddr,
        local: Option<IpAddr>,
        mtu: crate::mtu::MtuSearch,
        largest_datagram: usize,
    ) -> Self {
        Self {
            addr,
            local,
            foreign: None,
            validated: false,
            received: 0,
            sent: 0,
            echo_sent: false,
            token_sent: false,
            paths: PathValidation::new(addr),
            mtu,
            largest_datagram,
        }
    }

    /// FIRST came from its present address, which was told our key then.
    pub(crate) fn is_where_it_began(&self) -> bool {
        self.foreign.is_none_or(|(from, _)| from == self.addr)
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
