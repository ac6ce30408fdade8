//! Frames for tests, in plain memory.

use std::sync::{Arc, Mutex};

use super::Frames;

/// Payloads, and the memory they are shown in with their heads.
#[derive(Debug)]
struct Plain {
    room: usize,
    payload: usize,
    octets: Vec<u8>,
    shown: Mutex<Vec<u8>>,
}

/// `octets` in frames of `payload` octets with `room` before each.
pub(crate) fn frames(room: usize, payload: usize, octets: &[u8]) -> Arc<dyn Frames> {
    Arc::new(Plain {
        room,
        payload,
        octets: octets.to_vec(),
        shown: Mutex::default(),
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

    fn with_heads(&self, first: usize, heads: &[u8], visit: &mut dyn FnMut(&[u8])) -> bool {
        let mut shown = self.shown.lock().expect("not poisoned");
        shown.clear();
        for (index, head) in heads.chunks(self.room).enumerate() {
            shown.extend_from_slice(head);
            shown.extend_from_slice(self.frame(first + index));
        }
        visit(&shown);
        true
    }
}
