//! GNACK: how many symbols of which blocks are missing, or are going to be sent (§9.6).

use bitflags::bitflags;
use zerocopy::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::control::RawControl;
use crate::cursor::{EncodeCursor, take};
use crate::{Control, DELAY_NONE, EncodeError, WireError};

/// Octets before the blocks.
pub const GNACK_LEN: usize = 32;
/// Most blocks one GNACK names, the lowest ones first.
pub const MAX_GNACK_BLOCKS: usize = 64;

bitflags! {
    /// Flags of GNACK.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GnackFlags: u16 {
        /// From the transmitter to the group: so many rows are going to be sent.
        const ANNOUNCEMENT = 1;
        /// From a receiver that was not asked: `delay_us` is [`DELAY_NONE`].
        const UNSOLICITED = 2;
    }
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawGnack {
    control: RawControl,
    count: U16,
    flags: U16,
    delay_us: U32,
    rxrate: U32,
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
    /// `need` symbols (of an announcement: parity rows) of block number `block`, which has `total` symbols.
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
    /// The common control segment; zeros in an announcement.
    pub control: Control,
    /// Who says it, and why.
    pub flags: GnackFlags,
    /// Microseconds between the arrival of the poll `echo` names and this answer, or [`DELAY_NONE`].
    pub delay_us: u32,
    /// What the receiver measured, in units of 256 octets a second; 0 unknown.
    pub rxrate: u32,
    /// The blocks, lowest first, at most [`MAX_GNACK_BLOCKS`].
    pub blocks: &'a [GnackBlock],
}

impl<'a> Gnack<'a> {
    /// A receiver's answer to a poll that arrived `delay_us` ago.
    #[must_use]
    pub const fn answer(control: Control, delay_us: u32, rxrate: u32, blocks: &'a [GnackBlock]) -> Self {
        Self {
            control,
            flags: GnackFlags::empty(),
            delay_us,
            rxrate,
            blocks,
        }
    }

    /// A receiver's report that nobody asked for.
    #[must_use]
    pub const fn unsolicited(control: Control, rxrate: u32, blocks: &'a [GnackBlock]) -> Self {
        Self {
            control,
            flags: GnackFlags::UNSOLICITED,
            delay_us: DELAY_NONE,
            rxrate,
            blocks,
        }
    }

    /// The transmitter's word on the rows it is going to send.
    #[must_use]
    pub const fn announcement(blocks: &'a [GnackBlock]) -> Self {
        Self {
            control: Control {
                rseq: 0,
                alloc: 0,
                echo: 0,
            },
            flags: GnackFlags::ANNOUNCEMENT,
            delay_us: DELAY_NONE,
            rxrate: 0,
            blocks,
        }
    }

    /// Reads the whole payload.
    pub(crate) fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let (raw, rest): (RawGnack, _) = take(octets).ok_or(WireError::BadLength)?;
        let blocks = <[GnackBlock]>::ref_from_bytes_with_elems(rest, raw.count.get().into())
            .map_err(|_| WireError::BadLength)?;
        let gnack = Self {
            control: raw.control.into(),
            flags: GnackFlags::from_bits_truncate(raw.flags.get()),
            delay_us: raw.delay_us.get(),
            rxrate: raw.rxrate.get(),
            blocks,
        };
        if gnack.has_sound_blocks() {
            Ok(gnack)
        } else {
            Err(WireError::BadGroup)
        }
    }

    /// Ascending, each with something of something; a receiver never lacks more than there is.
    fn has_sound_blocks(&self) -> bool {
        let announced = self.flags.contains(GnackFlags::ANNOUNCEMENT);
        let sound = |(_, need, total): (u32, u16, u16)| need > 0 && total > 0 && (announced || need <= total);
        self.blocks.len() <= MAX_GNACK_BLOCKS
            && self.iter().all(sound)
            && self.blocks.is_sorted_by(|a, b| a.block.get() < b.block.get())
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
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::Invalid`] for more than [`MAX_GNACK_BLOCKS`] blocks, blocks
    /// that do not ascend, and needs that no receiver can have.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        if !self.has_sound_blocks() {
            return Err(EncodeError::Invalid);
        }
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawGnack {
            control: self.control.into(),
            count: u16::try_from(self.blocks.len())
                .map_err(|_| EncodeError::TooLong)?
                .into(),
            flags: self.flags.bits().into(),
            delay_us: self.delay_us.into(),
            rxrate: self.rxrate.into(),
        })?;
        writer.put(self.blocks)?;
        Ok(writer.len())
    }
}
