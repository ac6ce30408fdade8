//! Packets of a group into a batch: one packet is written once and leaves by each of several routes.

use bytes::Bytes;
use xtp_core::transmit::{Route, TransmitBatch};
use xtp_wire::{Packet, Protection};

/// Payloads up to this size are copied behind their header: cheaper than another piece for the kernel.
const COPY_LIMIT: usize = 256;

/// Adds `packet` to `out`, followed by `payload`, which is not in its body. Returns the octets of the datagram; 0, and nothing
/// added, for a packet that can not be encoded.
pub(super) fn push(
    out: &mut TransmitBatch,
    routes: &[Route],
    packet: &Packet<'_>,
    payload: &[Bytes],
    protection: Protection,
) -> usize {
    let length: usize = payload.iter().map(Bytes::len).sum();
    let copied = length <= COPY_LIMIT;
    let by_reference: &[Bytes] = if copied { &[] } else { payload };
    let pieces = payload.iter().map(|bytes| &bytes[..]);
    let Some(at) = out.write_packet(packet, protection, pieces) else {
        return 0;
    };
    let octets = out.arena.len() - at + length;
    if copied {
        for bytes in payload {
            out.arena.extend_from_slice(bytes);
        }
    }
    let end = out.arena.len();
    for (index, route) in routes.iter().enumerate() {
        // Each destination has its octets of the arena: whoever joins a train joins what follows it there.
        let from = match index {
            0 => at,
            _ => {
                let copy = out.arena.len();
                out.arena.extend_from_within(at..end);
                copy
            }
        };
        out.push(*route, false, from, by_reference);
    }
    octets
}
