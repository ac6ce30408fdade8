//! What is known of the way to a peer: how long it takes, how much fits, and whether it leads to the peer at all.

/// Least size of a datagram to which a report reduces a path, octets of UDP payload: what is left of the 576 octets that every
/// IPv4 host accepts (RFC 791).
pub const LEAST_DATAGRAM: usize = 576 - 28;
/// Size of datagrams on a path of which nothing is known, octets of UDP payload (RFC 8899, 5.1.2).
pub const BASE_DATAGRAM: usize = 1_200;

pub mod hint;
pub mod migration;
pub mod mtu;
pub mod rtt;
