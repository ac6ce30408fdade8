//! How long packets are: what a header takes of a datagram stands here, in no one's arithmetic.

use crate::HEADER_LEN;

/// Octets of a packet whose payload (what `dlen` counts) has so many.
#[inline]
#[must_use]
pub const fn packet(payload: usize) -> usize {
    HEADER_LEN + payload
}

/// Octets of payload that a datagram of so many has room for; none if it is shorter than a header.
#[inline]
#[must_use]
pub const fn payload(datagram: usize) -> usize {
    datagram.saturating_sub(HEADER_LEN)
}
