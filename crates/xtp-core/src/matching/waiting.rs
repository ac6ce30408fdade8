//! Messages that no posted receive was for: they wait, in the order in which they began, for one that is, or for a look.

use super::{MessageOrigin, Tags};
use std::collections::{BTreeMap, BTreeSet};

/// A message's place: those that began earlier have smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn(u64);

#[derive(Debug)]
struct Entry<O, T> {
    from: O,
    tag: Option<u64>,
    message: T,
}

/// The list, of messages or whatever stands for them. Everything is O(log n) of n messages, but looking for a part of a tag, which passes
/// over the messages of its source one by one.
#[derive(Debug)]
pub struct Waiting<O: MessageOrigin, T> {
    entries: BTreeMap<Turn, Entry<O, T>>,
    by_source: BTreeSet<(O::Source, Turn)>,
    by_tag: BTreeSet<(O::Source, Option<u64>, Turn)>,
    next: u64,
}

impl<O: MessageOrigin, T> Default for Waiting<O, T> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            by_source: BTreeSet::new(),
            by_tag: BTreeSet::new(),
            next: 0,
        }
    }
}

impl<O: MessageOrigin, T> Waiting<O, T> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds the message that began last.
    pub fn push(&mut self, from: O, tag: Option<u64>, message: T) -> Turn {
        let turn = Turn(self.next);
        self.next += 1;
        for source in from.sources() {
            self.by_source.insert((source, turn));
            self.by_tag.insert((source, tag, turn));
        }
        self.entries.insert(turn, Entry { from, tag, message });
        turn
    }

    /// The message that began first of those with such a tag from there.
    pub fn find(&self, source: O::Source, tags: Tags) -> Option<Turn> {
        match tags {
            Tags::Any => self.all(source).next(),
            Tags::Without => self.tagged(source, None),
            Tags::Like { tag, mask: u64::MAX } => self.tagged(source, Some(tag)),
            Tags::Like { .. } => self.all(source).find(|turn| {
                let entry = self.entries.get(turn);
                entry.is_some_and(|entry| tags.has(entry.tag))
            }),
        }
    }

    /// Messages from there, in order.
    pub fn all(&self, source: O::Source) -> impl Iterator<Item = Turn> {
        let all = (source, Turn(0))..=(source, Turn(u64::MAX));
        self.by_source.range(all).map(|(_, turn)| *turn)
    }

    fn tagged(&self, source: O::Source, tag: Option<u64>) -> Option<Turn> {
        let all = (source, tag, Turn(0))..=(source, tag, Turn(u64::MAX));
        self.by_tag.range(all).next().map(|(_, _, turn)| *turn)
    }

    /// Where a message comes from, its tag, and what stands for it.
    pub fn get(&self, turn: Turn) -> Option<(O, Option<u64>, &T)> {
        let entry = self.entries.get(&turn)?;
        Some((entry.from, entry.tag, &entry.message))
    }

    /// The same, to change what stands for it.
    pub fn message_mut(&mut self, turn: Turn) -> Option<&mut T> {
        self.entries.get_mut(&turn).map(|entry| &mut entry.message)
    }

    /// Takes a message out.
    pub fn take(&mut self, turn: Turn) -> Option<(O, T)> {
        let Entry { from, tag, message } = self.entries.remove(&turn)?;
        for source in from.sources() {
            self.by_source.remove(&(source, turn));
            self.by_tag.remove(&(source, tag, turn));
        }
        Some((from, message))
    }
}
