//! Frames for tests, in plain memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::Frames;

/// Payloads, and the memory they are shown in with their heads.
#[derive(Debug)]
pub(crate) struct Plain {
    room: usize,
    payload: usize,
    /// So many frames lie together.
    block: usize,
    octets: Vec<u8>,
    shown: Mutex<Vec<u8>>,
    /// What was told to be acknowledged, stretch by stretch.
    acknowledged: Mutex<Vec<usize>>,
    /// How often it was told that something is sent once more.
    again: AtomicUsize,
}

impl Plain {
    /// The stretches that were acknowledged, each with its octets, since it was asked before.
    pub(crate) fn take_acknowledged(&self) -> Vec<usize> {
        std::mem::take(&mut self.acknowledged.lock().expect("not poisoned"))
    }

    /// How often it was told that something is sent once more, since it was asked before.
    pub(crate) fn take_again(&self) -> usize {
        self.again.swap(0, Ordering::Relaxed)
    }
}

/// `octets` in frames of `payload` octets with `room` before each, all of them together.
pub(crate) fn frames(room: usize, payload: usize, octets: &[u8]) -> Arc<dyn Frames> {
    blocks(room, payload, usize::MAX, octets)
}

/// As [`frames`], with no more than `block` together.
pub(crate) fn blocks(room: usize, payload: usize, block: usize, octets: &[u8]) -> Arc<Plain> {
    Arc::new(Plain {
        room,
        payload,
        block,
        octets: octets.to_vec(),
        shown: Mutex::default(),
        acknowledged: Mutex::default(),
        again: AtomicUsize::new(0),
    })
}

impl Frames for Plain {
    fn octets(&self) -> usize {
        self.octets.len()
    }

    fn payload(&self) -> usize {
        self.payload
    }

    fn room(&self) -> usize {
        self.room
    }

    fn frame(&self, index: usize) -> &[u8] {
        self.octets.chunks(self.payload).nth(index).unwrap_or_default()
    }

    fn together(&self, index: usize) -> usize {
        self.block - index % self.block
    }

    fn with_heads(&self, first: usize, heads: &[u8], visit: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        if heads.len() / self.room > self.together(first) {
            return false;
        }
        let mut shown = self.shown.lock().expect("not poisoned");
        shown.clear();
        for (index, head) in heads.chunks(self.room).enumerate() {
            shown.extend_from_slice(head);
            shown.extend_from_slice(self.frame(first + index));
        }
        visit(&shown);
        true
    }

    fn acknowledged(&self, octets: usize) {
        self.acknowledged.lock().expect("not poisoned").push(octets);
    }

    fn sent_again(&self) {
        self.again.fetch_add(1, Ordering::Relaxed);
    }
}
