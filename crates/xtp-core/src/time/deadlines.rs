//! The endpoint's queue of deadlines, one a context (§3.7).
//!
//! An indexed four-way heap with lazy postponement. A slot's key in the heap is never later than its deadline;
//! moving a deadline later, or cancelling it, only notes the new one, and the heap is put right when that slot
//! comes to the top. So the common pattern (each answer pushes WTIMER and CTIMER ahead) touches one array cell,
//! a slot at rest costs nothing, and, unlike with a wheel of ticks, the next deadline is exact. Of equal deadlines the
//! lower slot's comes first, whatever was in the heap before.

use crate::Time;

/// Not in the heap.
const ABSENT: u32 = u32::MAX;
/// Children of a node.
const ARITY: usize = 4;

#[derive(Copy, Clone, Debug)]
struct DeadlineSlot {
    /// [`Time::NEVER`] = none.
    deadline: Time,
    position: u32,
}

/// Deadlines of slots `0..2^32 - 1`. Memory is proportional to the greatest slot ever set.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    slots: Vec<DeadlineSlot>,
    heap: Vec<(Time, u32)>,
}

impl Deadlines {
    /// No deadline.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets, moves or cancels the deadline of a slot. [`Time::NEVER`] counts as none.
    pub fn set(&mut self, slot: u32, deadline: Option<Time>) {
        let deadline = deadline.unwrap_or(Time::NEVER);
        let index = slot as usize;
        if index >= self.slots.len() {
            if deadline == Time::NEVER {
                return;
            }
            self.slots.resize(
                index + 1,
                DeadlineSlot {
                    deadline: Time::NEVER,
                    position: ABSENT,
                },
            );
        }
        self.slots[index].deadline = deadline;
        let position = self.slots[index].position;
        if position == ABSENT {
            if deadline != Time::NEVER {
                self.heap.push((deadline, slot));
                self.rise(self.heap.len() - 1);
            }
        } else if deadline < self.heap[position as usize].0 {
            self.heap[position as usize].0 = deadline;
            self.rise(position as usize);
        } else if position == 0 {
            self.settle();
        }
    }

    /// The earliest deadline, exactly.
    pub fn next(&self) -> Option<Time> {
        self.heap.first().map(|&(deadline, _)| deadline)
    }

    /// The slot whose deadline is the earliest, and that.
    pub fn first(&self) -> Option<(Time, u32)> {
        self.heap.first().copied()
    }

    /// No deadline of another slot is earlier than this.
    pub fn second(&self) -> Option<Time> {
        let behind = self.heap.iter().skip(1).take(2);
        behind.map(|(at, _)| *at).min()
    }

    /// Takes out a slot whose deadline has come. Its deadline is cleared.
    pub fn pop_due(&mut self, now: Time) -> Option<u32> {
        let &(deadline, slot) = self.heap.first()?;
        if deadline > now {
            return None;
        }
        self.slots[slot as usize].deadline = Time::NEVER;
        self.settle();
        Some(slot)
    }

    /// Makes the key at the top a true deadline again.
    fn settle(&mut self) {
        while let Some(&(key, slot)) = self.heap.first() {
            let deadline = self.slots[slot as usize].deadline;
            if key == deadline {
                return;
            }
            if deadline == Time::NEVER {
                self.slots[slot as usize].position = ABSENT;
                self.heap.swap_remove(0);
                if self.heap.is_empty() {
                    return;
                }
            } else {
                self.heap[0].0 = deadline;
            }
            self.sink(0);
        }
    }

    /// Moves the entry at `at` towards the top until its parent is no later.
    fn rise(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, entry);
    }

    /// Moves the entry at `at` towards the leaves until no child is earlier.
    fn sink(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let first = at * ARITY + 1;
            let last = (first + ARITY).min(self.heap.len());
            let Some(child) = (first..last).min_by_key(|&child| self.heap[child]) else {
                break;
            };
            if self.heap[child] >= entry {
                break;
            }
            self.place(at, self.heap[child]);
            at = child;
        }
        self.place(at, entry);
    }

    fn place(&mut self, at: usize, entry: (Time, u32)) {
        self.heap[at] = entry;
        self.slots[entry.1 as usize].position = u32::try_from(at).unwrap_or(ABSENT);
    }
}

#[cfg(test)]
#[path = "deadlines_tests.rs"]
mod tests;
