//! Tokens of COOKIE packets and TLV 1 (§1.10).

use zerocopy::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::EncodeError;
use crate::cursor::{EncodeCursor, take};

/// Octets of a token.
pub const TOKEN_LEN: usize = 24;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawToken {
    epoch: u8,
    kind: u8,
    reserved: U16,
    time: U32,
    mac: [u8; 16],
}

/// Proof that an address is truly its sender's; made and checked by the responder alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    /// Which of the responder's secrets.
    pub epoch: u8,
    /// [`Token::COOKIE`] or [`Token::SOURCE`].
    pub kind: u8,
    /// When it was made: UTC seconds / 16.
    pub time: u32,
    /// First 16 octets of the HMAC-SHA256, computed elsewhere; compare in constant time.
    pub mac: [u8; 16],
}

impl Token {
    /// Kind 0: bound to address, port, key and service; good for 32 s.
    pub const COOKIE: u8 = 0;
    /// Kind 1: bound to the address alone; good for 10 min.
    pub const SOURCE: u8 = 1;

    /// A token of exactly [`TOKEN_LEN`] octets.
    pub(crate) fn parse(octets: &[u8]) -> Option<Self> {
        match take::<RawToken>(octets)? {
            (raw, []) => Some(Self {
                epoch: raw.epoch,
                kind: raw.kind,
                time: raw.time.get(),
                mac: raw.mac,
            }),
            _ => None,
        }
    }

    /// Always [`TOKEN_LEN`].
    #[must_use]
    pub const fn encoded_len(&self) -> usize {
        TOKEN_LEN
    }

    /// Writes the token; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`].
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawToken {
            epoch: self.epoch,
            kind: self.kind,
            reserved: U16::ZERO,
            time: self.time.into(),
            mac: self.mac,
        })?;
        Ok(writer.len())
    }
}
