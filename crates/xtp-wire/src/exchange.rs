//! XDATA alone, and plain DATA behind it: what an exchange of messages consists of, without the room a
//! [`Packet`](crate::Packet) has for others.

use zerocopy::big_endian::U32;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::control::RawControl;
use crate::header::RawHeader;
use crate::{Control, Format, HEADER_LEN, Header, Options, XDATA_LEN, checksum};

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
    /// The head and the data of a datagram that is an XDATA packet without a tag and without padding, if its check field is
    /// right; for any other see [`Packet::parse`](crate::Packet::parse).
    #[inline(always)]
    #[must_use]
    pub fn parse(datagram: &[u8]) -> Option<(&Self, &[u8])> {
        let (head, data) = Self::ref_from_prefix(datagram).ok()?;
        let (octets, payload) = datagram.split_first_chunk::<HEADER_LEN>()?;
        let raw = &head.header;
        let its = raw.is(Format::Xdata) && !raw.options().contains(Options::BTAG);
        if !its || usize::try_from(raw.dlen()) != Ok(payload.len()) {
            return None;
        }
        let covered = match raw.options().contains(Options::NOCHECK) {
            true => &[],
            false => payload,
        };
        checksum::verifies(octets, covered).then_some((head, data))
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

/// Writes everything before `data`, with the right check field: what is summed has not been written yet, so it need not
/// be read back.
#[inline]
pub fn encode_xdata_head(
    header: &Header,
    control: &Control,
    delay_us: u32,
    data: &[u8],
    out: &mut [u8; XDATA_HEAD_LEN],
) {
    let [key, command, place, seq] = header.words();
    let place = place & (u64::MAX >> 16);
    let status = [
        control.rseq,
        control.alloc,
        u64::from(control.echo) << 32 | u64::from(delay_us),
    ];
    let mut sum = checksum::word_sum([key, command, place, seq]);
    if !header.options.contains(Options::NOCHECK) {
        sum += checksum::word_sum([status[0], status[1], status[2], 0]) + checksum::payload_words(data);
    }
    let place = place | u64::from(!checksum::fold(sum)) << 48;
    let words = [key, command, place, seq, status[0], status[1], status[2]];
    for (at, word) in out.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *at = word.to_be_bytes();
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
