//! Spans: ranges a reader holds beyond `rseq` (§1.5).

use core::iter::FusedIterator;

use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::control::RawControl;
use crate::cursor::EncodeCursor;
use crate::{Control, EncodeError, WireError};

/// Octets of one span.
pub const SPAN_LEN: usize = 16;
/// Octets before the spans of an ECNTL packet.
pub const ECNTL_LEN: usize = 24;

/// One range `[left, right)` as it lies in a packet.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Span {
    left: U64,
    right: U64,
}

impl Span {
    /// The range from `left` up to, not including, `right`.
    #[inline]
    #[must_use]
    pub const fn new(left: u64, right: u64) -> Self {
        Self {
            left: U64::new(left),
            right: U64::new(right),
        }
    }

    /// `(left, right)`.
    #[inline]
    #[must_use]
    pub const fn get(self) -> (u64, u64) {
        (self.left.get(), self.right.get())
    }
}

impl Default for Span {
    /// An empty span, to fill an array with before the true ones are known.
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl core::fmt::Debug for Span {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (left, right) = self.get();
        write!(f, "{left}..{right}")
    }
}

/// Spans in order: none empty, at least one octet between neighbours and before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spans<'a>(&'a [Span]);

impl<'a> Spans<'a> {
    /// No spans.
    pub const EMPTY: Self = Self(&[]);

    /// Checks the rules and borrows.
    ///
    /// # Errors
    ///
    /// [`WireError::BadSpans`] unless `rseq < left < right < next left < ...`.
    pub fn new(rseq: u64, spans: &'a [Span]) -> Result<Self, WireError> {
        let mut end = rseq;
        for span in spans {
            let (left, right) = span.get();
            if left <= end || right <= left {
                return Err(WireError::BadSpans);
            }
            end = right;
        }
        Ok(Self(spans))
    }

    /// `count` spans off the front, and what follows them.
    pub(crate) fn take(rseq: u64, count: usize, octets: &'a [u8]) -> Result<(Self, &'a [u8]), WireError> {
        let (spans, rest) =
            <[Span]>::ref_from_prefix_with_elems(octets, count).map_err(|_| WireError::BadLength)?;
        Ok((Self::new(rseq, spans)?, rest))
    }

    /// How many.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The spans as `(left, right)`, lowest first.
    pub fn iter(
        self,
    ) -> impl ExactSizeIterator<Item = (u64, u64)> + DoubleEndedIterator + FusedIterator + Clone + 'a {
        self.0.iter().map(|span| span.get())
    }

    /// Octets the spans take.
    #[must_use]
    pub const fn encoded_len(self) -> usize {
        self.0.len() * SPAN_LEN
    }

    /// Writes the spans alone, without their count.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    pub fn encode(self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        writer.put(self.0)?;
        Ok(writer.len())
    }

    /// Writes the whole payload of an ECNTL packet: control segment, count, spans.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::TooLong`] for 2^32 spans and more;
    /// [`EncodeError::Invalid`] when the first span does not lie beyond `control.rseq`.
    pub fn encode_ecntl(self, control: Control, out: &mut [u8]) -> Result<usize, EncodeError> {
        self.check_beyond(control.rseq)?;
        let count = u32::try_from(self.len()).map_err(|_| EncodeError::TooLong)?;
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawControl::from(control))?;
        writer.put(&U32::new(count))?;
        writer.put(self.0)?;
        Ok(writer.len())
    }

    /// The spans are in order among themselves by construction, but may be sent with another `rseq`.
    pub(crate) fn check_beyond(self, rseq: u64) -> Result<(), EncodeError> {
        match self.0.first() {
            Some(first) if first.get().0 <= rseq => Err(EncodeError::Invalid),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "spans_tests.rs"]
mod tests;
