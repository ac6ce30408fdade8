//! Memory in frames, for users who write so: simple, and never asked for heads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use xtp_engine::{Framed, Frames};

/// How many frames lie together: each alone, few, as many as a train takes, more than a turn sends, all.
const BLOCKS: [usize; 5] = [1, 3, 44, 300, usize::MAX];

#[derive(Debug)]
struct Plain {
    payload: usize,
    /// Frames that lie together.
    block: usize,
    octets: Bytes,
    acknowledged: AtomicUsize,
}

/// `octets` in frames of `payload` octets, as many together as follows from the lengths: nothing is drawn for that.
pub(super) fn of(octets: &Bytes, payload: usize) -> Framed {
    let octets = octets.clone();
    let block = BLOCKS[(octets.len() / 4 + payload) % BLOCKS.len()];
    let acknowledged = AtomicUsize::new(0);
    Framed::new(Arc::new(Plain {
        payload,
        block,
        octets,
        acknowledged,
    }))
}

impl Frames for Plain {
    fn octets(&self) -> usize {
        self.octets.len()
    }

    fn payload(&self) -> usize {
        self.payload
    }

    fn room(&self) -> usize {
        0
    }

    fn frame(&self, index: usize) -> &[u8] {
        let frames = &mut self.octets.chunks(self.payload);
        frames.nth(index).unwrap_or_default()
    }

    fn together(&self, index: usize) -> usize {
        self.block - index % self.block
    }

    fn with_heads(&self, _: usize, _: &[u8], _: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        false
    }

    fn acknowledged(&self, octets: usize) {
        let before = self.acknowledged.fetch_add(octets, Ordering::Relaxed);
        let all = self.octets.len();
        assert!(octets > 0, "nothing was acknowledged");
        assert!(
            before + octets <= all,
            "{before} and {octets} of {all} acknowledged"
        );
    }
}
