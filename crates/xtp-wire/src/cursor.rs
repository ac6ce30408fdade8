//! The one way fixed layouts are taken from octets and octets are put into a buffer.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::EncodeError;

/// Copies a fixed layout off the front; `None` when the octets end first.
#[inline]
pub(crate) fn take<T: FromBytes>(octets: &[u8]) -> Option<(T, &[u8])> {
    T::read_from_prefix(octets).ok()
}

/// Appends to a caller's buffer and remembers how far it got.
pub(crate) struct EncodeCursor<'b> {
    out: &'b mut [u8],
    at: usize,
}

impl<'b> EncodeCursor<'b> {
    #[inline]
    pub(crate) const fn new(out: &'b mut [u8]) -> Self {
        Self { out, at: 0 }
    }

    /// All of `written` is there already.
    #[inline]
    pub(crate) const fn full(written: &'b mut [u8]) -> Self {
        let at = written.len();
        Self { out: written, at }
    }

    /// What was written so far.
    #[inline]
    pub(crate) fn written(&self) -> &[u8] {
        &self.out[..self.at]
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn written_mut(&mut self) -> &mut [u8] {
        &mut self.out[..self.at]
    }

    /// Lets a segment write itself behind what is there.
    #[inline]
    pub(crate) fn segment(
        &mut self,
        encode: impl FnOnce(&mut [u8]) -> Result<usize, EncodeError>,
    ) -> Result<(), EncodeError> {
        let rest = self.out.get_mut(self.at..).ok_or(EncodeError::BufferTooSmall)?;
        self.at += encode(rest)?;
        Ok(())
    }

    #[inline]
    pub(crate) fn put<T: IntoBytes + Immutable + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        let octets = value.as_bytes();
        self.room(octets.len())?.copy_from_slice(octets);
        Ok(())
    }

    pub(crate) fn zeros(&mut self, count: usize) -> Result<(), EncodeError> {
        self.room(count)?.fill(0);
        Ok(())
    }

    /// Leaves so many octets as they are.
    pub(crate) fn pass(&mut self, count: usize) -> Result<(), EncodeError> {
        self.room(count).map(drop)
    }

    #[inline]
    fn room(&mut self, count: usize) -> Result<&mut [u8], EncodeError> {
        let end = self.at.checked_add(count).ok_or(EncodeError::BufferTooSmall)?;
        let room = self
            .out
            .get_mut(self.at..end)
            .ok_or(EncodeError::BufferTooSmall)?;
        self.at = end;
        Ok(room)
    }

    /// Octets written so far.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.at
    }

    /// What was written, for as long as the caller's buffer lives.
    pub(crate) fn into_written(self) -> &'b mut [u8] {
        let at = self.at;
        &mut self.out[..at]
    }
}
