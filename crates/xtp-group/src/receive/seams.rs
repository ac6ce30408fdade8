//! Tags that begin in one symbol and go on in the next (§9.5).
//!
//! A tag is eight octets of the stream and is handed out as one. Where both symbols were computed from rows, the second one's first
//! octets are octets of data or the rest of a tag, and only the first symbol's marks say which. So the last octets of the first
//! wait for the second, and the second, if it is computed before the octets in front of it are here, waits for them.

use super::blocks::DecodedSegment;
use bytes::{Bytes, BytesMut};
use std::collections::BTreeMap;

/// Octets of a tag.
const TAG: usize = 8;

/// What waits, by the border between two symbols.
#[derive(Debug, Default)]
pub(super) struct Seams {
    /// The first octets of a tag that goes on behind the border.
    halves: BTreeMap<u64, Bytes>,
    /// Segments that begin at a border behind which the rest of a tag may lie: all of that symbol.
    waiting: BTreeMap<u64, Vec<DecodedSegment>>,
}

impl Seams {
    /// Takes the segments of a computed symbol that begins at `start`, and the octets of a tag that its last ones are the beginning
    /// of. What can be handed out goes into `out`; `is_known`: the octet in front of `start` is here.
    pub(super) fn take(
        &mut self,
        (start, end): (u64, u64),
        segments: Vec<DecodedSegment>,
        half: Option<Bytes>,
        is_known: bool,
        out: &mut Vec<DecodedSegment>,
    ) {
        if let Some(half) = half {
            self.halves.insert(end, half);
        }
        self.waiting.insert(start, segments);
        self.settle(start, is_known, out);
        self.settle(end, true, out);
    }

    /// Hands out what waited for the octets in front of it, or for the beginning of its tag.
    pub(super) fn look(&mut self, is_known: impl Fn(u64) -> bool, out: &mut Vec<DecodedSegment>) {
        let borders: Vec<u64> = self.waiting.keys().copied().collect();
        for border in borders {
            self.settle(border, is_known(border), out);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether half a tag waits in front of `border` for the rest of it.
    pub(super) fn has_half(&self, border: u64) -> bool {
        self.halves.contains_key(&border)
    }

    /// Everything below `position` is here.
    pub(super) fn release(&mut self, position: u64) {
        if self
            .halves
            .first_key_value()
            .is_some_and(|(border, _)| *border <= position)
        {
            self.halves = self.halves.split_off(&(position + 1));
        }
    }

    fn settle(&mut self, border: u64, is_known: bool, out: &mut Vec<DecodedSegment>) {
        if !is_known && !self.halves.contains_key(&border) {
            return;
        }
        let Some(mut segments) = self.waiting.remove(&border) else {
            return;
        };
        if let Some(half) = self.halves.remove(&border) {
            join(half, border, &mut segments);
        }
        out.append(&mut segments);
    }
}

/// Puts a tag together: its first octets lie in front of `border`, the rest are the first of `segments`.
fn join(half: Bytes, border: u64, segments: &mut [DecodedSegment]) {
    let Some(first) = segments.first_mut().filter(|first| first.tag.is_none()) else {
        return;
    };
    let rest = TAG - half.len().min(TAG);
    if first.octets.len() < rest {
        return;
    }
    let mut whole = BytesMut::from(&half[..]);
    whole.extend_from_slice(&first.octets.split_to(rest));
    if let Some(octets) = whole.first_chunk() {
        first.tag = Some(u64::from_be_bytes(*octets));
        first.position = border - half.len() as u64;
    }
}

#[cfg(test)]
#[path = "seams_tests.rs"]
mod tests;
