//! Receives that nothing has come for yet.
//!
//! Receives of the same source, mask and masked tag lie in one *bin*, in posting order; bins of the same kind of source and the same
//! mask have one *shape*. What comes is in one bin of each shape, so that the first receive for it is the earliest of as many bins as shapes
//! are in use: programs have few, however many receives they post.

use super::{MessageOrigin, Tags};
use core::mem::{Discriminant, discriminant};
use std::collections::BTreeMap;

/// Which tags receives of a bin are for; of masked ones the bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Selection {
    Any,
    Without,
    Masked(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bin<S> {
    source: S,
    selection: Selection,
    /// The tag's bits that count; 0 where none do.
    value: u64,
}

#[derive(Clone, Copy, Debug)]
struct Shape<S> {
    kind: Discriminant<S>,
    selection: Selection,
    /// Receives that have it; one that has none is forgotten.
    count: usize,
}

/// The table: receives by their numbers, each of which is greater than that of every one before (a number's
/// default is the least), and a value for each. Everything is O(log
/// n) of n receives, times the shapes in use where something comes.
#[derive(Debug)]
pub struct Posted<S, Id, V> {
    bins: BTreeMap<(Bin<S>, Id), V>,
    by_id: BTreeMap<Id, Bin<S>>,
    shapes: Vec<Shape<S>>,
}

impl<S, Id, V> Default for Posted<S, Id, V> {
    fn default() -> Self {
        Self {
            bins: BTreeMap::new(),
            by_id: BTreeMap::new(),
            shapes: Vec::new(),
        }
    }
}

impl<S: Copy + Ord, Id: Copy + Default + Ord, V> Posted<S, Id, V> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// How many shapes the receives there are have.
    #[cfg(test)]
    pub(super) fn shapes_in_use(&self) -> usize {
        self.shapes.len()
    }

    /// Adds a receive; `id` is greater than that of every one before.
    pub fn insert(&mut self, id: Id, source: S, tags: Tags, value: V) {
        let bin = Bin::of(source, tags);
        let (kind, selection) = (discriminant(&source), bin.selection);
        match self.shapes.iter_mut().find(|known| known.is(kind, selection)) {
            Some(known) => known.count += 1,
            None => self.shapes.push(Shape {
                kind,
                selection,
                count: 1,
            }),
        }
        self.bins.insert((bin, id), value);
        self.by_id.insert(id, bin);
    }

    /// Removes a receive; its value if it is there.
    pub fn remove(&mut self, id: Id) -> Option<V> {
        let bin = self.by_id.remove(&id)?;
        let value = self.bins.remove(&(bin, id));
        let (kind, selection) = (discriminant(&bin.source), bin.selection);
        if let Some(at) = self.shapes.iter().position(|known| known.is(kind, selection)) {
            self.shapes[at].count -= 1;
            if self.shapes[at].count == 0 {
                self.shapes.swap_remove(at);
            }
        }
        value
    }

    /// The receive posted first of those that a message with this tag from there matches.
    pub fn find(&self, from: &impl MessageOrigin<Source = S>, tag: Option<u64>) -> Option<(Id, &V)> {
        let bins = self.shapes.iter().filter_map(|shape| shape.bin(from, tag));
        let first = bins.filter_map(|bin| self.first_in(bin));
        first.min_by_key(|(id, _)| *id)
    }

    /// The same, taken out.
    pub fn take(&mut self, from: &impl MessageOrigin<Source = S>, tag: Option<u64>) -> Option<(Id, V)> {
        let (id, _) = self.find(from, tag)?;
        self.remove(id).map(|value| (id, value))
    }

    /// A receive for this source and no other.
    pub fn first_at(&self, source: S) -> Option<Id> {
        let least = Bin {
            source,
            selection: Selection::Any,
            value: 0,
        };
        // Bins of a source lie together; the order of their receives does not matter where all of them end.
        let ((bin, id), _) = self.bins.range((least, Id::default())..).next()?;
        (bin.source == source).then_some(*id)
    }

    fn first_in(&self, bin: Bin<S>) -> Option<(Id, &V)> {
        let ((found, id), value) = self.bins.range((bin, Id::default())..).next()?;
        (*found == bin).then_some((*id, value))
    }
}

impl<S: Copy> Bin<S> {
    fn of(source: S, tags: Tags) -> Self {
        let (selection, value) = match tags {
            Tags::Any => (Selection::Any, 0),
            Tags::Without => (Selection::Without, 0),
            Tags::Like { tag, mask } => (Selection::Masked(mask), tag & mask),
        };
        Self {
            source,
            selection,
            value,
        }
    }
}

impl<S: Copy + Ord> Shape<S> {
    fn is(&self, kind: Discriminant<S>, selection: Selection) -> bool {
        (self.kind, self.selection) == (kind, selection)
    }

    /// The bin of this shape that a message with this tag from there is in.
    fn bin(&self, from: &impl MessageOrigin<Source = S>, tag: Option<u64>) -> Option<Bin<S>> {
        let value = match (self.selection, tag) {
            (Selection::Any, _) | (Selection::Without, None) => 0,
            (Selection::Masked(mask), Some(tag)) => tag & mask,
            (Selection::Without, Some(_)) | (Selection::Masked(_), None) => return None,
        };
        let mut sources = from.sources();
        let source = sources.find(|source| discriminant(source) == self.kind)?;
        Some(Bin {
            source,
            selection: self.selection,
            value,
        })
    }
}
