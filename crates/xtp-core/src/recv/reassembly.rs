//! The reader's store: octets in any order in, a stream in order out (§3.3, §4.2, §4.7, §5.1).
//!
//! Octets in order wait in `Ready` until the user takes them; octets behind a hole wait here, the covered
//! ranges ("spans", what ECNTL reports) apart from the pieces, so that trimming and reporting do not depend on
//! how many packets a span consists of. What has been stored is never given up (no reneging).
//!
//! # Cost
//!
//! In order: O(1) and at most one copy; no allocation while the user keeps up. Behind a hole: one allocation a
//! piece, O(log n) and a possible move of spans (16 octets each). Filling a hole: O(log n) for each piece behind it.
//!
//! # Limits
//!
//! Octets are bounded by the credit the caller grants (it must refuse what lies beyond alloc). Pieces behind
//! holes are bounded by [`Reassembly::set_piece_limit`]; small pieces are joined as they come into order, so
//! that tiny packets do not cost a multiple of their octets.

use crate::reuse::empty;
use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use smallvec::SmallVec;

use super::octets::Octets;
use super::payload::Payload;
use super::ready::Ready;
use crate::fields::Fields;

/// Octets of sequence space of a tag (§1.8).
pub(super) const TAG: u64 = 8;
/// Pieces that may wait behind holes if nothing else is set: capacity / 256 + 1024 for 256 KiB.
const DEFAULT_PIECE_LIMIT: usize = 2048;

/// What became of a segment.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Octets of sequence space that were not there before.
    pub new_octets: u64,
    /// Whether [`Reassembly::next`] has grown.
    pub advanced: bool,
    /// Whether the segment begins beyond everything received, so that octets are newly known to be missing.
    pub hole_new: bool,
    /// New octets that were not kept: no room for more pieces, or (go-back-N) not in order.
    pub dropped: u64,
}

/// What the user reads next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Octets from position `seq` on. They are empty only where a message ends directly behind a tag.
    Data {
        /// Position of the first octet.
        seq: u64,
        /// The octets.
        bytes: Bytes,
        /// Whether a message ends behind the last of them.
        eom: bool,
    },
    /// A tag, bound to the octet that follows.
    Tag {
        /// Position of the first of its 8 octets.
        seq: u64,
        /// Its value.
        tag: u64,
    },
    /// Octets of an unreliable stream that did not arrive.
    Gap {
        /// Position of the first of them.
        seq: u64,
        /// How many.
        len: u64,
    },
}

/// A segment, its tag apart from its octets.
struct IncomingSegment<'a> {
    seq: u64,
    tag: Option<u64>,
    data: Payload<'a>,
    eom: bool,
    /// One past the last octet.
    end: u64,
}

/// Something kept behind a hole.
#[derive(Debug)]
struct OutOfOrderPiece {
    content: Content,
    /// A message ends behind it.
    eom: bool,
}

#[derive(Debug)]
enum Content {
    Tag(u64),
    Octets(Bytes),
}

/// The store of one reader.
#[derive(Debug)]
pub struct Reassembly {
    ready: Ready,
    /// What has arrived beyond a hole: ascending, neither overlapping nor adjacent, all above `next()`.
    spans: VecDeque<(u64, u64)>,
    /// The content of the spans, by position, without overlap.
    pieces: BTreeMap<u64, OutOfOrderPiece>,
    piece_octets: u64,
    piece_limit: usize,
    highest: u64,
}

impl Default for Reassembly {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Reassembly {
    /// An empty store of a stream whose first octet has the position `start`.
    pub fn new(start: u64) -> Self {
        Self {
            ready: Ready::new(start),
            spans: VecDeque::new(),
            pieces: BTreeMap::new(),
            piece_octets: 0,
            piece_limit: DEFAULT_PIECE_LIMIT,
            highest: start,
        }
    }

    /// As a new one, in the same memory.
    pub fn renew(&mut self, start: u64) {
        self.ready.renew(start);
        empty(&mut self.spans);
        if !self.pieces.is_empty() {
            self.pieces.clear();
        }
        self.piece_octets = 0;
        self.piece_limit = DEFAULT_PIECE_LIMIT;
        self.highest = start;
    }

    /// Begins anew at `start`. It must have been renewed since anything was stored.
    pub fn restart(&mut self, start: u64, piece_limit: usize) {
        self.ready.restart(start);
        (self.highest, self.piece_limit) = (start, piece_limit);
    }

    /// Whether nothing at all is kept.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.readable() == 0
            && self.ready.is_empty()
            && self.spans.is_empty()
            && self.pieces.is_empty()
            && self.highest == self.next()
    }

    /// An empty store is one number (see [`Fields`]). The limit on pieces is the caller's to set again.
    pub fn walk_empty(&mut self, fields: &mut impl Fields) {
        let mut next = self.next();
        fields.number(&mut next);
        if next != self.next() {
            (self.ready, self.highest) = (Ready::new(next), next);
        }
    }

    /// How many pieces may wait behind holes; the caller passes capacity / 256 + 1024. What is stored stays.
    pub fn set_piece_limit(&mut self, limit: usize) {
        self.piece_limit = limit;
    }

    /// One past the last octet in order (`rcv_nxt`, what rseq reports).
    pub fn next(&self) -> u64 {
        self.ready.end()
    }

    /// One past the last octet the user has taken.
    pub fn delivered(&self) -> u64 {
        self.ready.start()
    }

    /// One past the greatest octet stored or passed over.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Stores a segment of a reliable stream. `seq` is its first octet; a tag occupies the first 8, the data
    /// the rest. Octets that are there already are ignored, `eom` included if the last octet is one of them.
    pub fn insert(&mut self, seq: u64, tag: Option<u64>, data: Payload<'_>, eom: bool) -> Inserted {
        let Some(segment) = IncomingSegment::new(seq, tag, data, eom) else {
            return Inserted::default();
        };
        if segment.end <= self.next() {
            Inserted::default()
        } else if segment.seq > self.next() {
            self.insert_early(&segment)
        } else if self.spans.is_empty() {
            self.append(segment)
        } else {
            self.insert_filling(&segment)
        }
    }

    /// As [`insert`](Self::insert), but keeps nothing that is out of order (go-back-N reader, §4.4). Such a
    /// reader may begin only when nothing is stored behind a hole.
    pub fn insert_in_order_only(
        &mut self,
        seq: u64,
        tag: Option<u64>,
        data: Payload<'_>,
        eom: bool,
    ) -> Inserted {
        if seq <= self.next() {
            return self.insert(seq, tag, data, eom);
        }
        let dropped = IncomingSegment::new(seq, tag, data, eom).map_or(0, |segment| segment.end - seq);
        Inserted {
            hole_new: seq > self.highest,
            dropped,
            ..Inserted::default()
        }
    }

    /// Stores a segment of an unreliable stream (§4.7): in the order of arrival, what lies below
    /// [`next`](Self::next) dropped, what was left out reported as a gap. The caller bounds how far `seq` may jump.
    pub fn insert_unreliable(
        &mut self,
        seq: u64,
        tag: Option<u64>,
        data: Payload<'_>,
        eom: bool,
    ) -> Inserted {
        let Some(segment) =
            IncomingSegment::new(seq, tag, data, eom).filter(|segment| segment.end > self.next())
        else {
            return Inserted::default();
        };
        let hole_new = seq > self.highest;
        self.skip_to(seq);
        let inserted = if segment.end <= self.next() {
            Inserted {
                advanced: true,
                ..Inserted::default()
            }
        } else if self.spans.is_empty() {
            self.append(segment)
        } else {
            self.insert_filling(&segment)
        };
        Inserted { hole_new, ..inserted }
    }

    /// Treats everything below `seq` as received; what is missing becomes a gap (§4.7: the `seq` of a control
    /// packet counts as seen). Nothing happens if `next()` is there already.
    pub fn skip_to(&mut self, seq: u64) {
        while self.next() < seq {
            let missing_until = self.spans.front().map_or(seq, |span| span.0.min(seq));
            self.ready.push_gap(missing_until - self.next());
            self.take_pieces();
        }
        self.highest = self.highest.max(seq);
    }

    /// Whether everything of `from..until` is stored or was read.
    pub fn holds(&self, from: u64, until: u64) -> bool {
        let from = from.max(self.next());
        let index = self.spans.partition_point(|span| span.1 < until);
        until <= from || self.spans.get(index).is_some_and(|span| span.0 <= from)
    }

    /// Whether something is stored behind a hole.
    pub fn has_holes(&self) -> bool {
        !self.spans.is_empty()
    }

    /// Appends the lowest `max` ranges stored behind holes to `out`: ascending, not adjacent. O(max).
    pub fn spans(&self, max: usize, out: &mut SmallVec<[(u64, u64); 8]>) {
        out.extend(self.spans.iter().take(max).copied());
    }

    /// The same from the other end: the newest `max` of them, ascending.
    pub fn newest_spans(&self, max: usize, out: &mut SmallVec<[(u64, u64); 8]>) {
        let skipped = self.spans.len().saturating_sub(max);
        out.extend(self.spans.iter().skip(skipped).copied());
    }

    /// How many ranges are stored behind holes.
    pub fn span_count(&self) -> usize {
        self.spans.len()
    }

    /// The next item in order, data of at most `max` octets; `None` if nothing is in order (or `max` is 0).
    /// O(1); copies nothing.
    pub fn read(&mut self, max: usize) -> Option<Item> {
        self.ready.read(max)
    }

    /// Reads whole pieces of at most `max` octets together, as far as nothing but octets lies there.
    pub fn read_plain(&mut self, max: u64, take: impl FnMut(u64, Octets)) {
        self.ready.read_plain(max, take);
    }

    /// Octets of sequence space in order that the user has not taken; gaps and tags count with theirs.
    pub fn readable(&self) -> u64 {
        self.next() - self.delivered()
    }

    /// Whether what the user has not taken holds the end of a message.
    pub fn holds_message_end(&self) -> bool {
        self.ready.holds_message_end()
    }

    /// The user has given up reading: everything in order counts as delivered and is forgotten.
    pub fn discard_all(&mut self) {
        self.ready.discard_all();
    }

    /// Nothing fills holes any more: what is stored behind them is forgotten. What is in order stays.
    pub fn forget_pieces(&mut self) {
        empty(&mut self.spans);
        self.pieces.clear();
        self.piece_octets = 0;
        self.highest = self.next();
    }

    /// Octets of sequence space held in memory, in order and behind holes; gaps do not count.
    #[inline]
    pub fn stored_octets(&self) -> u64 {
        self.ready.stored() + self.piece_octets
    }

    /// The octets of a packet that are the next ones, and a message, perhaps behind a tag, for a user who waits for them: appended
    /// and read at once. The caller has seen that nothing is stored.
    #[inline(always)]
    pub fn hand_on(&mut self, tagged: bool, data: Payload<'_>) -> Bytes {
        debug_assert!(self.spans.is_empty());
        if tagged {
            self.ready.hand_on_tag();
        }
        let bytes = self.ready.hand_on(data);
        self.highest = self.highest.max(self.ready.end());
        bytes
    }

    /// Gets ready for the next message to be handed on, while there is time.
    #[inline]
    pub fn prepare(&mut self) {
        self.ready.prepare();
    }

    /// Stores what comes next, perhaps behind a tag, where the caller has seen that it does and that nothing waits behind a hole: as
    /// [`insert`](Self::insert), which asks.
    #[inline]
    pub fn push_next(&mut self, tag: Option<u64>, data: Payload<'_>, eom: bool) {
        debug_assert!(self.spans.is_empty());
        if let Some(tag) = tag {
            self.ready.push_tag(tag);
        }
        self.ready.push(data);
        self.finish(self.ready.end(), eom);
    }

    /// Has room for so many octets that come next and are to be read as one.
    pub fn reserve(&mut self, octets: usize) {
        self.ready.reserve(octets);
    }

    /// Appends a segment that begins at or below `next()` and ends above; nothing waits behind a hole.
    fn append(&mut self, segment: IncomingSegment<'_>) -> Inserted {
        let next = self.next();
        let end = segment.end;
        match segment.tag {
            None => self.ready.push(segment.data.skip((next - segment.seq) as usize)),
            Some(tag) if next == segment.seq => {
                self.ready.push_tag(tag);
                self.ready.push(segment.data);
            }
            Some(_) => self.append_part(&segment, end),
        }
        self.finish(end, segment.eom);
        Inserted {
            new_octets: end - next,
            advanced: true,
            ..Inserted::default()
        }
    }

    /// Appends octets that are the next ones, by reference: `len` behind every `head` octets of `run`. The caller has
    /// seen that nothing waits behind a hole.
    pub fn append_run(&mut self, run: Bytes, head: usize, len: usize) {
        debug_assert!(self.spans.is_empty());
        self.ready.push_run(run, head, len);
        self.finish(self.ready.end(), false);
    }

    /// Appends a segment that begins at or below `next()` and ends above, and what it joins.
    fn insert_filling(&mut self, segment: &IncomingSegment<'_>) -> Inserted {
        let mut new_octets = 0;
        while self.next() < segment.end {
            let from = self.next();
            let until = self
                .spans
                .front()
                .map_or(segment.end, |span| span.0.min(segment.end));
            self.append_part(segment, until);
            self.finish(until, segment.eom && until == segment.end);
            new_octets += until - from;
            self.take_pieces();
        }
        Inserted {
            new_octets,
            advanced: true,
            ..Inserted::default()
        }
    }

    /// Appends the octets `next()..until` of a segment.
    fn append_part(&mut self, segment: &IncomingSegment<'_>, until: u64) {
        let ready = &mut self.ready;
        segment.parts(ready.end(), until, |_, part| match part {
            SegmentPart::Tag(tag) => ready.push_tag(tag),
            SegmentPart::Octets(octets) => ready.push(octets),
        });
    }

    fn finish(&mut self, end: u64, eom: bool) {
        if eom {
            self.ready.mark_eom();
        }
        self.highest = self.highest.max(end);
    }

    /// Moves what has come into order.
    fn take_pieces(&mut self) {
        let Some(&(left, right)) = self.spans.front() else {
            return;
        };
        if left != self.next() {
            return;
        }
        self.spans.pop_front();
        while self.next() < right {
            let Some((_, piece)) = self.pieces.pop_first() else {
                break;
            };
            let before = self.next();
            match piece.content {
                Content::Tag(tag) => self.ready.push_tag(tag),
                Content::Octets(octets) => self.ready.push_kept(octets),
            }
            self.piece_octets -= self.next() - before;
            if piece.eom {
                self.ready.mark_eom();
            }
        }
    }

    /// Stores a segment that begins above `next()`.
    fn insert_early(&mut self, segment: &IncomingSegment<'_>) -> Inserted {
        let mut inserted = Inserted {
            hole_new: segment.seq > self.highest,
            ..Inserted::default()
        };
        let mut at = segment.seq;
        let mut index = self.spans.partition_point(|span| span.1 <= at);
        while at < segment.end {
            let span = self.spans.get(index).copied();
            if let Some((left, right)) = span
                && left <= at
            {
                at = right;
                index += 1;
                continue;
            }
            let until = span.map_or(segment.end, |span| span.0.min(segment.end));
            if self.pieces.len() < self.piece_limit {
                self.keep_part(segment, at, until);
                inserted.new_octets += until - at;
                index = self.cover(at, until);
            } else {
                inserted.dropped += until - at;
            }
            at = until;
        }
        if inserted.new_octets == 0 {
            inserted.hole_new = false;
        }
        inserted
    }

    /// Stores the octets `from..until` of a segment, none of which is there.
    fn keep_part(&mut self, segment: &IncomingSegment<'_>, from: u64, until: u64) {
        let pieces = &mut self.pieces;
        segment.parts(from, until, |seq, part| {
            let content = match part {
                SegmentPart::Tag(tag) => Content::Tag(tag),
                SegmentPart::Octets(octets) => Content::Octets(octets.into_bytes()),
            };
            pieces.insert(seq, OutOfOrderPiece { content, eom: false });
        });
        if segment.eom
            && until == segment.end
            && let Some(last) = self
                .pieces
                .range_mut(from..until)
                .next_back()
                .map(|(_, piece)| piece)
        {
            last.eom = true;
        }
        self.piece_octets += until - from;
        self.highest = self.highest.max(until);
    }

    /// Adds `left..right`, which overlaps no span, to the spans; returns the index of the span that holds it.
    fn cover(&mut self, left: u64, right: u64) -> usize {
        let index = self.spans.partition_point(|span| span.1 < left);
        let joins_before = self.spans.get(index).is_some_and(|span| span.1 == left);
        let after = index + usize::from(joins_before);
        let joins_after = self.spans.get(after).is_some_and(|span| span.0 == right);
        match (joins_before, joins_after) {
            (true, true) => {
                self.spans[index].1 = self.spans[after].1;
                self.spans.remove(after);
            }
            (true, false) => self.spans[index].1 = right,
            (false, true) => self.spans[index].0 = left,
            (false, false) => self.spans.insert(index, (left, right)),
        }
        index
    }
}

/// A stretch of a segment.
enum SegmentPart<'a> {
    Tag(u64),
    Octets(Payload<'a>),
}

impl<'a> IncomingSegment<'a> {
    /// `None` if it has no octets or lies beyond the greatest position.
    fn new(seq: u64, tag: Option<u64>, data: Payload<'a>, eom: bool) -> Option<Self> {
        let tag_octets = if tag.is_some() { TAG } else { 0 };
        let end = seq.checked_add(tag_octets)?.checked_add(data.len() as u64)?;
        (end > seq).then_some(Self {
            seq,
            tag,
            data,
            eom,
            end,
        })
    }

    /// Calls `each` for the tag and the data within `from..until`, in order.
    ///
    /// A part of a tag, which no writer that obeys 20.3 sends apart from the rest, comes as plain octets: so
    /// the stream goes on, and nothing has to be remembered about halves.
    fn parts(&self, from: u64, until: u64, mut each: impl FnMut(u64, SegmentPart<'_>)) {
        let data_start = self.end - self.data.len() as u64;
        if let Some(tag) = self.tag
            && from < data_start
        {
            if from == self.seq && until >= data_start {
                each(from, SegmentPart::Tag(tag));
            } else {
                let octets = tag.to_be_bytes();
                let until = until.min(data_start);
                let part = &octets[(from - self.seq) as usize..(until - self.seq) as usize];
                each(from, SegmentPart::Octets(Payload::Copy(part)));
            }
        }
        let from = from.max(data_start);
        if from < until {
            let part = self
                .data
                .part((from - data_start) as usize, (until - data_start) as usize);
            each(from, SegmentPart::Octets(part));
        }
    }
}

#[cfg(test)]
#[path = "reassembly_tests.rs"]
mod tests;
