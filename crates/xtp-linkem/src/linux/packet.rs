//! What has to be known of an IP packet.

/// Whether this is IPv6 talking to itself: multicast reports and router solicitations, which every interface sends
/// and nobody on a link with two ends needs. They would blur the counters.
pub(super) fn is_housekeeping(packet: &[u8]) -> bool {
    const DESTINATION: std::ops::Range<usize> = 24..40;
    /// All routers, and all MLDv2-capable routers.
    const ROUTERS: [u8; 2] = [0x02, 0x16];
    let Some(destination) = packet.get(DESTINATION).filter(|_| packet[0] >> 4 == 6) else {
        return false;
    };
    let (last, rest) = (destination[15], &destination[2..15]);
    destination[..2] == [0xff, 0x02] && rest.iter().all(|&octet| octet == 0) && ROUTERS.contains(&last)
}

/// Sets Congestion Experienced if the packet's sender understands it; whether it did.
pub(super) fn mark(packet: &mut [u8]) -> bool {
    const NOT_CAPABLE: u8 = 0b00;
    const EXPERIENCED: u8 = 0b11;
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => {
            let before = packet[1];
            if before & EXPERIENCED == NOT_CAPABLE {
                return false;
            }
            packet[1] |= EXPERIENCED;
            let change = u32::from(packet[1] - before);
            let checksum = u32::from(u16::from_be_bytes([packet[10], packet[11]]));
            // One's complement: what is added to the header is taken from its checksum (RFC 1624).
            let sum = (!checksum & 0xffff) + change;
            let folded = !((sum & 0xffff) + (sum >> 16)) as u16;
            packet[10..12].copy_from_slice(&folded.to_be_bytes());
            true
        }
        Some(6) if packet.len() >= 40 => {
            // The two bits lie across the first octets: version, traffic class, flow label.
            let capable = packet[1] & (EXPERIENCED << 4) != NOT_CAPABLE;
            if capable {
                packet[1] |= EXPERIENCED << 4;
            }
            capable
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
