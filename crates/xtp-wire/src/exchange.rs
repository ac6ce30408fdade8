//! XDATA alone, and plain DATA behind it: what an exchange of messages consists of, without the room a
//! [`Packet`](crate::Packet) has for others.

use zerocopy::FromBytes;
use zerocopy::big_endian::U32;

use crate::control::RawControl;
use crate::{Control, Format, HEADER_LEN, Header, Options, XDATA_LEN, checksum};

/// An XDATA packet without a tag and without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Xdata<'a> {
    /// The common header.
    pub header: Header,
    /// Status of the opposite stream.
    pub control: Control,
    /// As in [`Xcntl::delay_us`](crate::Xcntl::delay_us).
    pub delay_us: u32,
    /// The data.
    pub data: &'a [u8],
}

impl<'a> Xdata<'a> {
    /// Reads a datagram that is such a packet; for any other see [`Packet::parse`](crate::Packet::parse).
    #[inline]
    #[must_use]
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (header, payload) = whole(datagram, Format::Xdata)?;
        let (control, rest) = RawControl::read_from_prefix(payload).ok()?;
        let (delay_us, data) = U32::read_from_prefix(rest).ok()?;
        Some(Self {
            header,
            control: control.into(),
            delay_us: delay_us.get(),
            data,
        })
    }

    /// Writes everything before the data, the check field as zero: [`seal`](crate::seal) puts in the right one.
    #[inline]
    pub fn encode_head(&self, out: &mut [u8; HEADER_LEN + XDATA_LEN]) {
        let (head, body) = out.split_at_mut(HEADER_LEN);
        if let Some(head) = head.first_chunk_mut() {
            self.header.encode(head);
        }
        // The room is what it takes.
        let written = self.control.encode_xdata(self.delay_us, body);
        debug_assert_eq!(written, Ok(XDATA_LEN));
    }
}

/// Reads a datagram that is a DATA packet without a tag and without padding: its header and its data. For any other see
/// [`Packet::parse`](crate::Packet::parse).
#[inline]
#[must_use]
pub fn parse_plain(datagram: &[u8]) -> Option<(Header, &[u8])> {
    whole(datagram, Format::Data)
}

/// Header and payload of a packet of this format, without tag and padding.
#[inline]
fn whole(datagram: &[u8], format: Format) -> Option<(Header, &[u8])> {
    parse_head(datagram)
        .filter(|(header, _)| header.format == format && !header.options.contains(Options::BTAG))
}

/// Reads the header of a datagram that is one packet without padding, of whatever format, if its check field is right;
/// what follows it is given as it is: for whoever knows what it must be. For any other see
/// [`Packet::parse`](crate::Packet::parse).
#[inline]
#[must_use]
pub fn parse_head(datagram: &[u8]) -> Option<(Header, &[u8])> {
    let header = Header::parse(datagram).ok()?;
    let (head, payload) = datagram.split_first_chunk::<HEADER_LEN>()?;
    if usize::try_from(header.dlen) != Ok(payload.len()) {
        return None;
    }
    let covered = match header.options.contains(Options::NOCHECK) {
        true => &[],
        false => payload,
    };
    checksum::verifies(head, covered).then_some((header, payload))
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
