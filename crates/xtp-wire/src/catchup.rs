//! The forward stream of a catch-up: which ranges a laggard lacks (§9.7).

use crate::WireError;

/// Octets of one record.
pub const RANGE_LEN: usize = 16;

/// Octets of a group's stream that a member lacks: from `from` up to, not including, `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MissingRange {
    from: u64,
    to: u64,
}

impl MissingRange {
    /// `None` for a range without octets.
    #[must_use]
    pub const fn new(from: u64, to: u64) -> Option<Self> {
        if from < to { Some(Self { from, to }) } else { None }
    }

    /// First octet.
    #[must_use]
    pub const fn from(self) -> u64 {
        self.from
    }

    /// One past the last octet.
    #[must_use]
    pub const fn to(self) -> u64 {
        self.to
    }

    /// How many octets; at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub const fn len(self) -> u64 {
        self.to - self.from
    }

    /// As it lies in the stream.
    #[must_use]
    pub const fn encode(self) -> [u8; RANGE_LEN] {
        ((self.from as u128) << 64 | self.to as u128).to_be_bytes()
    }

    /// Reads one record.
    ///
    /// # Errors
    ///
    /// [`WireError::BadGroup`] for a range without octets.
    pub fn parse(record: [u8; RANGE_LEN]) -> Result<Self, WireError> {
        let ([from, to], _) = record.as_chunks::<8>() else {
            return Err(WireError::BadLength);
        };
        Self::new(u64::from_be_bytes(*from), u64::from_be_bytes(*to)).ok_or(WireError::BadGroup)
    }
}

/// Puts records together from a stream that comes in pieces of any size; keeps at most fifteen octets.
#[derive(Debug, Clone, Copy, Default)]
pub struct RangeReader {
    begun: [u8; RANGE_LEN],
    held: usize,
}

impl RangeReader {
    /// Nothing read yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            begun: [0; RANGE_LEN],
            held: 0,
        }
    }

    /// The next record, taken off the front of `octets`; `None` once they are used up.
    ///
    /// # Errors
    ///
    /// [`WireError::BadGroup`] for a record without octets; the reader goes on behind it.
    pub fn next(&mut self, octets: &mut &[u8]) -> Result<Option<MissingRange>, WireError> {
        let taken = octets.len().min(RANGE_LEN - self.held);
        let (front, rest) = octets.split_at(taken);
        self.begun[self.held..self.held + taken].copy_from_slice(front);
        (self.held, *octets) = (self.held + taken, rest);
        if self.held < RANGE_LEN {
            return Ok(None);
        }
        self.held = 0;
        MissingRange::parse(self.begun).map(Some)
    }

    /// Whether the stream may end here.
    #[must_use]
    pub const fn is_between_records(&self) -> bool {
        self.held == 0
    }
}

#[cfg(test)]
#[path = "catchup_tests.rs"]
mod tests;
