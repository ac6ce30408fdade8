//! The data segment (§1.8).

use zerocopy::big_endian::U64;

use crate::cursor::{EncodeCursor, take};
use crate::{EncodeError, Options, WireError};

/// Octets of a tag.
pub const TAG_LEN: usize = 8;

/// Octets of a stream, with the tag before them if there is one.
///
/// To send data that lies elsewhere, encode a segment with no data (which writes the tag alone) and let the
/// data follow as another piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DataSegment<'a> {
    /// Out-of-band value bound to the octet that follows it; takes 8 octets of the sequence.
    pub tag: Option<u64>,
    /// What the user sent.
    pub data: &'a [u8],
}

impl<'a> DataSegment<'a> {
    /// All that is left of a packet with these options.
    #[inline]
    pub(crate) fn parse(options: Options, octets: &'a [u8]) -> Result<Self, WireError> {
        if !options.contains(Options::BTAG) {
            return Ok(Self {
                tag: None,
                data: octets,
            });
        }
        let (tag, data): (U64, _) = take(octets).ok_or(WireError::BadLength)?;
        Ok(Self {
            tag: Some(tag.get()),
            data,
        })
    }

    /// How far the segment takes the sequence: data and tag.
    #[inline]
    #[must_use]
    pub const fn sequence_len(&self) -> usize {
        self.data.len() + if self.tag.is_some() { TAG_LEN } else { 0 }
    }

    /// Octets in the packet, the same as [`sequence_len`](Self::sequence_len).
    #[inline]
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        self.sequence_len()
    }

    /// Writes tag and data; returns how many octets they took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    #[inline]
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        if let Some(tag) = self.tag {
            writer.put(&U64::new(tag))?;
        }
        writer.put(self.data)?;
        Ok(writer.len())
    }
}
