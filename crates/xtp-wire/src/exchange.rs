//! XDATA alone, and plain DATA behind it: what an exchange of messages consists of, without the room a
//! [`Packet`](crate::Packet) has for others.

use zerocopy::big_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::control::RawControl;
use crate::header::RawHeader;
use crate::packet::opened;
use crate::{Control, DataSegment, Format, HEADER_LEN, Header, Options, XDATA_LEN};

/// Octets of an XDATA packet before its data, where it has no tag.
pub const XDATA_HEAD_LEN: usize = HEADER_LEN + XDATA_LEN;

/// What stands before the data of an XDATA packet, as it lies in a datagram: fields are decoded when asked for.
#[derive(Debug, Clone, Copy, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct XdataHead {
    header: RawHeader,
    control: RawControl,
    delay_us: U32,
}

impl XdataHead {
    /// The head and the data of a datagram that is an XDATA packet without padding, if its check field is right; for any other
    /// see [`Packet::parse`](crate::Packet::parse).
    #[inline(always)]
    #[must_use]
    pub fn parse(datagram: &[u8]) -> Option<(&Self, DataSegment<'_>)> {
        let (head, rest) = Self::ref_from_prefix(datagram).ok()?;
        let raw = &head.header;
        if !raw.is(Format::Xdata) {
            return None;
        }
        whole(datagram, raw.dlen(), raw.options())?;
        Some((head, DataSegment::parse(raw.options(), rest).ok()?))
    }

    /// The head of a datagram that is known to be such a packet; `None` only if it is too short.
    #[inline]
    #[must_use]
    pub fn of(datagram: &[u8]) -> Option<&Self> {
        Self::ref_from_prefix(datagram).ok().map(|(head, _)| head)
    }

    /// The common header.
    #[inline]
    #[must_use]
    pub fn header(&self) -> Header {
        self.header.decoded(Format::Xdata)
    }

    /// Status of the opposite stream.
    #[inline]
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.into()
    }

    /// As in [`Xcntl::delay_us`](crate::Xcntl::delay_us).
    #[inline]
    #[must_use]
    pub fn delay_us(&self) -> u32 {
        self.delay_us.get()
    }
}

/// Reads a datagram that is a DATA packet without a tag and without padding: its header and its data. For any other see
/// [`Packet::parse`](crate::Packet::parse).
#[inline]
#[must_use]
pub fn parse_plain(datagram: &[u8]) -> Option<(Header, &[u8])> {
    parse_head(datagram)
        .filter(|(header, _)| header.format == Format::Data && !header.options.contains(Options::BTAG))
}

/// Reads the header of a datagram that is one packet without padding, of whatever format, if its check field is right;
/// what follows it is given as it is: for whoever knows what it must be. For any other see
/// [`Packet::parse`](crate::Packet::parse).
#[inline]
#[must_use]
pub fn parse_head(datagram: &[u8]) -> Option<(Header, &[u8])> {
    let header = Header::parse(datagram).ok()?;
    Some((header, whole(datagram, header.dlen, header.options)?))
}

/// The payload of a packet whose header says this, if it is right and nothing follows it.
#[inline]
fn whole(datagram: &[u8], dlen: u32, options: Options) -> Option<&[u8]> {
    let (payload, padding) = opened(datagram, dlen, options).ok()?;
    padding.is_empty().then_some(payload)
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
