//! Values in slots of one growing array, chained into lists: the order of age costs no search and no allocation.

/// No slot.
const NONE: u32 = u32::MAX;

struct Node<T> {
    prev: u32,
    /// Next of the list, or of the free slots.
    next: u32,
    value: Option<T>,
}

/// The slots. A slot number stays valid until its value is removed, and is then used again.
pub(super) struct Slab<T> {
    nodes: Vec<Node<T>>,
    free: u32,
    len: usize,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free: NONE,
            len: 0,
        }
    }

    /// Values held.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn insert(&mut self, value: T) -> u32 {
        self.len += 1;
        if let Some(node) = self.nodes.get_mut(self.free as usize) {
            let slot = self.free;
            self.free = node.next;
            *node = Node {
                prev: NONE,
                next: NONE,
                value: Some(value),
            };
            return slot;
        }
        // Every table built on this has a limit far below 2^32.
        let slot = self.nodes.len() as u32;
        self.nodes.push(Node {
            prev: NONE,
            next: NONE,
            value: Some(value),
        });
        slot
    }

    pub(super) fn get(&self, slot: u32) -> Option<&T> {
        self.nodes.get(slot as usize)?.value.as_ref()
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.nodes.get_mut(slot as usize)?.value.as_mut()
    }

    /// Takes a value out. It must be in no list any more.
    pub(super) fn remove(&mut self, slot: u32) -> Option<T> {
        let node = self.nodes.get_mut(slot as usize)?;
        let value = node.value.take()?;
        node.prev = NONE;
        node.next = self.free;
        self.free = slot;
        self.len -= 1;
        Some(value)
    }

    /// Appends a slot that is in no list.
    pub(super) fn push_back(&mut self, list: &mut List, slot: u32) {
        let Some(node) = self.nodes.get_mut(slot as usize) else {
            return;
        };
        node.prev = list.tail;
        node.next = NONE;
        match self.nodes.get_mut(list.tail as usize) {
            Some(tail) => tail.next = slot,
            None => list.head = slot,
        }
        list.tail = slot;
        list.len += 1;
    }

    /// Takes a slot out of `list`, in which it must be.
    pub(super) fn unlink(&mut self, list: &mut List, slot: u32) {
        let Some(node) = self.nodes.get_mut(slot as usize) else {
            return;
        };
        let (prev, next) = (node.prev, node.next);
        (node.prev, node.next) = (NONE, NONE);
        match self.nodes.get_mut(prev as usize) {
            Some(node) => node.next = next,
            None => list.head = next,
        }
        match self.nodes.get_mut(next as usize) {
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
