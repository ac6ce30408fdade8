//! Messages that are lent to a transport until they are acknowledged, in memory used again afterwards: what a program
//! does that sends all the time, as one over sockets writes into the same memory each time.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::patterns::message::Message;

/// Most messages that are looked after; what is sent beyond them gets memory of its own.
const MOST: usize = 256;

/// The memory of messages sent, the oldest first.
#[derive(Default)]
pub(super) struct Buffers {
    lent: VecDeque<Bytes>,
}

impl Buffers {
    /// A message of `size` octets.
    pub(super) fn message(&mut self, message: &Message, size: usize) -> Bytes {
        let mut octets = self.free().unwrap_or_else(|| allocate(size));
        message.write(&mut octets);
        let octets = octets.freeze();
        if self.lent.len() < MOST {
            self.lent.push_back(octets.clone());
        }
        octets
    }

    /// The oldest message's memory, if nobody else refers to it any more.
    fn free(&mut self) -> Option<BytesMut> {
        match self.lent.pop_front()?.try_into_mut() {
            Ok(octets) => Some(octets),
            Err(octets) => {
                // Acknowledgements of several peers come in any order.
                self.lent.push_back(octets);
                None
            }
        }
    }
}

/// Memory whose owners are counted from the start: otherwise each message would allocate the count.
fn allocate(size: usize) -> BytesMut {
    let mut whole = BytesMut::zeroed(size + 1);
    whole.split_to(size)
}

#[cfg(test)]
#[path = "buffers_tests.rs"]
mod tests;
