//! Memory in frames, for users who write so: simple, and never asked for heads.

use std::sync::Arc;

use bytes::Bytes;
use xtp_engine::{Framed, Frames};

#[derive(Debug)]
struct Plain {
    payload: usize,
    octets: Bytes,
}

/// `octets` in frames of `payload` octets.
pub(super) fn of(octets: &Bytes, payload: usize) -> Framed {
    let octets = octets.clone();
    Framed::new(Arc::new(Plain { payload, octets }))
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

    fn with_heads(&self, _: usize, _: &[u8], _: &mut dyn FnMut(&[u8])) -> bool {
        false
    }
}
