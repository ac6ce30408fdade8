//! PARITY: one coded symbol of a block (§9.5). Layout only; making and using symbols is not
//! this crate's work.

use zerocopy::big_endian::{U16, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::cursor::{EncodeCursor, take};
use crate::{EncodeError, WireError};

/// Octets before the coded symbol.
pub const PARITY_LEN: usize = 16;
/// Octets of the descriptor at the end of every coded symbol: where messages end in it.
pub const DESCRIPTOR_LEN: usize = 8;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawParity {
    k: U16,
    row: U16,
    symbol_len: U16,
    scheme: u8,
    flags: u8,
    end: U64,
}

/// The payload of a PARITY packet; the header's `seq` is the first octet of the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parity<'a> {
    /// Source symbols of the block.
    pub k: u16,
    /// Which parity row.
    pub row: u16,
    /// Octets of data in a symbol.
    pub symbol_len: u16,
    /// How it is coded: 1 GF(2^8) Cauchy, 2 GF(2^16).
    pub scheme: u8,
    /// [`Parity::PROACTIVE`], [`Parity::LAST`].
    pub flags: u8,
    /// One past the last octet of the block that is no filling.
    pub end: u64,
    /// `symbol_len` + [`DESCRIPTOR_LEN`] octets.
    pub symbol: &'a [u8],
}

impl<'a> Parity<'a> {
    /// Sent before anybody asked.
    pub const PROACTIVE: u8 = 1;
    /// Nothing further follows in this repair.
    pub const LAST: u8 = 2;

    /// The code over GF(2^8); blocks and rows together are at most 256.
    pub const SCHEME_BYTES: u8 = 1;
    /// The code over GF(2^16).
    pub const SCHEME_WORDS: u8 = 2;

    /// Reads the whole payload. Whether it agrees with what was agreed on is the engine's to judge.
    pub(crate) fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let (raw, symbol): (RawParity, _) = take(octets).ok_or(WireError::BadLength)?;
        let parity = Self {
            k: raw.k.get(),
            row: raw.row.get(),
            symbol_len: raw.symbol_len.get(),
            scheme: raw.scheme,
            flags: raw.flags,
            end: raw.end.get(),
            symbol,
        };
        if !parity.has_whole_symbol() {
            Err(WireError::BadLength)
        } else if parity.is_a_row() {
            Ok(parity)
        } else {
            Err(WireError::BadGroup)
        }
    }

    /// There is no block without symbols, and scheme 1 has no row that shares a number with a symbol.
    fn is_a_row(&self) -> bool {
        let rows_end = if self.scheme == Self::SCHEME_BYTES {
            255
        } else {
            u32::MAX
        };
        self.k > 0 && self.symbol_len > 0 && u32::from(self.k) + u32::from(self.row) <= rows_end
    }

    fn has_whole_symbol(&self) -> bool {
        self.symbol.len() == usize::from(self.symbol_len) + DESCRIPTOR_LEN
    }

    /// Octets of the payload.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        PARITY_LEN + self.symbol.len()
    }

    /// Writes the payload; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::Invalid`] when `symbol` has another length than it
    /// should, is empty, or no row of the code is called `row`.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        if !self.has_whole_symbol() || !self.is_a_row() {
            return Err(EncodeError::Invalid);
        }
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawParity {
            k: self.k.into(),
            row: self.row.into(),
            symbol_len: self.symbol_len.into(),
            scheme: self.scheme,
            flags: self.flags,
            end: self.end.into(),
        })?;
        writer.put(self.symbol)?;
        Ok(writer.len())
    }
}
