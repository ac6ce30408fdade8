//! The header of R-UDP and T-UDP: magic, type, length, number; 16 octets, big-endian.

/// Octets of the header.
pub(super) const HEADER: usize = 16;
const MAGIC: u16 = 0x5255;

/// What a packet is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// DATA of R-UDP, REQ of T-UDP.
    Request = 1,
    /// ACK of R-UDP, RESP of T-UDP.
    Reply = 2,
    /// ACK2 of R-UDP, ACK of T-UDP.
    Confirm = 3,
}

/// A packet that was understood.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub(super) kind: Kind,
    pub(super) id: u64,
    pub(super) payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads a datagram; `None` if it is none of ours.
    pub(super) fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (header, payload) = datagram.split_first_chunk::<HEADER>()?;
        let [m0, m1, kind, reserved, l0, l1, l2, l3, id @ ..] = *header;
        let length = u32::from_be_bytes([l0, l1, l2, l3]);
        if u16::from_be_bytes([m0, m1]) != MAGIC || reserved != 0 || length as usize != payload.len() {
            return None;
        }
        let kind = match kind {
            1 => Kind::Request,
            2 => Kind::Reply,
            3 => Kind::Confirm,
            _ => return None,
        };
        Some(Self {
            kind,
            id: u64::from_be_bytes(id),
            payload,
        })
    }
}

/// Writes a header in front of `length` octets of payload that stand in `datagram` already.
pub(super) fn head(datagram: &mut [u8; HEADER], kind: Kind, id: u64, length: u32) {
    datagram[..2].copy_from_slice(&MAGIC.to_be_bytes());
    datagram[2] = kind as u8;
    datagram[3] = 0;
    datagram[4..8].copy_from_slice(&length.to_be_bytes());
    datagram[8..].copy_from_slice(&id.to_be_bytes());
}

/// A whole packet.
pub(super) fn packet(kind: Kind, id: u64, payload: &[u8]) -> Vec<u8> {
    let mut header = [0; HEADER];
    head(&mut header, kind, id, payload.len() as u32);
    let mut packet = Vec::with_capacity(HEADER + payload.len());
    packet.extend_from_slice(&header);
    packet.extend_from_slice(payload);
    packet
}
