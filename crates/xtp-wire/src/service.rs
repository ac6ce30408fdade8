//! Values of the service octet of a traffic specifier (§1.7): a hint for matching listeners and
//! closing; what goes over the wire is decided by the option bits alone.

/// Nothing said.
pub const UNSPECIFIED: u8 = 0;
/// Unacknowledged datagram.
pub const DATAGRAM: u8 = 1;
/// Acknowledged datagram.
pub const ACKNOWLEDGED: u8 = 2;
/// Transaction: request and response.
pub const TRANSACTION: u8 = 3;
/// Reliable unicast stream.
pub const STREAM: u8 = 4;
/// Unacknowledged multicast stream.
pub const MULTICAST_UNACKNOWLEDGED: u8 = 5;
/// Reliable multicast stream.
pub const MULTICAST_RELIABLE: u8 = 6;
