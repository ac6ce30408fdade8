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

struct ListChunk<T> {
    nodes: Vec<Node<T>>,
    free: u32,
    len: usize,
}

impl<T> ListChunk<T> {
    const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    /// Puts `value` into a free slot of the chunk, which must have room.
    #[inline]
    fn insert(&mut self, value: T) -> u32 {
        let node = Node {
            prev: NONE,
            next: NONE,
            value: Some(value),
        };
        self.len += 1;
        match self.nodes.get_mut(self.free as usize) {
            Some(free) => {
                let spot = std::mem::replace(&mut self.free, free.next);
                *free = node;
                spot
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    #[inline]
    fn remove(&mut self, spot: usize) -> Option<T> {
        let node = self.nodes.get_mut(spot)?;
        let value = node.value.take()?;
        node.prev = NONE;
        node.next = std::mem::replace(&mut self.free, spot as u32);
        self.len -= 1;
        Some(value)
    }
}

/// The slots. A slot number stays valid until its value is removed, and is then used again.
pub(super) struct ListSlab<T> {
    /// The first chunk, apart: where there is no flood, it is the only one.
    first: ListChunk<T>,
    others: Vec<ListChunk<T>>,
    /// Of the others, none before this one has room: the first that has is filled first, so that those behind it empty.
    roomy: usize,
    len: usize,
}

impl<T> ListSlab<T> {
    pub(super) const fn new() -> Self {
        Self {
            first: ListChunk::new(),
            others: Vec::new(),
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
        let others = self.others.iter().map(|chunk| chunk.nodes.capacity());
        self.first.nodes.capacity() + others.sum::<usize>()
    }

    #[inline]
    pub(super) fn insert(&mut self, value: T) -> u32 {
        self.len += 1;
        match self.first.len < CHUNK {
            true => self.first.insert(value),
            false => self.insert_elsewhere(value),
        }
    }

    fn insert_elsewhere(&mut self, value: T) -> u32 {
        let full = |chunk: &ListChunk<T>| chunk.len == CHUNK;
        while self.others.get(self.roomy).is_some_and(full) {
            self.roomy += 1;
        }
        if self.roomy == self.others.len() {
            self.others.push(ListChunk::new());
        }
        // Every table built on this has a limit far below 2^32.
        ((self.roomy + 1) * CHUNK) as u32 + self.others[self.roomy].insert(value)
    }

    #[inline]
    fn node(&mut self, slot: u32) -> Option<&mut Node<T>> {
        match (slot as usize).checked_sub(CHUNK) {
            None => self.first.nodes.get_mut(slot as usize),
            Some(slot) => self.others.get_mut(slot / CHUNK)?.nodes.get_mut(slot % CHUNK),
        }
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&T> {
        let node = match (slot as usize).checked_sub(CHUNK) {
            None => self.first.nodes.get(slot as usize)?,
            Some(slot) => self.others.get(slot / CHUNK)?.nodes.get(slot % CHUNK)?,
        };
        node.value.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.node(slot)?.value.as_mut()
    }

    /// Takes a value out. It must be in no list any more.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) -> Option<T> {
        let value = match (slot as usize).checked_sub(CHUNK) {
            None => self.first.remove(slot as usize)?,
            Some(slot) => self.remove_elsewhere(slot)?,
        };
        self.len -= 1;
        Some(value)
    }

    /// `slot` counts from the first of the other chunks.
    fn remove_elsewhere(&mut self, slot: usize) -> Option<T> {
        let place = slot / CHUNK;
        let chunk = self.others.get_mut(place)?;
        let value = chunk.remove(slot % CHUNK)?;
        if chunk.len == 0 {
            *chunk = ListChunk::new();
            while self.others.last().is_some_and(|last| last.len == 0) {
                self.others.pop();
            }
        }
        self.roomy = self.roomy.min(place).min(self.others.len());
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

/// A chain through a [`ListSlab`], oldest first.
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
