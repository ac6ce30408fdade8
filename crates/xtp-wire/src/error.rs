//! What can be wrong with octets that came in, and with values that shall go out.

use core::fmt;

use crate::diag::DiagValue;

/// Why a datagram (or one segment of it) is not a packet this crate understands.
///
/// Only the four segment errors ([`diag_value`](Self::diag_value)) may be answered with a DIAG, and only
/// when the packet was a FIRST; all others are dropped and counted (§1.3, §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WireError {
    /// Fewer octets than a header, or fewer than the header's `dlen` promises.
    Truncated,
    /// The version is not 1 (XTP 4).
    Version,
    /// A packet format that nobody assigned; the 5-bit value.
    UnknownFormat(u8),
    /// Format 6, JOIN: withdrawn by XTP 4.0b.
    ObsoleteFormat,
    /// Format 30, SEALED: encrypted, with a header of its own shape; has to be opened before it is parsed.
    Sealed,
    /// The checksum over the covered octets does not come out.
    BadChecksum,
    /// `dlen` does not fit the segments the format consists of.
    BadLength,
    /// Spans that are empty, unordered, overlapping, adjacent, or not beyond `rseq`.
    BadSpans,
    /// An address segment whose length does not fit its format, or is no multiple of eight.
    BadAddress,
    /// An address segment of a format other than null, IPv4 or IPv6; see
    /// [`First::check_formats`](crate::First::check_formats).
    BadAddressFormat,
    /// A traffic specifier whose length does not fit its format, or that holds a malformed TLV.
    BadTraffic,
    /// A traffic specifier of a format other than 0x00, 0x01 or 0x80; see
    /// [`First::check_formats`](crate::First::check_formats).
    BadTrafficFormat,
    /// An exchanged key with bit 63 set.
    BadKey,
    /// A PATH packet that is neither challenge nor response.
    BadPath,
    /// Numbers of a group's packet that no sender can mean: a slice that asks nobody, blocks that do not ascend or
    /// lack more than they have, a parity row that the code does not have, a range without octets; or a packet
    /// that nobody of a group sends that way (§9.2).
    BadGroup,
}

impl WireError {
    /// The `val` of the DIAG(1, val) that tells the sender of a FIRST about this error; `None` where the
    /// packet is to be dropped in silence.
    #[must_use]
    pub const fn diag_value(self) -> Option<DiagValue> {
        match self {
            Self::BadAddressFormat => Some(DiagValue::AddressFormat),
            Self::BadAddress => Some(DiagValue::MalformedAddress),
            Self::BadTrafficFormat => Some(DiagValue::TrafficFormat),
            Self::BadTraffic => Some(DiagValue::MalformedTraffic),
            _ => None,
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "datagram shorter than its header says",
            Self::Version => "not XTP version 4",
            Self::UnknownFormat(format) => return write!(f, "unknown packet format {format}"),
            Self::ObsoleteFormat => "obsolete packet format JOIN",
            Self::Sealed => "sealed packet",
            Self::BadChecksum => "bad checksum",
            Self::BadLength => "length does not fit the packet format",
            Self::BadSpans => "spans out of order",
            Self::BadAddress => "malformed address segment",
            Self::BadAddressFormat => "address format not supported",
            Self::BadTraffic => "malformed traffic specifier",
            Self::BadTrafficFormat => "traffic format not supported",
            Self::BadKey => "exchanged key has the return bit set",
            Self::BadPath => "neither a path challenge nor a response",
            Self::BadGroup => "not a packet of a group that can be",
        })
    }
}

impl core::error::Error for WireError {}

/// Why a value cannot be written as octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncodeError {
    /// The buffer ends before the segment does.
    BufferTooSmall,
    /// A part is longer than its length field can say.
    TooLong,
    /// An address or traffic format of which only the format number is known.
    UnsupportedFormat,
    /// A value that every receiver would refuse: unordered spans, a list of ports of odd length, an exchanged
    /// key with bit 63 set, a coded symbol that is not `symbol_len` + 8 octets long, what would be
    /// [`WireError::BadGroup`].
    Invalid,
    /// More TLVs than [`ExtendedTrafficBuilder`](crate::ExtendedTrafficBuilder) has room for.
    TooManyTlvs,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BufferTooSmall => "buffer too small for the packet",
            Self::TooLong => "part too long for its length field",
            Self::UnsupportedFormat => "segment format without a known layout",
            Self::Invalid => "value that no receiver accepts",
            Self::TooManyTlvs => "too many TLVs in one traffic specifier",
        })
    }
}

impl core::error::Error for EncodeError {}
