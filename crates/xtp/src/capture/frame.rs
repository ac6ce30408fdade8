//! Frames of a capture: an IP header, perhaps a UDP header, and the packet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// How packets are framed in a capture.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, Hash)]
pub enum Framing {
    /// Directly behind an IP header of protocol 36, as XTP without a carrier: what dissectors know. UDP ports
    /// are lost.
    #[default]
    Protocol36,
    /// As the UDP datagrams they were.
    Udp,
}

/// IP protocol number of XTP.
const PROTOCOL_XTP: u8 = 36;
const PROTOCOL_UDP: u8 = 17;
const IPV4_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const HOP_LIMIT: u8 = 64;

/// Writes one frame to `out`; `false`, with nothing of use in `out`, if the addresses are of two families or the
/// packet is longer than an IP packet can be.
pub(super) fn build(
    framing: Framing,
    src: SocketAddr,
    dst: SocketAddr,
    payload: &[&[u8]],
    id: u16,
    out: &mut Vec<u8>,
) -> bool {
    let octets: usize = payload.iter().map(|piece| piece.len()).sum();
    let (protocol, transport) = match framing {
        Framing::Protocol36 => (PROTOCOL_XTP, octets),
        Framing::Udp => (PROTOCOL_UDP, octets + UDP_HEADER),
    };
    let written = match (src.ip(), dst.ip()) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => ipv4(src, dst, protocol, transport, id, out),
        (IpAddr::V6(src), IpAddr::V6(dst)) => ipv6(src, dst, protocol, transport, out),
        _ => false,
    };
    if !written {
        return false;
    }
    if framing == Framing::Udp {
        udp(src, dst, payload, transport, out);
    }
    for piece in payload {
        out.extend_from_slice(piece);
    }
    true
}

fn ipv4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, transport: usize, id: u16, out: &mut Vec<u8>) -> bool {
    let Ok(total) = u16::try_from(transport + IPV4_HEADER) else {
        return false;
    };
    let at = out.len();
    out.extend_from_slice(&[0x45, 0]);
    out.extend_from_slice(&total.to_be_bytes());
    out.extend_from_slice(&id.to_be_bytes());
    // Don't fragment, as the packets really leave.
    out.extend_from_slice(&[0x40, 0, HOP_LIMIT, protocol, 0, 0]);
    out.extend_from_slice(&src.octets());
    out.extend_from_slice(&dst.octets());
    let check = !fold(sum(&out[at..]));
    out[at + 10..at + 12].copy_from_slice(&check.to_be_bytes());
    true
}

fn ipv6(src: Ipv6Addr, dst: Ipv6Addr, protocol: u8, transport: usize, out: &mut Vec<u8>) -> bool {
    let Ok(length) = u16::try_from(transport) else {
        return false;
    };
    out.extend_from_slice(&[0x60, 0, 0, 0]);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&[protocol, HOP_LIMIT]);
    out.extend_from_slice(&src.octets());
    out.extend_from_slice(&dst.octets());
    true
}

fn udp(src: SocketAddr, dst: SocketAddr, payload: &[&[u8]], length: usize, out: &mut Vec<u8>) {
    // `length` fits: the IP header before it has already taken it.
    let length = u16::try_from(length).unwrap_or(u16::MAX);
    let mut total = u64::from(PROTOCOL_UDP) + u64::from(length) * 2;
    for ip in [src.ip(), dst.ip()] {
        total += match ip {
            IpAddr::V4(ip) => sum(&ip.octets()),
            IpAddr::V6(ip) => sum(&ip.octets()),
        };
    }
    total += u64::from(src.port()) + u64::from(dst.port());
    let whole: Vec<u8> = payload.concat();
    total += sum(&whole);
    // All ones stands for a sum of zero; zero would say "no checksum".
    let check = match !fold(total) {
        0 => u16::MAX,
        check => check,
    };
    for word in [src.port(), dst.port(), length, check] {
        out.extend_from_slice(&word.to_be_bytes());
    }
}

/// Sum of big-endian 16-bit words, an odd tail padded with zero.
fn sum(octets: &[u8]) -> u64 {
    octets
        .chunks(2)
        .map(|pair| u64::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])))
        .sum()
}

/// One's complement fold to 16 bits.
fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    u16::try_from(total).unwrap_or(u16::MAX)
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
