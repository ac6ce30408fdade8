//! The octets of a packet on their way into a store: copied there, or kept where the carrier put them.

use bytes::{Buf, Bytes};

/// Shorter shared payloads are copied: a reference would keep a whole receive buffer alive for a few octets.
pub const SHARE_MIN: usize = 1024;

/// A reference keeps the whole of the carrier's memory: the octets it is for are at least one in so many of those there, or what
/// is charged to an association would be a small part of what it keeps.
const PART: usize = 2;

/// Whether so many octets are worth keeping all that lies in `backing`.
#[inline]
pub fn is_worth_sharing(backing: &Bytes, octets: usize) -> bool {
    octets >= SHARE_MIN && octets >= backing.len() / PART
}

/// The octets of a packet.
#[derive(Clone, Debug)]
pub enum Payload<'a> {
    /// Octets of a buffer that is used again for the next packet: copied, once.
    Copy(&'a [u8]),
    /// Octets that may be kept by reference.
    Shared(Bytes),
}

#[expect(
    clippy::len_without_is_empty,
    reason = "an empty packet is asked for its length like the others"
)]
impl<'a> Payload<'a> {
    /// Octets of a packet that lie in `backing`, if they lie in something that can be kept: a reference where that is worth it.
    #[inline]
    pub fn of(backing: Option<&Bytes>, data: &'a [u8]) -> Self {
        match backing {
            Some(backing) if is_worth_sharing(backing, data.len()) => Self::Shared(backing.slice_ref(data)),
            _ => Self::Copy(data),
        }
    }

    /// Octets.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// The octets.
    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Copy(octets) => octets,
            Self::Shared(bytes) => bytes,
        }
    }

    /// All but the first `count` octets.
    pub(super) fn skip(self, count: usize) -> Self {
        match self {
            Self::Copy(octets) => Self::Copy(&octets[count..]),
            Self::Shared(mut bytes) => {
                bytes.advance(count);
                Self::Shared(bytes)
            }
        }
    }

    /// The octets `from..until`.
    pub(super) fn part(&self, from: usize, until: usize) -> Self {
        match self {
            Self::Copy(octets) => Self::Copy(&octets[from..until]),
            Self::Shared(bytes) => Self::Shared(bytes.slice(from..until)),
        }
    }

    /// The octets as something to keep.
    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Shared(bytes) if bytes.len() >= SHARE_MIN => bytes,
            other => Bytes::copy_from_slice(other.as_slice()),
        }
    }
}
