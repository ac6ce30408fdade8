//! The beginning of a message that is being read.

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;

/// The pieces of a message whose end has not come.
#[derive(Debug, Default)]
pub(crate) struct PartialMessage {
    /// Bound to its first octet, which may not have come.
    pub(super) tag: Option<u64>,
    pieces: SmallVec<[Bytes; 2]>,
    pub(super) octets: usize,
    /// A gap lies in it, or a reader of its own has it: what is left of it is no message, and is passed over up to its end.
    pub(super) mutilated: bool,
    /// The reader of its own that has it, by number; 0: none.
    reader: u32,
    /// Readers there were.
    readers: u32,
}

impl PartialMessage {
    /// Octets that have come.
    pub(crate) fn octets(&self) -> usize {
        self.octets
    }

    /// Nothing of a message was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.tag.is_none() && !self.mutilated
    }

    /// A reader of its own has it from here on; its number. For all others what is left of the message is passed over.
    pub(super) fn lend(&mut self) -> u32 {
        self.readers = self.readers.wrapping_add(1).max(1);
        (self.reader, self.mutilated) = (self.readers, true);
        self.readers
    }

    /// Whether the reader of this number has it.
    pub(super) fn is_lent_to(&self, reader: u32) -> bool {
        self.reader == reader
    }

    /// The pieces that came, for a reader.
    pub(super) fn take_pieces(&mut self) -> SmallVec<[Bytes; 2]> {
        self.octets = 0;
        std::mem::take(&mut self.pieces)
    }

    /// Its end was read: what follows is the next message.
    pub(super) fn end(&mut self) {
        self.forget();
        self.mutilated = false;
    }

    /// Forgets what came.
    pub(crate) fn forget(&mut self) {
        self.tag = None;
        self.reader = 0;
        self.pieces.clear();
        self.octets = 0;
    }

    /// One piece more.
    pub(super) fn push(&mut self, piece: Bytes) {
        self.octets += piece.len();
        if !self.mutilated {
            self.pieces.push(piece);
        }
    }

    /// The message whose last piece is `last`, joined with those collected so far, which are forgotten. One piece costs no copy.
    pub(super) fn finish(&mut self, last: Bytes) -> Bytes {
        if self.pieces.is_empty() {
            return last;
        }
        let mut whole = BytesMut::with_capacity(self.octets + last.len());
        for piece in self.pieces.drain(..) {
            whole.extend_from_slice(&piece);
        }
        self.octets = 0;
        whole.extend_from_slice(&last);
        whole.freeze()
    }
}

/// Has a [`PartialMessage`], made when there is something to put into it.
pub(super) trait Collects {
    fn partial(&mut self) -> &mut PartialMessage;
    fn if_partial(&mut self) -> Option<&mut PartialMessage>;
}

#[cfg(test)]
#[path = "partial_tests.rs"]
mod tests;
