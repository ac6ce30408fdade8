//! The hash of a file's content, made piece by piece.
//!
//! Of a file with holes it does not depend on which zeros are holes, and holes cost no time: content is seen in blocks
//! of 64 KiB, and blocks of zeros count by their place and number only. (A stranger's record of a few octets can stand
//! for a hole of exabytes.)

use super::record::Hash;

/// Octets of a block that counts as a whole if it is zero.
const BLOCK: u64 = 64 << 10;
const ZEROS: [u8; 4_096] = [0; 4_096];

/// A hash under construction.
#[derive(Clone, Default)]
pub(crate) struct ContentHash {
    hasher: blake3::Hasher,
    blocks: Option<Blocks>,
}

/// What is known about the zeros of a file with holes.
#[derive(Clone, Default)]
struct Blocks {
    /// Octets so far.
    at: u64,
    /// Octets at the beginning of this block that are all of it, and zero; not hashed yet.
    zeros: u64,
    /// Place and length of runs of zero blocks.
    runs: blake3::Hasher,
    /// The run that may go on.
    run: Option<(u64, u64)>,
    /// There was a run.
    any: bool,
}

impl ContentHash {
    /// Of a file, or of one with holes.
    pub(crate) fn new(with_holes: bool) -> Self {
        Self {
            hasher: blake3::Hasher::new(),
            blocks: with_holes.then(Blocks::default),
        }
    }

    /// Begins anew.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.blocks.is_some());
    }

    /// More content.
    pub(crate) fn update(&mut self, mut content: &[u8]) {
        let Some(blocks) = &mut self.blocks else {
            self.hasher.update(content);
            return;
        };
        while !content.is_empty() {
            let room = usize::try_from(BLOCK - blocks.at % BLOCK).unwrap_or(content.len());
            let (part, rest) = content.split_at(room.min(content.len()));
            if blocks.zeros == blocks.at % BLOCK && is_zero(part) {
                blocks.zeros(part.len() as u64);
            } else {
                blocks.other(&mut self.hasher, part);
            }
            content = rest;
        }
    }

    /// So many zeros more.
    pub(crate) fn update_zeros(&mut self, mut octets: u64) {
        let Some(blocks) = &mut self.blocks else {
            put_zeros(&mut self.hasher, octets);
            return;
        };
        // The rest of this block, whole blocks, and the beginning of one.
        let room = (BLOCK - blocks.at % BLOCK) % BLOCK;
        let first = room.min(octets);
        if first > 0 {
            if blocks.zeros == blocks.at % BLOCK {
                blocks.zeros(first);
            } else {
                put_zeros(&mut self.hasher, first);
                blocks.at += first;
            }
            octets -= first;
        }
        let whole = octets / BLOCK * BLOCK;
        if whole > 0 {
            blocks.whole(whole);
        }
        if octets > whole {
            blocks.zeros(octets - whole);
        }
    }

    /// The hash of all content so far.
    pub(crate) fn value(&self) -> Hash {
        let mut end = self.clone();
        let Some(mut blocks) = end.blocks.take() else {
            return end.hasher.finalize().into();
        };
        blocks.end_run();
        // A block that is not complete counts by its octets.
        put_zeros(&mut end.hasher, blocks.zeros);
        if !blocks.any {
            return end.hasher.finalize().into();
        }
        let mut both = blake3::Hasher::new();
        both.update(end.hasher.finalize().as_bytes());
        both.update(blocks.runs.finalize().as_bytes());
        both.finalize().into()
    }
}

impl Blocks {
    /// Zeros inside a block that has nothing else so far, up to its end at most.
    fn zeros(&mut self, octets: u64) {
        self.at += octets;
        self.zeros += octets;
        if self.zeros == BLOCK {
            self.at -= BLOCK;
            self.zeros = 0;
            self.whole(BLOCK);
        }
    }

    /// Whole blocks of zeros, at the beginning of one.
    fn whole(&mut self, octets: u64) {
        match &mut self.run {
            Some((_, length)) => *length += octets,
            None => self.run = Some((self.at, octets)),
        }
        self.at += octets;
    }

    /// Content that is not zero, or stands in a block that is not.
    fn other(&mut self, hasher: &mut blake3::Hasher, content: &[u8]) {
        self.end_run();
        put_zeros(hasher, std::mem::take(&mut self.zeros));
        hasher.update(content);
        self.at += content.len() as u64;
    }

    fn end_run(&mut self) {
        if let Some((place, length)) = self.run.take() {
            self.any = true;
            self.runs.update(&place.to_be_bytes());
            self.runs.update(&length.to_be_bytes());
        }
    }
}

fn put_zeros(hasher: &mut blake3::Hasher, mut octets: u64) {
    while octets > 0 {
        let part = octets.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..usize::try_from(part).unwrap_or(ZEROS.len())]);
        octets -= part;
    }
}

/// Whether there is nothing but zeros.
pub(crate) fn is_zero(content: &[u8]) -> bool {
    content
        .chunks(ZEROS.len())
        .all(|part| part == &ZEROS[..part.len()])
}

#[cfg(test)]
#[path = "content_hash_tests.rs"]
mod tests;
