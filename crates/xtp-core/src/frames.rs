//! Memory laid out as packets: payloads of equal length with room for a header before each.
//!
//! Whoever hands such memory to a stream spares it the gathering: a train of it leaves from where it lies, once its
//! headers were written into the room between the payloads.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

/// Memory in frames. What its methods tell of its layout never changes, and the payloads do not change while anybody
/// but their owner refers to it.
pub trait Frames: fmt::Debug + Send + Sync {
    /// Octets of payload in all frames together.
    fn octets(&self) -> usize;

    /// Octets of payload a frame, at least 1; the last frame may have fewer.
    fn payload(&self) -> usize;

    /// Octets of room before each payload.
    fn room(&self) -> usize;

    /// The payload of one frame; empty if there is no such frame.
    fn frame(&self, index: usize) -> &[u8];

    /// How many frames from number `index` on lie side by side, so that they can be shown together; at least 1 where there
    /// is such a frame.
    fn together(&self, index: usize) -> usize {
        let _ = index;
        usize::MAX
    }

    /// Whether whoever was shown frames may go on referring to them until they are acknowledged.
    fn lends(&self) -> bool {
        false
    }

    /// Writes `heads`, of [`room`](Self::room) octets each, before the frames from number `first` on, and shows these
    /// frames as they then lie, head and payload in turn. `visit` says whether it goes on referring to them, which only
    /// memory that [`lends`](Self::lends) allows. False, and nothing shown, if fewer frames lie
    /// [together](Self::together), if somebody refers to one of them, or does the same at this time.
    fn with_heads(&self, first: usize, heads: &[u8], visit: &mut dyn FnMut(&[u8]) -> bool) -> bool;

    /// So many octets were acknowledged: a stretch of [`Framed`] as a whole, and once. What of them was sent no more than
    /// once nobody refers to any more.
    fn acknowledged(&self, octets: usize) {
        let _ = octets;
    }

    /// Something is sent once more: for all that is known, somebody refers to it for ever.
    fn sent_again(&self) {}
}

/// A stretch of the payload of [`Frames`], to be sent.
#[derive(Clone, Debug)]
pub struct Framed {
    frames: Arc<dyn Frames>,
    /// Where it begins, counted in octets of payload.
    from: usize,
    len: usize,
    /// Octets of payload a frame.
    payload: usize,
}

impl Framed {
    /// The whole of `frames`.
    pub fn new(frames: Arc<dyn Frames>) -> Self {
        let (len, payload) = (frames.octets(), frames.payload().max(1));
        Self {
            frames,
            from: 0,
            len,
            payload,
        }
    }

    /// Octets of payload.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Leaves out the first `octets`, or all if there are fewer.
    pub fn advance(&mut self, octets: usize) {
        let octets = octets.min(self.len);
        self.from += octets;
        self.len -= octets;
    }

    /// Keeps the first `octets`, or all if there are fewer.
    pub fn truncate(&mut self, octets: usize) {
        self.len = self.len.min(octets);
    }

    /// The end of the frame in which octet `at` lies, or of the stretch, counted from its beginning.
    pub fn frame_end(&self, at: usize) -> usize {
        let at = self.from + at;
        ((at / self.payload + 1) * self.payload - self.from).min(self.len)
    }

    /// Of at most `octets` as many as end with a frame or with the stretch.
    pub fn whole(&self, octets: usize) -> usize {
        match octets >= self.len {
            true => self.len,
            false => ((self.from + octets) / self.payload * self.payload).saturating_sub(self.from),
        }
    }

    /// Octets of payload a frame.
    pub fn payload(&self) -> usize {
        self.payload
    }

    /// All of the stretch was acknowledged.
    pub fn acknowledged(&self) {
        self.frames.acknowledged(self.len);
    }

    /// Some of it is sent once more.
    pub fn sent_again(&self) {
        self.frames.sent_again();
    }

    /// The memory, and which of its frames begins at octet `at`, if one does.
    pub fn frame_at(&self, at: usize) -> Option<(&Arc<dyn Frames>, usize)> {
        let at = self.from + at;
        at.is_multiple_of(self.payload)
            .then_some((&self.frames, at / self.payload))
    }

    /// References to the octets `range`, which lie in as many places as frames.
    pub fn share(&self, range: Range<usize>, out: &mut SmallVec<[Bytes; 4]>) {
        let mut at = range.start;
        while at < range.end.min(self.len) {
            let until = self.frame_end(at).min(range.end);
            let from = (self.from + at) % self.payload;
            out.push(Bytes::from_owner(FramePart {
                frames: self.frames.clone(),
                index: (self.from + at) / self.payload,
                octets: from..from + (until - at),
            }));
            at = until;
        }
    }
}

/// A part of one frame, which keeps the memory alive.
struct FramePart {
    frames: Arc<dyn Frames>,
    index: usize,
    octets: Range<usize>,
}

impl AsRef<[u8]> for FramePart {
    fn as_ref(&self) -> &[u8] {
        &self.frames.frame(self.index)[self.octets.clone()]
    }
}

#[cfg(test)]
#[path = "frames_testing.rs"]
pub(crate) mod testing;
#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
