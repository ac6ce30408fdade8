//! What the latest blocks needed at least: so many rows follow the next one unasked (§9.10).

use core::time::Duration;
use std::collections::VecDeque;
use xtp_core::time::Time;

/// Blocks whose needs are known and count.
const COUNTED: usize = 8;
/// Blocks that are remembered; of more the oldest are forgotten.
const MOST: usize = 1_024;
/// Rows that follow a block unasked at most, of the rows that there are: one in so many. Whoever needs more asks.
const SHARE: u8 = 8;

/// A finished block.
#[derive(Copy, Clone, Debug)]
struct Finished {
    block: u32,
    at: Time,
    /// Rows that left, or wait, though nobody had asked for them, and those that were asked for besides.
    unasked: u8,
    asked: u16,
}

impl Finished {
    /// Rows of which it is known that somebody needed them. Where nobody asked, one less than came unasked might have been
    /// enough.
    fn needed(&self) -> u16 {
        match self.asked {
            0 => u16::from(self.unasked).saturating_sub(1),
            asked => u16::from(self.unasked) + asked,
        }
    }
}

/// The latest blocks, by number.
#[derive(Debug, Default)]
pub(super) struct Latest(VecDeque<Finished>);

impl Latest {
    /// A block is finished, and so many of its rows leave unasked.
    pub(super) fn finished(&mut self, block: u32, unasked: u8, now: Time) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(Finished {
            block,
            at: now,
            unasked,
            asked: 0,
        });
    }

    /// So many rows of a block were asked for besides.
    pub(super) fn asked(&mut self, block: u32, rows: u16) {
        if let Ok(at) = self.0.binary_search_by_key(&block, |finished| finished.block) {
            self.0[at].asked += rows;
        }
    }

    /// How many of `rows` the next block will need at least, by all that is known. What is needed of a block is known when it has
    /// been finished for so long.
    pub(super) fn least(&mut self, rows: u8, known_after: Duration, now: Time) -> u8 {
        let known = self
            .0
            .partition_point(|finished| now.since(finished.at) >= known_after);
        let Some(old) = known.checked_sub(COUNTED) else {
            return 0;
        };
        self.0.drain(..old);
        let least = self.0.iter().take(COUNTED).map(Finished::needed).min();
        u8::try_from(least.unwrap_or(0))
            .unwrap_or(u8::MAX)
            .min(rows / SHARE)
    }
}

#[cfg(test)]
#[path = "latest_tests.rs"]
mod tests;
