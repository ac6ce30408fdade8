//! Which octets are which symbol of which block (§9.5), and what of a PARITY packet contradicts that.

use thiserror::Error;
use xtp_wire::{FecAgreement, Parity};

/// Why a code can not be used, or a row not be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub(crate) enum LayoutError {
    /// Numbers that no code has, or that do not fit a packet.
    #[error("no code has these numbers")]
    NoCode,
    /// A scheme other than 1.
    #[error("coding scheme {0} is not built")]
    Scheme(u8),
    /// Fewer rows than symbols: who lost more of a block than there are rows could never be helped by rows.
    #[error("fewer parity rows than symbols of a block")]
    TooFewRows,
    /// Two blocks do not fit the window or somebody's buffer: a block that can not be finished is never asked about.
    #[error("two blocks do not fit the window")]
    Window,
    /// A stream that begins where positions can not be.
    #[error("the stream begins beyond all positions")]
    Origin,
    /// Another scheme or length of symbols than was agreed on, or a row beyond those agreed on.
    #[error("a parity row of another code")]
    OtherCode,
    /// Not the first octet of a block, or a block that can not be counted.
    #[error("no block begins there")]
    NoBlock,
    /// More symbols than a block has, or an end that is not in the last of them.
    #[error("the block does not end there")]
    End,
}

/// The agreed code of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockLayout {
    symbols: u8,
    rows: u8,
    symbol_len: u16,
    origin: u64,
}

/// A place in the stream: offset octets into a symbol of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SymbolPlace {
    /// Which block.
    pub block: u32,
    /// Which symbol of it.
    pub symbol: u8,
    /// Octets into the symbol.
    pub offset: u16,
}

/// What a PARITY packet is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct RowPlace {
    /// Which block.
    pub block: u32,
    /// How many symbols it has.
    pub symbols: u8,
    /// Which row.
    pub row: u8,
    /// One past its last octet.
    pub end: u64,
}

/// Positions are below this; what lies beyond is refused before it gets here.
const POSITIONS: u64 = 1 << 62;

impl BlockLayout {
    /// What was agreed on, if packets carry `maxdata` octets and `room` is the least of the window and of the buffers of
    /// all that hold it.
    ///
    /// # Errors
    ///
    /// The first five of [`LayoutError`].
    pub(crate) fn new(agreement: &FecAgreement, maxdata: u32, room: u64) -> Result<Self, LayoutError> {
        agreement.check(maxdata).map_err(|_| LayoutError::NoCode)?;
        if agreement.scheme != Parity::SCHEME_BYTES {
            return Err(LayoutError::Scheme(agreement.scheme));
        }
        if agreement.pmax < agreement.k {
            return Err(LayoutError::TooFewRows);
        }
        if agreement.origin >= POSITIONS {
            return Err(LayoutError::Origin);
        }
        let number = |number: u16| u8::try_from(number).map_err(|_| LayoutError::NoCode);
        let layout = Self {
            symbols: number(agreement.k)?,
            rows: number(agreement.pmax)?,
            symbol_len: agreement.symbol_len,
            origin: agreement.origin,
        };
        if 2 * layout.block_len() > room {
            return Err(LayoutError::Window);
        }
        Ok(layout)
    }

    /// Octets of a block.
    #[must_use]
    pub(crate) fn block_len(&self) -> u64 {
        u64::from(self.symbols) * u64::from(self.symbol_len)
    }

    /// Octets of a symbol.
    #[must_use]
    pub(crate) const fn symbol_len(&self) -> u16 {
        self.symbol_len
    }

    /// Parity rows of a block.
    #[must_use]
    pub(crate) const fn rows(&self) -> u8 {
        self.rows
    }

    /// Where a position lies; `None` before the first block and beyond the last that can be counted.
    #[must_use]
    pub(crate) fn place(&self, position: u64) -> Option<SymbolPlace> {
        let into = position.checked_sub(self.origin)?;
        let (block, into) = (into / self.block_len(), into % self.block_len());
        let symbol_len = u64::from(self.symbol_len);
        Some(SymbolPlace {
            block: u32::try_from(block).ok()?,
            symbol: u8::try_from(into / symbol_len).ok()?,
            offset: u16::try_from(into % symbol_len).ok()?,
        })
    }

    /// Position of the first octet of a block.
    #[must_use]
    pub(crate) fn start(&self, block: u32) -> u64 {
        self.origin + u64::from(block) * self.block_len()
    }

    /// Symbols of a block of a stream that ends at `end`: all, those begun, or none.
    #[must_use]
    pub(crate) fn symbols_until(&self, block: u32, end: u64) -> u8 {
        let octets = end.saturating_sub(self.start(block)).min(self.block_len());
        let symbols = octets.div_ceil(u64::from(self.symbol_len));
        u8::try_from(symbols).unwrap_or(self.symbols)
    }

    /// One past the last octet of a block of a stream that ends at `end`.
    #[must_use]
    pub(crate) fn end_of(&self, block: u32, end: u64) -> u64 {
        let start = self.start(block);
        end.clamp(start, start + self.block_len())
    }

    /// Octets of a symbol of a block that ends at `end`: fewer than those of a symbol only where the stream ends, or 0 beyond.
    #[must_use]
    pub(crate) fn symbol_octets(&self, block: u32, symbol: u8, end: u64) -> usize {
        let start = self.start(block) + u64::from(symbol) * u64::from(self.symbol_len);
        usize::try_from(end.saturating_sub(start)).map_or(self.symbol_len.into(), |octets| {
            octets.min(self.symbol_len.into())
        })
    }

    /// Whether a symbol's descriptor says that it is the stream's last one: only that of a block that is not full says so, since
    /// rows of a full one may have left before anybody knew that nothing follows.
    #[must_use]
    pub(crate) fn is_last(&self, block: u32, symbol: u8, end: u64) -> bool {
        let is_short = end < self.start(block) + self.block_len();
        is_short && symbol + 1 == self.symbols_until(block, end)
    }

    /// Octets a DATA packet may hold that begins at `position`: none crosses the end of a symbol.
    #[must_use]
    pub(crate) fn room_at(&self, position: u64) -> u16 {
        self.place(position)
            .map_or(0, |place| self.symbol_len - place.offset)
    }

    /// What a PARITY packet at `seq` is about.
    ///
    /// # Errors
    ///
    /// The last three of [`LayoutError`]. Whether it contradicts an earlier one of the same block (another end, another number
    /// of symbols) is seen by whoever keeps the block.
    pub(crate) fn row(&self, seq: u64, parity: &Parity<'_>) -> Result<RowPlace, LayoutError> {
        let agreed = parity.scheme == Parity::SCHEME_BYTES && parity.symbol_len == self.symbol_len;
        let row = u8::try_from(parity.row).ok().filter(|row| *row < self.rows);
        let (true, Some(row)) = (agreed, row) else {
            return Err(LayoutError::OtherCode);
        };
        let first = SymbolPlace {
            block: 0,
            symbol: 0,
            offset: 0,
        };
        let place = self.place(seq).ok_or(LayoutError::NoBlock)?;
        if (SymbolPlace { block: 0, ..place }) != first {
            return Err(LayoutError::NoBlock);
        }
        let symbols = u8::try_from(parity.k)
            .ok()
            .filter(|count| (1..=self.symbols).contains(count));
        let symbols = symbols.ok_or(LayoutError::End)?;
        if parity.end > self.start(place.block) + self.block_len()
            || self.symbols_until(place.block, parity.end) != symbols
        {
            return Err(LayoutError::End);
        }
        Ok(RowPlace {
            block: place.block,
            symbols,
            row,
            end: parity.end,
        })
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
