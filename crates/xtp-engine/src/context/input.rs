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

/// Payloads below this are copied even where their memory could be shared: a reference costs about as much.
pub(super) const SHARE_FROM: usize = 1_024;

/// A reference keeps the whole of the carrier's memory: what it is for has to be at least one in so many of the octets there,
/// or what is charged to an association would be a small part of what it keeps.
const PART: usize = 2;

/// Whether so many octets are worth keeping all that lies in `backing`.
pub(super) fn is_worth_sharing(backing: &Bytes, octets: usize) -> bool {
    octets >= SHARE_FROM && octets >= backing.len() / PART
}

impl<'a> Input<'a> {
    /// The payload as something to keep: a reference into the carrier's memory where that is worth it.
    pub(crate) fn payload(&self, data: &'a [u8]) -> Payload<'a> {
        Self::payload_of(self.backing, data)
    }

    /// The same of octets that lie in `backing`, if they lie in something that can be kept.
    pub(crate) fn payload_of(backing: Option<&Bytes>, data: &'a [u8]) -> Payload<'a> {
        match backing {
            Some(backing) if is_worth_sharing(backing, data.len()) => {
                Payload::Shared(backing.slice_ref(data))
            }
            _ => Payload::Copy(data),
        }
    }
}
