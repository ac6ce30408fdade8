//! One parsed packet and how it came, as `receive` sees it.

use crate::recv::Payload;
use crate::transmit::Ecn;
use bytes::Bytes;
use core::net::{IpAddr, SocketAddr};
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
    /// Its user has read the payload already.
    pub(crate) passed: bool,
}

/// In place of a payload that was read before it is stored.
static PASSED: [u8; 2_048] = [0; 2_048];

/// Payloads below this are copied even where their memory could be shared: a reference costs about as much.
pub(super) const SHARE_FROM: usize = 1_024;

impl<'a> Input<'a> {
    /// The payload as something to keep: a reference into the carrier's memory where that is worth it.
    pub(crate) fn payload(&self, data: &'a [u8]) -> Payload<'a> {
        match PASSED.get(..data.len()).filter(|_| self.passed) {
            Some(octets) => Payload::Passed(octets),
            None => Self::payload_of(self.backing, data),
        }
    }

    /// The same of octets that lie in `backing`, if they lie in something that can be kept.
    pub(crate) fn payload_of(backing: Option<&Bytes>, data: &'a [u8]) -> Payload<'a> {
        match backing {
            Some(backing) if data.len() >= SHARE_FROM => Payload::Shared(backing.slice_ref(data)),
            _ => Payload::Copy(data),
        }
    }
}
