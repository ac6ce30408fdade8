//! One piece of what the user wrote: octets that lie together, or in frames.

use bytes::{Bytes, BytesMut};
use core::ops::Range;
use smallvec::SmallVec;

use crate::frames::Framed;

/// Writes up to this size are joined: copying them costs less than one more reference in every segment.
pub(super) const SMALL: usize = 256;
/// Joined writes grow up to this size.
const JOINED: usize = 4096;

/// Where the octets are.
#[derive(Debug)]
pub(super) enum Data {
    Plain(Bytes),
    Framed(Framed),
}

/// Data octets at consecutive positions.
#[derive(Debug)]
pub(super) struct QueuedPiece {
    pub(super) seq: u64,
    pub(super) data: Data,
    /// Made here by joining small writes, so more may be appended.
    joined: bool,
}

impl QueuedPiece {
    pub(super) fn plain(seq: u64, data: Bytes) -> Self {
        Self {
            seq,
            data: Data::Plain(data),
            joined: false,
        }
    }

    pub(super) fn framed(seq: u64, data: Framed) -> Self {
        Self {
            seq,
            data: Data::Framed(data),
            joined: false,
        }
    }

    fn len(&self) -> usize {
        match &self.data {
            Data::Plain(data) => data.len(),
            Data::Framed(data) => data.len(),
        }
    }

    /// One past the last octet.
    pub(super) fn end(&self) -> u64 {
        self.seq + self.len() as u64
    }

    pub(super) fn is_framed(&self) -> bool {
        matches!(self.data, Data::Framed(_))
    }

    /// The octets from position `seq` on, if they lie in frames, and the place of that position in them.
    pub(super) fn frames(&self, seq: u64) -> Option<(&Framed, usize)> {
        match &self.data {
            Data::Framed(data) => Some((data, (seq - self.seq) as usize)),
            Data::Plain(_) => None,
        }
    }

    /// The peer has all of it.
    pub(super) fn acknowledged(&self) {
        if let Data::Framed(data) = &self.data {
            data.acknowledged();
        }
    }

    /// Keeps the octets before position `end`.
    pub(super) fn truncate(&mut self, end: u64) {
        let keep = usize::try_from(end - self.seq).unwrap_or(usize::MAX);
        match &mut self.data {
            Data::Plain(data) => data.truncate(keep),
            Data::Framed(data) => data.truncate(keep),
        }
    }

    /// References to the octets at the positions `range`, all of them here.
    pub(super) fn share(&self, range: Range<u64>, out: &mut SmallVec<[Bytes; 4]>) {
        let octets = (range.start - self.seq) as usize..(range.end - self.seq) as usize;
        match &self.data {
            Data::Plain(data) => out.push(data.slice(octets)),
            Data::Framed(data) => data.share(octets, out),
        }
    }

    /// Appends small data in place; gives it back where that is impossible.
    pub(super) fn join(&mut self, data: Bytes) -> Option<Bytes> {
        let Data::Plain(own) = &mut self.data else {
            return Some(data);
        };
        if !self.joined && own.len() > SMALL || own.len() + data.len() > JOINED {
            return Some(data);
        }
        let mut buffer = match std::mem::take(own).try_into_mut() {
            Ok(unique) => unique,
            // A batch still refers to the joined octets: copying kilobytes for a few octets does not pay.
            Err(shared) if self.joined => {
                *own = shared;
                return Some(data);
            }
            Err(shared) => {
                let mut copy = BytesMut::with_capacity(2 * SMALL);
                copy.extend_from_slice(&shared);
                copy
            }
        };
        buffer.extend_from_slice(&data);
        *own = buffer.freeze();
        self.joined = true;
        None
    }
}
