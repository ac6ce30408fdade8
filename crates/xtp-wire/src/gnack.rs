//! GNACK: how many symbols of which blocks are missing (§1.11). Layout only.

use zerocopy::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::control::RawControl;
use crate::cursor::{Writer, take};
use crate::{Control, EncodeError, WireError};

/// Octets before the blocks.
pub const GNACK_LEN: usize = 24;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawGnack {
    control: RawControl,
    count: U16,
    flags: U16,
}

/// One block as it lies in a packet.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct GnackBlock {
    block: U32,
    need: U16,
    total: U16,
}

impl GnackBlock {
    /// `need` symbols of block number `block`, which has `total`.
    #[must_use]
    pub const fn new(block: u32, need: u16, total: u16) -> Self {
        Self {
            block: U32::new(block),
            need: U16::new(need),
            total: U16::new(total),
        }
    }

    /// `(block, need, total)`.
    #[must_use]
    pub const fn get(self) -> (u32, u16, u16) {
        (self.block.get(), self.need.get(), self.total.get())
    }
}

impl core::fmt::Debug for GnackBlock {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (block, need, total) = self.get();
        write!(f, "block {block}: {need} of {total}")
    }
}

/// The payload of a GNACK packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gnack<'a> {
    /// The common control segment.
    pub control: Control,
    /// [`Gnack::ADVERTISEMENT`].
    pub flags: u16,
    /// The blocks.
    pub blocks: &'a [GnackBlock],
}

impl<'a> Gnack<'a> {
    /// From the transmitter to the group: what it is going to send.
    pub const ADVERTISEMENT: u16 = 1;

    /// Reads the whole payload.
    pub(crate) fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let (raw, rest): (RawGnack, _) = take(octets).ok_or(WireError::BadLength)?;
        let blocks = <[GnackBlock]>::ref_from_bytes_with_elems(rest, raw.count.get().into())
            .map_err(|_| WireError::BadLength)?;
        Ok(Self {
            control: raw.control.into(),
            flags: raw.flags.get(),
            blocks,
        })
    }

    /// The blocks as `(block, need, total)`.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u16, u16)> + Clone + 'a {
        self.blocks.iter().map(|block| block.get())
    }

    /// Octets of the payload.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        GNACK_LEN + size_of_val(self.blocks)
    }

    /// Writes the payload; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::TooLong`] for more than 65 535 blocks.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = Writer::new(out);
        writer.put(&RawGnack {
            control: self.control.into(),
            count: u16::try_from(self.blocks.len())
                .map_err(|_| EncodeError::TooLong)?
                .into(),
            flags: self.flags.into(),
        })?;
        writer.put(self.blocks)?;
        Ok(writer.len())
    }
}
