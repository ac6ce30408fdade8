//! What ranks send each other: messages that say who sent them, to whom, when, and that can be verified to the last
//! octet.

use crate::error::{Problem, Worked};

/// Octets of a message that are not filled.
pub(crate) const HEADER: usize = 24;

/// A way to another rank.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Link {
    /// The rank at its other end.
    pub(crate) rank: usize,
    /// Which of the links to this rank.
    pub(crate) channel: u32,
}

/// What a message says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Who sent it.
    pub(crate) from: u16,
    /// For whom it is.
    pub(crate) to: u16,
    /// On which of the links between them.
    pub(crate) channel: u32,
    /// In which step.
    pub(crate) step: u32,
    /// What else there is to say.
    pub(crate) word: u64,
}

impl Message {
    /// The link it came on, as its receiver names it.
    pub(crate) fn link(&self) -> Link {
        Link {
            rank: usize::from(self.from),
            channel: self.channel,
        }
    }

    fn check(&self, len: usize) -> u32 {
        let first = u64::from(self.from) << 48 | u64::from(self.to) << 32 | u64::from(self.channel);
        let second = u64::from(self.step) << 32 | len as u64;
        (mix(mix(mix(first) ^ second) ^ self.word) >> 32) as u32
    }

    /// Fills `octets` (at least [`HEADER`]) with the message.
    pub(crate) fn write(&self, octets: &mut [u8]) {
        let check = self.check(octets.len());
        let (head, rest) = octets.split_at_mut(HEADER);
        head[..2].copy_from_slice(&self.from.to_be_bytes());
        head[2..4].copy_from_slice(&self.to.to_be_bytes());
        head[4..8].copy_from_slice(&self.channel.to_be_bytes());
        head[8..12].copy_from_slice(&self.step.to_be_bytes());
        head[12..16].copy_from_slice(&check.to_be_bytes());
        head[16..].copy_from_slice(&self.word.to_be_bytes());
        rest.fill(check as u8);
    }

    /// Reads a message of `size` octets.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(crate) fn read(octets: &[u8], size: usize) -> Worked<Self> {
        if octets.len() != size {
            let text = format!("a message of {} octets arrived instead of {size}", octets.len());
            return Err(Problem::new(text));
        }
        let (head, rest) = octets.split_at(HEADER);
        let word =
            |from: usize| u32::from_be_bytes([head[from], head[from + 1], head[from + 2], head[from + 3]]);
        let message = Self {
            from: (word(0) >> 16) as u16,
            to: word(0) as u16,
            channel: word(4),
            step: word(8),
            word: u64::from(word(16)) << 32 | u64::from(word(20)),
        };
        let check = message.check(size);
        // All octets are equal if the first is right and each equals the one before.
        let filled = rest.first().is_none_or(|first| *first == check as u8)
            && rest
                .get(1..)
                .is_none_or(|others| *others == rest[..rest.len() - 1]);
        if word(12) != check || !filled {
            return Err(Problem::new(format!("a damaged message arrived: {message:?}")));
        }
        Ok(message)
    }
}

/// Spreads every bit of a number over all.
pub(crate) fn mix(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
