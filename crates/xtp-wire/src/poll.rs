//! The tail of an XCNTL packet that polls a group (§9.4).

use zerocopy::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::cursor::{EncodeCursor, take};
use crate::{EncodeError, WireError};

/// Octets of the tail.
pub const POLL_LEN: usize = 24;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RawPoll {
    modulus: U16,
    remainder: U16,
    size: U32,
    grtt_us: U32,
    feedback_rate: U32,
    hold_us: U32,
    reserved: U32,
}

/// Whom of a group a poll asks, and how long the answers may spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupPoll {
    /// Of so many slices; at least 1.
    pub modulus: u16,
    /// This one; below `modulus`.
    pub remainder: u16,
    /// Members of the group.
    pub size: u32,
    /// Greatest round trip of those that hold the window, microseconds.
    pub grtt_us: u32,
    /// Status packets a second the transmitter takes.
    pub feedback_rate: u32,
    /// How long a receiver waits at most before it reports a need, microseconds.
    pub hold_us: u32,
}

impl GroupPoll {
    /// The modulus that asks one receiver alone.
    pub const ALONE: u16 = u16::MAX;

    /// The slice that holds exactly the receivers whose key ends like this one's.
    #[must_use]
    pub const fn alone(self, receiver_key: u64) -> Self {
        let modulus = Self::ALONE;
        Self {
            modulus,
            remainder: low_sixteen(receiver_key) % modulus,
            ..self
        }
    }

    /// Whether the receiver that chose this key is to answer.
    #[must_use]
    pub const fn asks(&self, receiver_key: u64) -> bool {
        self.modulus != 0 && low_sixteen(receiver_key) % self.modulus == self.remainder
    }

    /// The tail off the front, and what follows it. The reserved word is not looked at.
    pub(crate) fn take(octets: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (raw, rest): (RawPoll, _) = take(octets).ok_or(WireError::BadLength)?;
        let poll = Self {
            modulus: raw.modulus.get(),
            remainder: raw.remainder.get(),
            size: raw.size.get(),
            grtt_us: raw.grtt_us.get(),
            feedback_rate: raw.feedback_rate.get(),
            hold_us: raw.hold_us.get(),
        };
        if poll.remainder < poll.modulus {
            Ok((poll, rest))
        } else {
            Err(WireError::BadGroup)
        }
    }

    /// Writes the tail; returns how many octets it took.
    ///
    /// # Errors
    ///
    /// [`EncodeError::BufferTooSmall`]; [`EncodeError::Invalid`] when `remainder` is not below `modulus`.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        if self.remainder >= self.modulus {
            return Err(EncodeError::Invalid);
        }
        let mut writer = EncodeCursor::new(out);
        writer.put(&RawPoll {
            modulus: self.modulus.into(),
            remainder: self.remainder.into(),
            size: self.size.into(),
            grtt_us: self.grtt_us.into(),
            feedback_rate: self.feedback_rate.into(),
            hold_us: self.hold_us.into(),
            reserved: 0.into(),
        })?;
        Ok(writer.len())
    }
}

/// The number by which a receiver is counted among the slices.
#[expect(clippy::cast_possible_truncation, reason = "the low 16 bits are meant")]
const fn low_sixteen(key: u64) -> u16 {
    key as u16
}

#[cfg(test)]
#[path = "poll_tests.rs"]
mod tests;
