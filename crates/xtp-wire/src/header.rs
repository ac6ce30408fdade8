//! The common header of 32 octets (§1.1).

use zerocopy::big_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::{Format, Key, Options, WireError, checksum};

/// Octets of the common header.
pub const HEADER_LEN: usize = 32;

/// Where the option bits begin.
pub(crate) const OPTIONS_OFFSET: usize = 8;
/// Where the length field lies.
pub(crate) const DLEN_OFFSET: usize = 12;
/// Where the check field lies.
pub(crate) const CHECK_OFFSET: usize = 16;

/// The version of XTP 4 in bits 7..5 of octet 11.
const VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct RawHeader {
    key: U64,
    command: U32,
    dlen: U32,
    check: U16,
    sort: U16,
    sync: U32,
    seq: U64,
}

impl RawHeader {
    /// Whether it is one of this format and the version of the others.
    #[inline]
    pub(crate) fn is(&self, format: Format) -> bool {
        self.command.get() & 0xff == (VERSION << 5) | u32::from(format.to_wire())
    }

    #[inline]
    pub(crate) fn options(&self) -> Options {
        Options::from_bits_truncate(self.command.get() >> 8)
    }

    #[inline]
    pub(crate) fn dlen(&self) -> u32 {
        self.dlen.get()
    }

    /// The header, whose format is known.
    #[inline]
    pub(crate) fn decoded(&self, format: Format) -> Header {
        Header {
            key: Key::from_wire(self.key.get()),
            options: self.options(),
            format,
            dlen: self.dlen.get(),
            check: self.check.get(),
            sort: self.sort.get(),
            sync: self.sync.get(),
            seq: self.seq.get(),
        }
    }
}

/// The common header, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which context the packet is for.
    pub key: Key,
    /// Option bits; reserved ones are not kept.
    pub options: Options,
    /// What follows.
    pub format: Format,
    /// Octets that follow the header, padding of the datagram not counted.
    pub dlen: u32,
    /// Checksum as it stands in the packet.
    pub check: u16,
    /// Priority; means something only with [`Options::SORT`].
    pub sort: u16,
    /// Synchronisation number of the sender.
    pub sync: u32,
    /// Sequence number of the first octet of data, or of the next one to come.
    pub seq: u64,
}

impl Header {
    /// Reads a header off the front of a datagram. Neither its checksum nor `dlen` is looked at, so this also
    /// works on a packet whose segments [`Packet::parse`](crate::Packet::parse) refused.
    ///
    /// # Errors
    ///
    /// [`Truncated`](WireError::Truncated), [`Version`](WireError::Version),
    /// [`UnknownFormat`](WireError::UnknownFormat), [`ObsoleteFormat`](WireError::ObsoleteFormat) or
    /// [`Sealed`](WireError::Sealed).
    #[inline]
    pub fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let (raw, _) = RawHeader::ref_from_prefix(octets).map_err(|_| WireError::Truncated)?;
        let command = raw.command.get();
        if (command >> 5) & 7 != VERSION {
            return Err(WireError::Version);
        }
        Ok(raw.decoded(Format::parsable((command & 0x1f) as u8)?))
    }

    /// Whether a datagram begins with the header of a packet of `format`: for whoever has a way of its own for some format, which
    /// [`parse`](Self::parse) is part of.
    #[inline]
    #[must_use]
    pub fn is_of(octets: &[u8], format: Format) -> bool {
        RawHeader::ref_from_prefix(octets).is_ok_and(|(raw, _)| raw.is(format))
    }

    /// A header off the front of a packet that somebody wrote, as [`parse`](Self::parse) reads it, and all octets behind it.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse).
    #[inline]
    pub fn split(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        Ok((Self::parse(octets)?, octets.get(HEADER_LEN..).unwrap_or_default()))
    }

    /// Octets of the packet, padding of the datagram not counted.
    #[inline]
    #[must_use]
    pub const fn packet_len(&self) -> usize {
        crate::size::packet(self.dlen as usize)
    }

    /// Writes the header, the check field as given; [`PacketWriter`](crate::PacketWriter) puts in the right one.
    #[inline]
    pub fn encode(&self, out: &mut [u8; HEADER_LEN]) {
        for (place, word) in out.as_chunks_mut::<8>().0.iter_mut().zip(self.words()) {
            *place = word.to_be_bytes();
        }
    }

    /// Writes the headers of packets in a row, each of which goes on where the one before ended: sync one further, seq
    /// by `dlen`. They are sealed for packets whose payload is not covered (NOCHECK), whatever this header's check is;
    /// what is the same in all of them is summed once.
    pub(crate) fn encode_run(&self, heads: &mut [[u8; HEADER_LEN]]) {
        let [key, command, place, mut seq] = self.words();
        let same = checksum::word_sum([key, command, 0, 0]);
        let place = place & (u64::MAX >> 16) & !u64::from(u32::MAX);
        let mut sync = self.sync;
        for head in heads {
            let here = place | u64::from(sync);
            let check = !checksum::fold(same + checksum::word_sum([0, 0, here, seq]));
            let words = [key, command, here | (u64::from(check) << 48), seq];
            for (at, word) in head.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *at = word.to_be_bytes();
            }
            sync = sync.wrapping_add(1);
            seq = seq.wrapping_add(u64::from(self.dlen));
        }
    }

    /// As four wide words, because whoever checks reads them so: narrower stores would have to reach memory first.
    #[inline]
    pub(crate) fn words(&self) -> [u64; HEADER_LEN / 8] {
        let command = (self.options.bits() << 8) | (VERSION << 5) | u32::from(self.format.to_wire());
        [
            self.key.to_wire(),
            (u64::from(command) << 32) | u64::from(self.dlen),
            (u64::from(self.check) << 48) | (u64::from(self.sort) << 32) | u64::from(self.sync),
            self.seq,
        ]
    }
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
