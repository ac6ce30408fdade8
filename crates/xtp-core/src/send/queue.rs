//! What the user wrote, kept by reference until it is acknowledged (§1.8, §1.1, §6.1, §5.5).
//!
//! Data, tags and message ends live in three ascending lists. Cutting a segment looks only at positions, so its
//! cost does not depend on how the user's writes were divided; fetching the payload clones references.
//!
//! Many tiny writes would make segments of hundreds of references, more than a system call gathers: a write of
//! at most `SMALL` octets after another small one is copied behind it. Two neighbours therefore hold more than
//! `SMALL` octets together, unless the earlier one is still referenced by a batch at the time of the write.

use crate::reuse::empty;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use smallvec::SmallVec;

use super::piece::{Data, QueuedPiece, SMALL};
use crate::fields::Fields;
use crate::frames::{Framed, Frames};

/// Octets of sequence space of a tag (§1.8).
const TAG: u64 = 8;
/// Where a segment may end, and what it carries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NextSegment {
    /// Octets of sequence space, those of the tag included; at least 1.
    pub len: usize,
    /// The tag that occupies the segment's first 8 octets.
    pub tag: Option<u64>,
    /// Whether the segment's last octet ends a message.
    pub eom: bool,
}

#[derive(Copy, Clone, Debug)]
struct Tag {
    seq: u64,
    value: u64,
}

/// The writer's retained stream: positions `base()..end()`.
///
/// Memory is bounded by what the caller lets the user push (`len()`); a partly acknowledged write stays
/// referenced as a whole.
#[derive(Debug)]
pub struct SendQueue {
    #[cfg(test)]
    start: u64,
    base: u64,
    end: u64,
    pieces: VecDeque<QueuedPiece>,
    tags: VecDeque<Tag>,
    /// Positions one past the last octet of each message.
    eoms: VecDeque<u64>,
    closed: bool,
    /// Pieces released so far, so that `cursor` survives releases.
    released: u64,
    /// Number (counted from the first piece ever) where the last payload ended: the next one starts there.
    /// Its lower half suffices: what is kept is far less than 2^31 pieces.
    cursor: Cell<u32>,
    /// Of the pieces some may be framed.
    framed: bool,
    /// The tag that was written last may leave before the octet it is bound to.
    tag_leaves: bool,
}

impl Default for SendQueue {
    fn default() -> Self {
        Self::new(0)
    }
}

impl SendQueue {
    /// An empty stream whose first octet will have the position `base`.
    pub fn new(base: u64) -> Self {
        Self {
            #[cfg(test)]
            start: base,
            base,
            end: base,
            pieces: VecDeque::new(),
            tags: VecDeque::new(),
            eoms: VecDeque::new(),
            closed: false,
            released: 0,
            cursor: Cell::new(0),
            framed: false,
            tag_leaves: false,
        }
    }

    /// As a new one, in the same memory.
    pub fn renew(&mut self, base: u64) {
        #[cfg(test)]
        {
            self.start = base;
        }
        (self.base, self.end, self.closed) = (base, base, false);
        (self.released, self.framed, self.tag_leaves) = (0, false, false);
        self.cursor.set(0);
        empty(&mut self.pieces);
        empty(&mut self.tags);
        empty(&mut self.eoms);
    }

    /// Whether nothing at all is kept.
    pub fn is_empty(&self) -> bool {
        self.base == self.end && self.pieces.is_empty() && self.tags.is_empty() && self.eoms.is_empty()
    }

    /// An empty queue is two facts (see [`Fields`]): how far it came, and whether something may follow.
    pub fn walk_empty(&mut self, fields: &mut impl Fields) {
        fields.number(&mut self.end);
        fields.flag(&mut self.closed);
        self.base = self.end;
    }

    /// The position of the stream's first octet, whether or not it is still kept.
    #[cfg(test)]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The lowest position still kept.
    #[cfg(test)]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// One past the last octet written.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Octets of sequence space kept.
    pub fn len(&self) -> usize {
        usize::try_from(self.end - self.base).unwrap_or(usize::MAX)
    }

    /// Appends data; amortised O(1), and O(len) where a small write is joined to the one before. Returns the octets
    /// that were copied, which are those joined.
    pub fn push(&mut self, data: Bytes) -> usize {
        if data.is_empty() {
            return 0;
        }
        let len = data.len();
        let alone = self.join(data);
        let copied = if alone.is_some() { 0 } else { len };
        if let Some(data) = alone {
            self.pieces.push_back(QueuedPiece::plain(self.end, data));
        }
        self.end += len as u64;
        copied
    }

    /// Appends data that lies in frames; amortised O(1). They are cut where the frames end.
    pub fn push_framed(&mut self, data: Framed) {
        if data.is_empty() {
            return;
        }
        let seq = self.end;
        self.end += data.len() as u64;
        self.framed = true;
        self.pieces.push_back(QueuedPiece::framed(seq, data));
    }

    /// Appends a message that left already.
    pub fn push_message(&mut self, data: Bytes) {
        self.push_octets(data);
        self.eoms.push_back(self.end);
    }

    /// Appends octets that left already: they are joined with nothing.
    pub fn push_octets(&mut self, data: Bytes) {
        debug_assert!(!data.is_empty());
        let seq = self.end;
        self.end += data.len() as u64;
        self.pieces.push_back(QueuedPiece::plain(seq, data));
    }

    /// Appends small data to the last piece in place; gives it back where that is impossible.
    fn join(&mut self, data: Bytes) -> Option<Bytes> {
        let end = self.end;
        match self.pieces.back_mut() {
            Some(last) if data.len() <= SMALL && last.end() == end => last.join(data),
            _ => Some(data),
        }
    }

    /// Appends a tag, which is bound to the octet written next; O(1).
    pub fn push_tag(&mut self, tag: u64) {
        self.tags.push_back(Tag {
            seq: self.end,
            value: tag,
        });
        self.end += TAG;
        self.tag_leaves = false;
    }

    /// The octet that the last tag is bound to is not to be waited for.
    pub fn let_tag_leave(&mut self) {
        self.tag_leaves = true;
    }

    /// Ends a message after the last octet written; O(1).
    ///
    /// Nothing happens if it is marked already, or if nothing is kept that the mark could travel with: whoever
    /// has sent the last octet without EOM cannot add it later, so the mark belongs before the next cut.
    pub fn mark_eom(&mut self) {
        if self.end > self.base && self.eoms.back() != Some(&self.end) {
            self.eoms.push_back(self.end);
        }
    }

    /// Nothing follows: a tag at the very end may leave alone.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Forgets everything below a position (no further than `end()`); amortised O(1).
    pub fn release(&mut self, below: u64) {
        let below = below.min(self.end);
        if below <= self.base {
            return;
        }
        self.base = below;
        while self.pieces.front().is_some_and(|piece| piece.end() <= below) {
            if let Some(piece) = self.pieces.pop_front().filter(|_| self.framed) {
                piece.acknowledged();
            }
            self.released += 1;
        }
        self.framed &= !self.pieces.is_empty();
        while self.tags.front().is_some_and(|tag| tag.seq + TAG <= below) {
            self.tags.pop_front();
        }
        while self.eoms.front().is_some_and(|&eom| eom <= below) {
            self.eoms.pop_front();
        }
    }

    /// Before everything is released although not all of it was acknowledged: frames are told nothing.
    #[inline(always)]
    pub fn abandon(&mut self) {
        if self.framed {
            self.pieces.clear();
        }
    }

    /// Drops what has not been sent: everything from `end` on. A tag is kept whole. O(what is dropped).
    pub fn truncate(&mut self, end: u64) {
        let mut end = end.max(self.base);
        if end >= self.end {
            return;
        }
        if let Some(tag) = self.tag_around(end) {
            end = tag.seq + TAG;
        }
        while self.pieces.back().is_some_and(|piece| piece.seq >= end) {
            self.pieces.pop_back();
        }
        if let Some(last) = self.pieces.back_mut() {
            last.truncate(end);
        }
        while self.tags.back().is_some_and(|tag| tag.seq >= end) {
            self.tags.pop_back();
        }
        while self.eoms.back().is_some_and(|&eom| eom > end) {
            self.eoms.pop_back();
        }
        self.end = end;
    }

    /// The segment that may start at `seq`: at most `max` octets (at least 16 are assumed where tags are used),
    /// ending at the latest with the message or before the next tag. O(log n) in the tags and messages kept.
    ///
    /// `None` if nothing is kept at `seq`, or only a tag whose octet has not been written yet: it is offered
    /// once an octet, another tag or an EOM follows, or after [`close`](Self::close).
    pub fn cut(&self, seq: u64, max: usize) -> Option<NextSegment> {
        if seq < self.base || seq >= self.end || max == 0 {
            return None;
        }
        let mut end = seq.saturating_add(max as u64).min(self.end);
        let mut tag = None;
        if !self.tags.is_empty() {
            let mut next = self.tags.partition_point(|tag| tag.seq < seq);
            if let Some(here) = self.tags.get(next).filter(|tag| tag.seq == seq) {
                tag = Some(here.value);
                end = end.max(seq + TAG);
                next += 1;
            }
            if let Some(following) = self.tags.get(next) {
                end = end.min(following.seq);
            }
        }
        end = end.min(self.frame_end(seq + tag.map_or(0, |_| TAG)));
        let mut eom = false;
        let next = match self.eoms.front() {
            Some(&first) if first > seq => Some(first),
            Some(_) => self
                .eoms
                .get(self.eoms.partition_point(|&eom| eom <= seq))
                .copied(),
            None => None,
        };
        if let Some(next) = next {
            eom = next <= end;
            end = end.min(next);
        }
        let lone_tag = tag.is_some() && seq + TAG == self.end;
        if lone_tag && !eom && !self.closed && !self.tag_leaves {
            return None;
        }
        Some(NextSegment {
            len: (end - seq) as usize,
            tag,
            eom,
        })
    }

    /// Nothing but data lies between `seq` and this position: no tag, no end of a message, or none before its last
    /// octet. `seq` itself if a tag lies there. O(log n) in the tags and messages kept.
    pub fn plain_until(&self, seq: u64) -> u64 {
        let tag = match self.tags.is_empty() {
            true => None,
            false => self.tags.get(self.tags.partition_point(|tag| tag.seq < seq)),
        };
        let eom = match self.eoms.front() {
            Some(&first) if first > seq => Some(first),
            Some(_) => self
                .eoms
                .get(self.eoms.partition_point(|&eom| eom <= seq))
                .copied(),
            None => None,
        };
        let until = tag.map_or(self.end, |tag| tag.seq.min(self.end));
        eom.map_or(until, |eom| until.min(eom))
    }

    /// Where the octets from `seq` on have to be cut at the latest because of frames: where the frame in which `seq`
    /// lies ends, or before the next frame. O(log n) where there are frames at all.
    fn frame_end(&self, seq: u64) -> u64 {
        if !self.framed {
            return self.end;
        }
        let index = self.locate(seq);
        let mut behind = self.pieces.range(index.min(self.pieces.len())..);
        let first = behind.next();
        let here = first.filter(|piece| piece.seq <= seq);
        match here.and_then(|piece| piece.frames(seq)) {
            Some((data, at)) => seq + (data.frame_end(at) - at) as u64,
            None => {
                let next = first.into_iter().chain(behind).find(|piece| piece.is_framed());
                next.map_or(self.end, |piece| piece.seq)
            }
        }
    }

    /// How the octets from `seq` on may be cut into equal segments of at most `size` octets: how long they are to be, and
    /// up to which position. None where they first have to reach the beginning of a frame.
    pub fn even(&self, seq: u64, size: u64) -> Option<(u64, u64)> {
        let plain = self.plain_until(seq);
        if !self.framed {
            return Some((size, plain));
        }
        let piece = self
            .pieces
            .get(self.locate(seq))
            .filter(|piece| piece.seq <= seq)?;
        match piece.frames(seq) {
            Some((data, at)) => {
                let payload = data.payload() as u64;
                let fits = data.frame_at(at).is_some() && payload <= size;
                fits.then(|| (payload, plain.min(piece.end())))
            }
            None => Some((size, plain.min(self.frame_end(seq)))),
        }
    }

    /// The memory in frames of which one begins at `seq`, and which one that is.
    pub fn frames_at(&self, seq: u64) -> Option<(&Arc<dyn Frames>, usize)> {
        if !self.framed {
            return None;
        }
        let piece = self
            .pieces
            .get(self.locate(seq))
            .filter(|piece| piece.seq <= seq)?;
        let (data, at) = piece.frames(seq)?;
        data.frame_at(at)
    }

    /// What is kept of `seq..seq + len` is sent once more.
    pub fn sent_again(&self, seq: u64, len: usize) {
        if !self.framed {
            return;
        }
        let end = seq.saturating_add(len as u64);
        let touched = self.pieces.range(self.locate(seq).min(self.pieces.len())..);
        for piece in touched.take_while(|piece| piece.seq < end) {
            if let Data::Framed(data) = &piece.data {
                data.sent_again();
            }
        }
    }

    /// Appends references to the data octets of `seq..seq + len`, one cut or a part of it, to `out`.
    ///
    /// The octets of a tag at `seq` are left out: whoever writes the header writes the tag. O(pieces touched)
    /// where the last payload ended at `seq`, O(log n) more elsewhere.
    pub fn payload(&self, seq: u64, len: usize, out: &mut SmallVec<[Bytes; 4]>) {
        let end = seq.saturating_add(len as u64).min(self.end);
        let mut at = seq.max(self.base);
        if let Some(tag) = self.tag_around(at) {
            // Only a peer that acknowledges half a tag gets here. It is given the other half as octets, so
            // that the stream goes on.
            let octets = tag.value.to_be_bytes();
            let until = (tag.seq + TAG).min(end);
            out.push(Bytes::copy_from_slice(
                &octets[(at - tag.seq) as usize..(until - tag.seq) as usize],
            ));
            at = until;
        }
        let mut index = self.locate(at);
        while let Some(piece) = self.pieces.get(index)
            && piece.seq < end
        {
            let until = end.min(piece.end());
            piece.share(at.max(piece.seq)..until, out);
            at = until;
            if at < piece.end() {
                break;
            }
            index += 1;
        }
        self.cursor.set((self.released + index as u64) as u32);
    }

    /// Whether a message ends at `end` (one past its last octet); O(log n).
    #[cfg(test)]
    pub fn eom_at(&self, end: u64) -> bool {
        self.eoms.binary_search(&end).is_ok()
    }

    /// `seq`, or the start of the tag it lies in: an acknowledgement that ends inside a tag is to be taken as
    /// ending before it, because a tag is never split (§5.5). O(log n).
    pub fn tag_floor(&self, seq: u64) -> u64 {
        self.tag_around(seq).map_or(seq, |tag| tag.seq)
    }

    /// The tag that begins before `seq` and ends after it.
    fn tag_around(&self, seq: u64) -> Option<Tag> {
        if self.tags.is_empty() {
            return None;
        }
        let before = self.tags.partition_point(|tag| tag.seq < seq).checked_sub(1)?;
        self.tags.get(before).copied().filter(|tag| seq < tag.seq + TAG)
    }

    /// The first piece that ends after `seq`.
    fn locate(&self, seq: u64) -> usize {
        let ahead = self.cursor.get().wrapping_sub(self.released as u32).cast_signed();
        let hint = usize::try_from(ahead).unwrap_or(0);
        let ends_after = |index: usize| self.pieces.get(index).is_some_and(|piece| piece.end() > seq);
        let all_before =
            |index: usize| index == 0 || self.pieces.get(index - 1).is_some_and(|piece| piece.end() <= seq);
        if ends_after(hint) && all_before(hint) {
            return hint;
        }
        self.pieces.partition_point(|piece| piece.end() <= seq)
    }
}

#[cfg(test)]
#[path = "framed_tests.rs"]
mod framed_tests;
#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
