//! Memory of queues that is used again: a short association needs five of them, for one entry each.

use std::collections::VecDeque;

/// Longer ones are given back: the next association is probably a short one.
const KEPT: usize = 64;

/// Takes out all entries, and keeps the memory if it is not much.
pub fn empty<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() > KEPT {
        *queue = VecDeque::new();
    } else if !queue.is_empty() {
        queue.clear();
    }
}
