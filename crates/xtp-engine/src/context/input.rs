//! One parsed packet and how it came, as `receive` sees it.

use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
use xtp_core::recv::Payload;
use xtp_core::transmit::Ecn;
use xtp_wire::Packet;

/// A packet on its way into a context.
pub(crate) struct Input<'a> {
    pub(crate) src: SocketAddr,
    pub(crate) dst: Option<IpAddr>,
    pub(crate) ecn: Ecn,
    /// Octets of UDP payload.
    pub(crate) octets: usize,
    pub(crate) backing: Option<&'a Bytes>,
    pub(crate) packet: &'a Packet<'a>,
}

impl<'a> Input<'a> {
    /// The payload as something to keep: a reference into the carrier's memory where that is worth it.
    pub(crate) fn payload(&self, data: &'a [u8]) -> Payload<'a> {
        Payload::of(self.backing, data)
    }
}
