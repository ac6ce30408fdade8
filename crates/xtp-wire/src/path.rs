//! PATH: does this path work, and for packets how large (§1.10)?

use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::cursor::{EncodeCursor, take};
use crate::{EncodeError, WireError};

/// Octets of a PATH payload without padding.
pub const PATH_LEN: usize = 16;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawPath {
    kind: u8,
    reserved: [u8; 3],
    size: U32,
    nonce: U64,
}

/// Question or answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PathKind {
    /// To be answered at once, to where it came from.
    Challenge = 1,
    /// Repeats nonce and size of the challenge.
    Response = 2,
}

/// The fields of a PATH packet. A challenge that probes for size has padding after them, inside `dlen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Path {
    /// Question or answer.
    pub kind: PathKind,
    /// Octets of the challenge's datagram.
    pub size: u32,
    /// Chosen by the challenger, hard to guess.
    pub nonce: u64,
}

impl Path {
    /// Reads the fields; padding is not looked at.
    pub(crate) fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let (raw, _): (RawPath, _) = take(octets).ok_or(WireError::BadLength)?;
        let kind = match raw.kind {
            1 => PathKind::Challenge,
            2 => PathKind::Response,
            _ => return Err(WireError::BadPath),
        };
        Ok(Self {
            kind,
            size: raw.size.get(),
            nonce: raw.nonce.get(),
        })
    }

    /// Always [`PATH_LEN`]; padding comes on top.
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        PATH_LEN
    }

    /// Writes the fields without padding; returns how many octets they took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawPath {
            kind: self.kind as u8,
            reserved: [0; 3],
            size: self.size.into(),
            nonce: self.nonce.into(),
        })?;
        Ok(writer.len())
    }
}
