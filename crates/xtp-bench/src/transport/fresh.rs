//! What a program's own data is: not the same memory again and again, and looked at by who receives it.
//!
//! Rows without "fresh" in their notes send one message from the processor's cache, and their receivers count: the most that can
//! be had, and what most benchmarks show. Those of this module send from more memory than any cache holds, and their receivers
//! read every octet.

use std::hint::black_box;
use std::ops::Range;

use bytes::Bytes;

use super::{Transport, Work, always};
use crate::plan::Experiment;

/// More than caches hold.
const MEMORY: usize = 64 << 20;

/// What rows of one message are marked with.
pub(crate) const HOT: &str = "hot: one message from cache, receiver counts";
/// What rows of this module are marked with.
pub(crate) const FRESH: &str = "fresh memory, receiver reads every octet";

/// The rows of this module, and how each of them is called among its like.
const ROWS: [(&str, &str); 8] = [
    (OURS, "xtp"),
    ("xtp-write-read", "xtp-write-read"),
    ("tcp-fresh", "tcp"),
    ("tcp-sendfile", "tcp-sendfile"),
    ("tcp-splice", "tcp-splice"),
    ("tcp-zerocopy", "tcp-zerocopy"),
    ("quinn-fresh", "quinn"),
    ("udp-fresh", "udp"),
];

/// What the others are compared with.
pub(crate) const OURS: &str = "xtp-fresh";

/// Whether a transport's row is one of this module.
pub(crate) fn is_fresh(transport: &str) -> bool {
    among_its_like(transport).is_some()
}

/// What a row of this module is called where there are no others.
pub(crate) fn among_its_like(transport: &str) -> Option<&'static str> {
    let found = ROWS.iter().find(|(name, _)| *name == transport);
    found.map(|(_, short)| *short)
}

/// A row of this module: from memory that was not sent before, to a receiver that reads every octet.
pub(crate) const fn row(name: &'static str, work: Work) -> Transport {
    Transport {
        name,
        experiments: &[Experiment::Bulk],
        obstacle: always,
        work,
    }
}

/// Both notes of a row.
pub(crate) fn marked(mark: &str, more: Option<String>) -> Option<String> {
    Some(match more {
        None => mark.to_owned(),
        Some(more) => format!("{mark}; {more}"),
    })
}

/// Octets that all differ from those before.
pub(crate) fn memory() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut octets = Vec::with_capacity(MEMORY);
    while octets.len() < MEMORY {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        octets.extend_from_slice(&state.to_le_bytes());
    }
    octets
}

/// Messages from one end of the memory to the other, and again.
pub(crate) struct Turns {
    size: usize,
    at: usize,
}

impl Turns {
    pub(crate) fn new(size: u64) -> Self {
        let size = usize::try_from(size).unwrap_or(MEMORY).min(MEMORY);
        Self { size, at: 0 }
    }

    /// Where the next message lies.
    pub(crate) fn next(&mut self) -> Range<usize> {
        if self.at + self.size > MEMORY {
            self.at = 0;
        }
        let range = self.at..self.at + self.size;
        self.at = range.end;
        range
    }
}

/// The memory as messages of the job's size.
pub(crate) struct Messages {
    memory: Bytes,
    turns: Turns,
}

impl Messages {
    pub(crate) fn new(size: u64) -> Self {
        Self {
            memory: Bytes::from(memory()),
            turns: Turns::new(size),
        }
    }

    /// The next one, without a copy.
    pub(crate) fn next(&mut self) -> Bytes {
        self.memory.slice(self.turns.next())
    }
}

/// Memory to receive into, which is not that of a moment ago.
pub(crate) struct Room {
    memory: Vec<u8>,
    turns: Turns,
}

impl Room {
    /// Of so many octets at once.
    pub(crate) fn new(octets: usize) -> Self {
        Self {
            memory: vec![0; MEMORY],
            turns: Turns::new(octets as u64),
        }
    }

    pub(crate) fn next(&mut self) -> &mut [u8] {
        &mut self.memory[self.turns.next()]
    }
}

/// Reads every octet.
pub(crate) fn look_at(octets: &[u8]) {
    let (words, rest) = octets.as_chunks::<8>();
    let sum = words
        .iter()
        .fold(0_u64, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
    black_box(sum.wrapping_add(rest.iter().map(|octet| u64::from(*octet)).sum()));
}

#[cfg(test)]
#[path = "fresh_tests.rs"]
mod tests;
