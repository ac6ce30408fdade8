//! Octets of a stream as they came: in one place, or in parts with headers between.

use bytes::Bytes;

/// Octets in order that lie in one place, or in parts of equal length at equal distances, as a train of packets brought
/// them. However many parts there are, it is one reference to the memory they lie in.
#[derive(Clone, Debug)]
pub struct Octets {
    /// From the first octet to the last, with whatever lies between the parts.
    bytes: Bytes,
    /// Octets between two parts, which are none of the stream's.
    between: usize,
    /// Octets of a part, at least 1; the last may have fewer.
    part: usize,
    len: usize,
}

impl Octets {
    /// `count` parts of `part` octets (1 or more) each, `between` octets apart, from the beginning of `bytes` on.
    pub fn spread(mut bytes: Bytes, between: usize, part: usize, count: usize) -> Self {
        debug_assert!(part > 0 && count > 0);
        bytes.truncate((between + part) * count - between);
        Self {
            bytes,
            between,
            part,
            len: part * count,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// In how many parts they lie.
    pub fn count(&self) -> usize {
        self.len.div_ceil(self.part)
    }

    /// The parts in order, none of them empty.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let part = self.part;
        self.bytes
            .chunks(self.part + self.between)
            .map(move |chunk| &chunk[..part.min(chunk.len())])
    }

    /// The parts in order, each with a reference to the memory of its own.
    pub fn into_parts(mut self) -> impl Iterator<Item = Bytes> {
        core::iter::from_fn(move || (!self.is_empty()).then(|| self.split_part()))
    }

    /// Whether they lie in one place.
    #[inline]
    pub(super) fn is_together(&self) -> bool {
        self.len <= self.part
    }

    /// The octets, which lie in one place.
    #[inline]
    pub(super) fn into_bytes(self) -> Bytes {
        debug_assert!(self.is_together());
        self.bytes
    }

    /// How many whole parts `room` octets hold.
    pub(super) fn parts_within(&self, room: usize) -> usize {
        room / self.part
    }

    /// Takes the first part off.
    pub(super) fn split_part(&mut self) -> Bytes {
        self.split_parts(1).bytes
    }

    /// Takes so many parts off, or all.
    pub(super) fn split_parts(&mut self, count: usize) -> Self {
        let octets = count.saturating_mul(self.part).min(self.len);
        if octets == 0 {
            return Bytes::new().into();
        }
        if octets == self.len {
            return core::mem::replace(self, Bytes::new().into());
        }
        let stride = self.part + self.between;
        let mut bytes = self.bytes.split_to(count * stride);
        bytes.truncate(bytes.len() - self.between);
        self.len -= octets;
        Self {
            bytes,
            len: octets,
            ..*self
        }
    }

    /// Takes the first `max` octets off, or all, where they lie in one place.
    pub(super) fn split_octets(&mut self, max: usize) -> Bytes {
        debug_assert!(self.is_together());
        let octets = max.min(self.len);
        self.len -= octets;
        self.bytes.split_to(octets)
    }
}

/// The same octets, however they lie.
impl PartialEq for Octets {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.parts().flatten().eq(other.parts().flatten())
    }
}

impl Eq for Octets {}

impl From<Bytes> for Octets {
    /// In one place.
    #[inline]
    fn from(bytes: Bytes) -> Self {
        let len = bytes.len();
        Self {
            bytes,
            between: 0,
            part: len.max(1),
            len,
        }
    }
}

#[cfg(test)]
#[path = "octets_tests.rs"]
mod tests;
