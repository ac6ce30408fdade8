//! Slabs: memory that datagrams arrive in and that callers may keep parts of.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// Makes slabs, and takes back those that callers have let go of in the meantime.
#[derive(Debug)]
pub(crate) struct SlabPool {
    slab_size: usize,
    /// Slabs that were still referenced when their slot needed a new one, oldest first.
    lent: VecDeque<Bytes>,
    limit: usize,
    allocated: u64,
}

impl SlabPool {
    /// A pool of slabs of `slab_size` octets which remembers at most `limit` lent ones.
    pub(crate) fn new(slab_size: usize, limit: usize) -> Self {
        Self {
            slab_size,
            lent: VecDeque::with_capacity(limit),
            limit,
            allocated: 0,
        }
    }

    /// Octets of a slab.
    pub(crate) fn slab_size(&self) -> usize {
        self.slab_size
    }

    /// Slabs allocated so far.
    pub(crate) fn allocated(&self) -> u64 {
        self.allocated
    }

    /// A slab to write into: one that came back, else a new one.
    pub(crate) fn get(&mut self) -> BytesMut {
        // Mostly the one that was lent first.
        let back = self.lent.iter().position(Bytes::is_unique);
        if let Some(slab) = back.and_then(|index| self.lent.remove(index)) {
            match slab.try_into_mut() {
                Ok(slab) => return slab,
                Err(still_lent) => self.lent.push_back(still_lent),
            }
        }
        self.allocated += 1;
        allocate(self.slab_size)
    }

    /// Makes `slab` writable again, or exchanges it if somebody still refers to it.
    pub(crate) fn exchange(&mut self, slab: Bytes) -> BytesMut {
        let lent = match slab.try_into_mut() {
            Ok(slab) => return slab,
            Err(lent) => lent,
        };
        let fresh = self.get();
        // Beyond the limit the callers' references alone keep a slab alive: it is freed, not reused.
        if self.lent.len() == self.limit {
            self.lent.pop_front();
        }
        if self.limit > 0 {
            self.lent.push_back(lent);
        }
        fresh
    }
}

/// A zeroed slab whose later freezing, sharing and thawing never allocate.
fn allocate(size: usize) -> BytesMut {
    // Splitting makes the buffer reference-counted now; otherwise the first clone of every frozen
    // round would allocate the count.
    let mut whole = BytesMut::zeroed(size + 1);
    whole.split_to(size)
}

#[cfg(test)]
#[path = "slab_tests.rs"]
mod tests;
