//! Octets in order that the user has not read yet, with the message ends, tags and gaps among them.
//!
//! Octets lie in chunks. Copied ones go to the end of an open chunk, whose memory is used again as soon as the
//! user has dropped what was read from it: a reader that keeps up allocates nothing. Message ends, tags and
//! gaps are positions in lists of their own, so a tiny message costs 8 octets beside its own, not a chunk.

use crate::reuse::empty;
use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};

use super::octets::Octets;
use super::payload::{Payload, SHARE_MIN};
use super::reassembly::{Item, TAG};

/// Least size of a chunk for copied octets; what is longer than `CHUNK` gets memory of its own length.
const CHUNK_MIN: usize = 512;
/// Size of the chunks of a reader that keeps up.
const CHUNK: usize = 4096;
/// Size of the chunks when the user is behind, so that whole trains are queued at few allocations.
const CHUNK_BEHIND: usize = 16_384;
/// Kept pieces up to this size are copied behind others instead of remaining a chunk of their own.
const SMALL: usize = 256;

/// The stretch `start()..end()` of a stream.
#[derive(Debug)]
pub(super) struct Ready {
    start: u64,
    end: u64,
    chunks: VecDeque<Octets>,
    /// The last chunk, still growing; empty if the last octets came as a reference.
    open: BytesMut,
    /// Octets in `chunks` and `open`.
    octets: u64,
    /// Positions behind the last octet of a message.
    eoms: VecDeque<u64>,
    /// Position and value.
    tags: VecDeque<(u64, u64)>,
    /// What few streams have.
    rare: Option<Box<ReadyExtras>>,
}

/// Gaps, and what messages that are handed on need beside the open chunk.
#[derive(Debug, Default)]
struct ReadyExtras {
    /// Position and length; never adjacent.
    gaps: VecDeque<(u64, u64)>,
    /// The chunk before the open one: who answers a message gives it back only when the answer was acknowledged.
    spare: BytesMut,
    /// Octets of the last message handed on.
    handed: usize,
    /// Room for a message as long, cut off before it came.
    ahead: BytesMut,
}

impl Ready {
    pub(super) fn new(start: u64) -> Self {
        Self {
            start,
            end: start,
            chunks: VecDeque::new(),
            open: BytesMut::new(),
            octets: 0,
            eoms: VecDeque::new(),
            tags: VecDeque::new(),
            rare: None,
        }
    }

    /// As a new one, in the same memory. That of the octets may be the user's by now.
    pub(super) fn renew(&mut self, start: u64) {
        (self.start, self.end, self.octets) = (start, start, 0);
        if self.open.capacity() > 0 {
            self.open = BytesMut::new();
        }
        empty(&mut self.chunks);
        empty(&mut self.eoms);
        empty(&mut self.tags);
        self.rare = None;
    }

    /// An empty one begins anew at `start`.
    pub(super) fn restart(&mut self, start: u64) {
        (self.start, self.end) = (start, start);
    }

    /// The next position to read.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// The next position to append.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Whether nothing waits, message ends and gaps included.
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end && self.eoms.is_empty() && self.tags.is_empty() && self.next_gap().is_none()
    }

    /// Whether the end of a message lies in it.
    pub(super) fn holds_message_end(&self) -> bool {
        !self.eoms.is_empty()
    }

    /// Octets held; tags count 8.
    #[inline]
    pub(super) fn stored(&self) -> u64 {
        self.octets + TAG * self.tags.len() as u64
    }

    /// Appends the octets of a packet: copied, or kept by reference where that pays.
    pub(super) fn push(&mut self, data: Payload<'_>) {
        match data {
            Payload::Shared(bytes) if bytes.len() >= SHARE_MIN => self.push_chunk(bytes),
            other => self.push_copy(other.as_slice()),
        }
    }

    /// Appends what lies in `run`, again and again: `head` octets that are none of the stream's, and `len` that are. They
    /// are kept by reference.
    pub(super) fn push_run(&mut self, mut run: Bytes, head: usize, len: usize) {
        debug_assert!(len >= SHARE_MIN && run.len().is_multiple_of(head + len));
        let count = run.len() / (head + len);
        if count == 0 {
            return;
        }
        self.close_open();
        run.advance(head);
        self.chunks.push_back(Octets::spread(run, head, len, count));
        let octets = (count * len) as u64;
        self.octets += octets;
        self.end += octets;
    }

    /// As [`push`](Self::push) and reading what was pushed, where nothing waits.
    #[inline(always)]
    pub(super) fn hand_on(&mut self, data: Payload<'_>) -> Bytes {
        let bytes = match data {
            Payload::Shared(bytes) if bytes.len() >= SHARE_MIN => bytes,
            other => {
                let octets = other.as_slice();
                let mut room = self.room_for_message(octets.len());
                room.extend_from_slice(octets);
                room.freeze()
            }
        };
        self.end += bytes.len() as u64;
        self.start = self.end;
        bytes
    }

    /// A tag that is read at once, where nothing waits.
    #[inline]
    pub(super) fn hand_on_tag(&mut self) {
        self.end += TAG;
        self.start = self.end;
    }

    /// Room for a message that is handed on, where nothing waits: mostly it was cut off before.
    #[inline]
    fn room_for_message(&mut self, octets: usize) -> BytesMut {
        match &mut self.rare {
            Some(rare) if octets <= rare.ahead.capacity() => {
                rare.handed = octets;
                std::mem::take(&mut rare.ahead)
            }
            _ => self.cut_off(octets),
        }
    }

    #[inline(never)]
    fn cut_off(&mut self, octets: usize) -> BytesMut {
        if octets > CHUNK {
            return BytesMut::with_capacity(octets);
        }
        self.rare.get_or_insert_default().handed = octets;
        if self.open.capacity() < octets {
            self.change_chunk(octets);
        }
        let rest = self.open.split_off(octets);
        std::mem::replace(&mut self.open, rest)
    }

    /// Appends octets that were kept behind a hole.
    pub(super) fn push_kept(&mut self, bytes: Bytes) {
        if bytes.len() > SMALL {
            self.push_chunk(bytes);
        } else {
            self.push_copy(&bytes);
        }
    }

    pub(super) fn push_tag(&mut self, tag: u64) {
        self.tags.push_back((self.end, tag));
        self.end += TAG;
    }

    /// Appends octets that are missing for ever.
    pub(super) fn push_gap(&mut self, len: u64) {
        if len == 0 {
            return;
        }
        let gaps = &mut self.rare.get_or_insert_default().gaps;
        match gaps.back_mut() {
            Some(last) if last.0 + last.1 == self.end => last.1 += len,
            _ => gaps.push_back((self.end, len)),
        }
        self.end += len;
    }

    /// A message ends behind what was appended last.
    pub(super) fn mark_eom(&mut self) {
        self.eoms.push_back(self.end);
    }

    /// The next item, data of at most `max` octets.
    pub(super) fn read(&mut self, max: usize) -> Option<Item> {
        let seq = self.start;
        if self.eoms.front() == Some(&seq) {
            // Directly behind a tag: there is no octet that could carry it.
            self.eoms.pop_front();
            return Some(Item::Data {
                seq,
                bytes: Bytes::new(),
                eom: true,
            });
        }
        if seq == self.end {
            return None;
        }
        if let Some((_, tag)) = pop_if(&mut self.tags, |tag| tag.0 == seq) {
            self.start += TAG;
            return Some(Item::Tag { seq, tag });
        }
        if let Some(rare) = &mut self.rare
            && let Some((_, len)) = pop_if(&mut rare.gaps, |gap| gap.0 == seq)
        {
            self.start += len;
            return Some(Item::Gap { seq, len });
        }
        let bytes = self.take(self.until_boundary().min(max as u64) as usize);
        if bytes.is_empty() {
            return None;
        }
        self.start += bytes.len() as u64;
        self.octets -= bytes.len() as u64;
        let end = self.start;
        let eom = pop_if(&mut self.eoms, |&eom| eom == end).is_some();
        Some(Item::Data { seq, bytes, eom })
    }

    /// Reads whole chunks of at most `max` octets, as far as nothing but octets lies there.
    pub(super) fn read_plain(&mut self, max: u64, mut take: impl FnMut(u64, Octets)) {
        let mut until = self.start + self.until_boundary().min(max);
        if self.eoms.front() == Some(&until) {
            // The chunk that ends a message says so.
            until -= 1;
        }
        while let Some(chunk) = self.chunks.front_mut() {
            let room = until.saturating_sub(self.start) as usize;
            let octets = match chunk.len() <= room {
                true => self.chunks.pop_front().unwrap_or_else(|| Bytes::new().into()),
                false => chunk.split_parts(chunk.parts_within(room)),
            };
            if octets.is_empty() {
                break;
            }
            let seq = self.start;
            self.start += octets.len() as u64;
            self.octets -= octets.len() as u64;
            take(seq, octets);
        }
    }

    /// Forgets everything.
    pub(super) fn discard_all(&mut self) {
        *self = Self::new(self.end);
    }

    /// Octets up to the next message end, tag or gap, or the end of all.
    fn until_boundary(&self) -> u64 {
        let mut until = self.end;
        for position in [
            self.eoms.front().copied(),
            self.tags.front().map(|tag| tag.0),
            self.next_gap(),
        ] {
            until = until.min(position.unwrap_or(u64::MAX));
        }
        until - self.start
    }

    /// Where octets are missing next.
    #[inline]
    fn next_gap(&self) -> Option<u64> {
        Some(self.rare.as_ref()?.gaps.front()?.0)
    }

    /// Takes up to `max` octets of the first chunk.
    fn take(&mut self, max: usize) -> Bytes {
        let Some(first) = self.chunks.front_mut() else {
            let taken = self.open.split_to(max.min(self.open.len())).freeze();
            if taken.len() > CHUNK && self.open.capacity() == 0 {
                // Of memory of its own nothing is left but the right to keep it; a chunk is used again.
                self.open = BytesMut::new();
            }
            return taken;
        };
        if !first.is_together() {
            let part = first.split_part();
            if part.len() <= max {
                return part;
            }
            self.chunks.push_front(part.into());
        }
        match self.chunks.front_mut() {
            Some(first) if first.len() > max => first.split_octets(max),
            _ => self
                .chunks
                .pop_front()
                .map(Octets::into_bytes)
                .unwrap_or_default(),
        }
    }

    fn push_chunk(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        self.close_open();
        self.octets += bytes.len() as u64;
        self.end += bytes.len() as u64;
        self.chunks.push_back(bytes.into());
    }

    /// Has room for so many octets in one piece: what is longer than a chunk gets memory of its own length, to be read and let go
    /// of as a whole.
    pub(super) fn reserve(&mut self, octets: usize) {
        if octets > CHUNK {
            self.close_open();
            self.open = BytesMut::with_capacity(octets);
        } else if self.open.capacity() - self.open.len() < octets {
            self.change_chunk(octets);
        }
    }

    /// The octets of one packet stay together, so that a message of one packet is read as one item.
    fn push_copy(&mut self, octets: &[u8]) {
        if octets.len() > CHUNK.max(self.open.capacity() - self.open.len()) {
            self.push_chunk(Bytes::copy_from_slice(octets));
            return;
        }
        self.make_room(octets.len());
        self.open.extend_from_slice(octets);
        self.octets += octets.len() as u64;
        self.end += octets.len() as u64;
    }

    /// Room for so many octets in the open chunk.
    #[inline]
    fn make_room(&mut self, octets: usize) {
        if self.open.capacity() - self.open.len() < octets {
            self.close_open();
            if !self.open.try_reclaim(octets) {
                self.open = BytesMut::with_capacity(self.chunk_size(octets));
            }
        }
    }

    /// Has room ready for a message as long as the last, if some were handed on.
    #[inline]
    pub(super) fn prepare(&mut self) {
        let Some(rare) = &self.rare else { return };
        let octets = rare.handed;
        if rare.ahead.capacity() < octets && self.is_empty() {
            let ahead = self.cut_off(octets);
            self.rare.get_or_insert_default().ahead = ahead;
        }
    }

    /// Two chunks take turns, so that one may still be held.
    #[inline(never)]
    fn change_chunk(&mut self, octets: usize) {
        self.close_open();
        let rare = self.rare.get_or_insert_default();
        // It lies in the same memory.
        rare.ahead = BytesMut::new();
        if self.open.try_reclaim(octets) {
            return;
        }
        std::mem::swap(&mut self.open, &mut rare.spare);
        if !self.open.try_reclaim(octets) {
            self.open = BytesMut::with_capacity(self.chunk_size(octets));
        }
    }

    fn close_open(&mut self) {
        if !self.open.is_empty() {
            self.chunks.push_back(self.open.split().freeze().into());
        }
    }

    /// Grows with what is waiting: a context of rare small messages holds little memory, a busy one allocates
    /// rarely.
    fn chunk_size(&self, len: usize) -> usize {
        let waiting = usize::try_from(self.octets).unwrap_or(usize::MAX);
        if waiting >= CHUNK_BEHIND {
            CHUNK_BEHIND
        } else {
            waiting.max(2 * len).clamp(CHUNK_MIN, CHUNK).next_power_of_two()
        }
    }
}

/// Takes the first element if it is the one.
fn pop_if<T: Copy>(list: &mut VecDeque<T>, is_it: impl FnOnce(&T) -> bool) -> Option<T> {
    let first = list.front().copied().filter(is_it)?;
    list.pop_front();
    Some(first)
}

#[cfg(test)]
#[path = "ready_tests.rs"]
mod tests;
