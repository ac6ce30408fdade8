//! Values in slots, chained into lists: the order of age costs no search and no allocation. Slots lie in chunks, and what a
//! flood filled is given back when it has emptied.

/// No slot.
const NONE: u32 = u32::MAX;
/// Slots of a chunk.
const CHUNK: usize = 1_024;

struct Node<T> {
    prev: u32,
    /// Next of the list, or of the free slots of its chunk.
    next: u32,
    value: Option<T>,
}

struct Chunk<T> {
    nodes: Vec<Node<T>>,
    free: u32,
    len: usize,
}

/// The slots. A slot number stays valid until its value is removed, and is then used again.
pub(super) struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    /// No chunk before this one has room: the first that has is filled first, so that those behind it empty.
    roomy: usize,
    len: usize,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            roomy: 0,
            len: 0,
        }
    }

    /// Values held.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Slots there is memory for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.nodes.capacity()).sum()
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        while self
            .chunks
            .get(self.roomy)
            .is_some_and(|chunk| chunk.len == CHUNK)
        {
            self.roomy += 1;
        }
        let place = self.roomy;
        if place == self.chunks.len() {
            self.chunks.push(Chunk {
                nodes: Vec::new(),
                free: NONE,
                len: 0,
            });
        }
        let chunk = &mut self.chunks[place];
        let node = Node {
            prev: NONE,
            next: NONE,
            value: Some(value),
        };
        let spot = match chunk.nodes.get_mut(chunk.free as usize) {
            Some(free) => {
                let spot = std::mem::replace(&mut chunk.free, free.next);
                *free = node;
                spot
            }
            None => {
                chunk.nodes.push(node);
                (chunk.nodes.len() - 1) as u32
            }
        };
        self.len += 1;
        chunk.len += 1;
        // Every table built on this has a limit far below 2^32.
        (place * CHUNK) as u32 + spot
    }

    fn node(&mut self, slot: u32) -> Option<&mut Node<T>> {
        let chunk = self.chunks.get_mut(slot as usize / CHUNK)?;
        chunk.nodes.get_mut(slot as usize % CHUNK)
    }

    pub(super) fn get(&self, slot: u32) -> Option<&T> {
        let chunk = self.chunks.get(slot as usize / CHUNK)?;
        chunk.nodes.get(slot as usize % CHUNK)?.value.as_ref()
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.node(slot)?.value.as_mut()
    }

    /// Takes a value out. It must be in no list any more.
    pub(super) fn remove(&mut self, slot: u32) -> Option<T> {
        let (place, spot) = (slot as usize / CHUNK, slot as usize % CHUNK);
        let chunk = self.chunks.get_mut(place)?;
        let node = chunk.nodes.get_mut(spot)?;
        let value = node.value.take()?;
        node.prev = NONE;
        node.next = std::mem::replace(&mut chunk.free, spot as u32);
        chunk.len -= 1;
        self.roomy = self.roomy.min(place);
        self.len -= 1;
        // The first is needed again soon.
        if chunk.len == 0 && place > 0 {
            (chunk.nodes, chunk.free) = (Vec::new(), NONE);
            while self.chunks.len() > 1 && self.chunks.last().is_some_and(|last| last.len == 0) {
                self.chunks.pop();
            }
        }
        Some(value)
    }

    /// Appends a slot that is in no list.
    pub(super) fn push_back(&mut self, list: &mut List, slot: u32) {
        let Some(node) = self.node(slot) else {
            return;
        };
        node.prev = list.tail;
        node.next = NONE;
        match self.node(list.tail) {
            Some(tail) => tail.next = slot,
            None => list.head = slot,
        }
        list.tail = slot;
        list.len += 1;
    }

    /// Takes a slot out of `list`, in which it must be.
    pub(super) fn unlink(&mut self, list: &mut List, slot: u32) {
        let Some(node) = self.node(slot) else {
            return;
        };
        let (prev, next) = (node.prev, node.next);
        (node.prev, node.next) = (NONE, NONE);
        match self.node(prev) {
            Some(node) => node.next = next,
            None => list.head = next,
        }
        match self.node(next) {
            Some(node) => node.prev = prev,
            None => list.tail = prev,
        }
        list.len -= 1;
    }
}

/// A chain through a [`Slab`], oldest first.
pub(super) struct List {
    head: u32,
    tail: u32,
    len: usize,
}

impl List {
    pub(super) const fn new() -> Self {
        Self {
            head: NONE,
            tail: NONE,
            len: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The newest slot.
    pub(super) fn back(&self) -> Option<u32> {
        (self.tail != NONE).then_some(self.tail)
    }

    /// The oldest slot.
    pub(super) fn front(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
