//! Service numbers of our own programs: `dst_port` of the address segment, not the UDP port (§2.3).

/// Answered by every program that listens at all.
pub const ECHO: u16 = 7;
/// Messages and streams from standard input to standard output.
pub const MESSAGE: u16 = 9;
/// Transactions that run a program.
pub const CALL: u16 = 10;
/// File copies.
pub const FILES: u16 = 21;
/// Messages among many peers, matched by tag.
pub const MESH: u16 = 22;
