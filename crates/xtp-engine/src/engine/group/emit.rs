//! Packets of a group into a batch.

use crate::transmit::{Route, TransmitBatch};
use bytes::Bytes;
use xtp_wire::{HEADER_LEN, Header, Options, Packet, seal};

/// Payloads up to this size are copied behind their header: cheaper than another piece for the kernel.
const COPY_LIMIT: usize = 256;

/// Adds `packet` to `out`, followed by `payload`, which is not in its body. Returns the octets of the datagram; 0, and nothing
/// added, for a packet that can not be encoded.
pub(super) fn push(
    out: &mut TransmitBatch,
    routes: &[Route],
    packet: &Packet<'_>,
    payload: &[Bytes],
    checksum_payload: bool,
) -> usize {
    let mut packet = *packet;
    packet.header.options.set(Options::NOCHECK, !checksum_payload);
    let length: usize = payload.iter().map(Bytes::len).sum();
    let copied = length <= COPY_LIMIT;
    let by_reference: &[Bytes] = if copied { &[] } else { payload };
    let at = out.arena.len();
    let own = packet.encoded_len();
    out.arena.resize(at + own, 0);
    let encoded = packet.encode(&mut out.arena[at..]).is_ok();
    let header = Header::parse(&out.arena[at..]).ok().filter(|_| encoded);
    let Some(mut header) = header else {
        out.arena.truncate(at);
        return 0;
    };
    if length > 0 {
        header.dlen = header
            .dlen
            .saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
        header.check = 0;
        if let Some(head) = out.arena[at..].first_chunk_mut::<HEADER_LEN>() {
            header.encode(head);
        }
        seal(&mut out.arena[at..], payload.iter().map(|bytes| &bytes[..]));
    }
    if copied {
        for bytes in payload {
            out.arena.extend_from_slice(bytes);
        }
    }
    for (index, route) in routes.iter().enumerate() {
        // Each destination has its octets of the arena: whoever joins a train joins what follows it there.
        let from = match index {
            0 => at,
            _ => {
                let copy = out.arena.len();
                out.arena
                    .extend_from_within(at..at + own + if copied { length } else { 0 });
                copy
            }
        };
        out.push(*route, false, from, by_reference);
    }
    own + length
}
