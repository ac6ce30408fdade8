//! Receives that nothing has come for yet.
//!
//! Receives of the same source, mask and masked tag lie in one *bin*, in posting order; bins of the same kind of source and the same
//! mask have one *shape*. What comes is in one bin of each shape, so that the first receive for it is the earliest of as many bins as shapes
//! are in use: programs have few, however many receives they post.

use super::{Match, Origin, PostedId, Source, Tags};
use std::collections::BTreeMap;

/// Which tags receives of a bin are for; of masked ones the bits that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Selection {
    Any,
    Without,
    Masked(u64),
}

/// A kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceKind {
    Association,
    Listener,
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bin {
    source: Source,
    selection: Selection,
    /// The tag's bits that count; 0 where none do.
    value: u64,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    place: SourceKind,
    selection: Selection,
    /// Receives that have it; one that has none is forgotten.
    count: usize,
}

/// The table. Everything is O(log n) of n receives, times the shapes in use where something comes.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    /// Longest message each receive takes.
    bins: BTreeMap<(Bin, PostedId), usize>,
    by_id: BTreeMap<PostedId, Bin>,
    shapes: Vec<Shape>,
}

impl Posted {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// How many shapes the receives there are have.
    #[cfg(test)]
    pub(crate) fn shapes_in_use(&self) -> usize {
        self.shapes.len()
    }

    /// Adds a receive; `id` is greater than that of every one before.
    pub(crate) fn insert(&mut self, id: PostedId, wanted: &Match) {
        let bin = Bin::of(wanted);
        let shape = bin.shape();
        match self.shapes.iter_mut().find(|known| known.is(&shape)) {
            Some(known) => known.count += 1,
            None => self.shapes.push(shape),
        }
        self.bins.insert((bin, id), wanted.length);
        self.by_id.insert(id, bin);
    }

    /// Removes a receive; false if it is not there.
    pub(crate) fn remove(&mut self, id: PostedId) -> bool {
        let Some(bin) = self.by_id.remove(&id) else {
            return false;
        };
        self.bins.remove(&(bin, id));
        let shape = bin.shape();
        if let Some(at) = self.shapes.iter().position(|known| known.is(&shape)) {
            self.shapes[at].count -= 1;
            if self.shapes[at].count == 0 {
                self.shapes.swap_remove(at);
            }
        }
        true
    }

    /// Takes out the receive posted first of those that a message with this tag from there matches, and the longest message it takes.
    pub(crate) fn take(&mut self, from: &Origin, tag: Option<u64>) -> Option<(PostedId, usize)> {
        let mut first: Option<(PostedId, usize)> = None;
        for shape in &self.shapes {
            let Some(bin) = shape.bin(from, tag) else { continue };
            let mut bin = self.bins.range((bin, PostedId(0))..=(bin, PostedId(u64::MAX)));
            if let Some(((_, id), length)) = bin.next()
                && first.is_none_or(|(first, _)| *id < first)
            {
                first = Some((*id, *length));
            }
        }
        let (id, length) = first?;
        self.remove(id);
        Some((id, length))
    }

    /// The receive posted first for nobody but this source.
    pub(crate) fn first_at(&self, source: Source) -> Option<PostedId> {
        let least = Bin {
            source,
            selection: Selection::Any,
            value: 0,
        };
        // Bins of a source lie together; which receive of them is the first does not matter to whom all of them end.
        let mut at = self.bins.range((least, PostedId(0))..);
        at.next()
            .filter(|((bin, _), _)| bin.source == source)
            .map(|((_, id), _)| *id)
    }
}

impl Bin {
    fn of(wanted: &Match) -> Self {
        let (selection, value) = match wanted.tags {
            Tags::Any => (Selection::Any, 0),
            Tags::Without => (Selection::Without, 0),
            Tags::Like { tag, mask } => (Selection::Masked(mask), tag & mask),
        };
        Self {
            source: wanted.source,
            selection,
            value,
        }
    }

    /// The shape it has, with one receive.
    fn shape(&self) -> Shape {
        Shape {
            place: match self.source {
                Source::Association(_) => SourceKind::Association,
                Source::Listener(_) => SourceKind::Listener,
                Source::Any => SourceKind::Any,
            },
            selection: self.selection,
            count: 1,
        }
    }
}

impl Shape {
    fn is(&self, other: &Self) -> bool {
        (self.place, self.selection) == (other.place, other.selection)
    }

    /// The bin of this shape that a message with this tag from there is in.
    fn bin(&self, from: &Origin, tag: Option<u64>) -> Option<Bin> {
        let value = match (self.selection, tag) {
            (Selection::Any, _) | (Selection::Without, None) => 0,
            (Selection::Masked(mask), Some(tag)) => tag & mask,
            (Selection::Without, Some(_)) | (Selection::Masked(_), None) => return None,
        };
        let source = match self.place {
            SourceKind::Association => Source::Association(from.association),
            SourceKind::Listener => Source::Listener(from.listener?),
            SourceKind::Any => Source::Any,
        };
        Some(Bin {
            source,
            selection: self.selection,
            value,
        })
    }
}
