//! A message that a posted receive got.

use bytes::Bytes;
use xtp_engine::ContextId;

use crate::error::{Error, Result};

/// A whole message that a [`PostedReceive`](crate::PostedReceive) got.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matched {
    /// [`Stream::number`](crate::Stream::number) of the association that it came by.
    pub stream: u64,
    /// The tag bound to its first octet, if there is one.
    pub tag: Option<u64>,
    message: xtp_engine::Matched,
}

impl Matched {
    pub(crate) fn of(message: xtp_engine::Matched) -> Self {
        Self {
            stream: message.association.as_u64(),
            tag: message.tag,
            message,
        }
    }

    /// Octets.
    pub fn len(&self) -> usize {
        self.message.len()
    }

    /// Whether it has no octet.
    pub fn is_empty(&self) -> bool {
        self.message.is_empty()
    }

    /// Its octets as they came, none of the parts empty: no copy was made of them.
    pub fn parts(&self) -> &[Bytes] {
        &self.message.parts
    }

    /// Its octets in one place: copied if they came in more than one part.
    pub fn into_bytes(self) -> Bytes {
        self.message.into_bytes()
    }

    /// The association that it came by.
    pub(crate) fn association(&self) -> ContextId {
        self.message.association
    }

    /// Copies its octets to the beginning of `buffer`; returns how many.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`] if it has more; then nothing was copied.
    pub fn copy_to(&self, buffer: &mut [u8]) -> Result<usize> {
        let octets = self.len();
        if octets > buffer.len() {
            return Err(Error::MessageTooLong { limit: buffer.len() });
        }
        let mut rest = buffer;
        for part in self.parts() {
            let (place, behind) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = behind;
        }
        Ok(octets)
    }
}
