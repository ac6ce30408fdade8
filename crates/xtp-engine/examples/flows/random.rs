//! Round trips on a random one of many open associations.

use super::{PORT, Pair, Waiting};
use bytes::Bytes;
use std::time::Duration;
use xtp_engine::paradigm;

/// Between two round trips, beside what they take on the wire: with it one takes 10 us, as over loopback.
const BETWEEN: Duration = Duration::from_micros(6);

/// How many are open in the flow of this name.
pub(super) fn open_ones(flow: &str) -> Option<usize> {
    let open = flow.strip_prefix("random-of-")?.parse().ok()?;
    (open > 0).then_some(open)
}

/// Message to and fro on one of `open` associations, each time another one, in no order: every one of them is used now and then.
pub(super) fn random_of(pair: &mut Pair, count: usize, open: usize) {
    let message = Bytes::from(vec![7; 64]);
    let mut opened = Vec::with_capacity(open);
    for _ in 0..open {
        let here = pair.open(paradigm::stream(PORT));
        pair.message(0, here, (None, &message), Waiting::Nobody);
        let there = pair.accept();
        pair.take(1, there, 64);
        let came = pair.message(1, there, (None, &message), Waiting::Message(here));
        pair.take(0, here, 64 - came);
        opened.push((here, there));
        pair.rest();
    }
    let mut drawn: u64 = 1;
    // Nearly all were used a few times before it counts.
    for _ in 0..count + 4 * open {
        drawn = drawn.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let (here, there) = opened[(drawn >> 33) as usize % open];
        let came = pair.message(0, here, (None, &message), Waiting::Message(there));
        pair.take(1, there, 64 - came);
        let came = pair.message(1, there, (None, &message), Waiting::Message(here));
        pair.take(0, here, 64 - came);
        pair.rest();
    }
}

impl Pair {
    /// Nothing is to be done until the next round trip but what time demands.
    fn rest(&mut self) {
        self.now = self.now + BETWEEN;
        for _ in 0..2 {
            for me in [0, 1] {
                self.turn_if_pressing(me);
                while self.ends[me].poll_event().is_some() {}
            }
        }
    }
}
