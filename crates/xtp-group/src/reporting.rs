//! What a receiver knows of the transmitter's position, and about which blocks it keeps quiet for now.
//!
//! A block is asked about when it is finished: the transmitter is past its end, and packets that overtook others can no longer
//! be the reason that some are missing. And it is not asked about while it is known that it is being seen to.

use std::collections::BTreeMap;
use std::time::Duration;

use xtp_wire::{serial_gt, serial_max};

use xtp_core::Time;

/// A packet counts for the transmitter's position when so many later ones came.
const LATER: u32 = 3;
/// Blocks that are kept quiet about; of more the lowest are.
const MOST_BLOCKS: usize = 1024;

/// Up to where the transmitter is past, as far as that is sure.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    newest: Option<u32>,
    past: u64,
    /// Packets of the latest syncs, and how far the transmitter was when it sent them; at most three.
    recent: Vec<(u32, u64)>,
}

impl Progress {
    /// Notes a packet of data or parity, the number `sync` of the group's; when it left the transmitter was at `position`, or
    /// farther.
    pub fn packet(&mut self, sync: u32, position: u64) {
        let newest = self.newest.map_or(sync, |newest| serial_max(newest, sync));
        self.newest = Some(newest);
        match self.recent.iter_mut().find(|(known, _)| *known == sync) {
            Some((_, farthest)) => *farthest = position.max(*farthest),
            None => self.recent.push((sync, position)),
        }
        let old = newest.wrapping_sub(LATER);
        let past = &mut self.past;
        self.recent.retain(|(sync, position)| {
            let counts = !serial_gt(*sync, old);
            if counts {
                *past = (*past).max(*position);
            }
            !counts
        });
    }

    /// Notes a poll: what it says counts at once.
    pub fn poll(&mut self, sync: u32, position: u64) {
        self.past = self.past.max(position);
        self.packet(sync, position);
    }

    /// Everything below has left, and what is missing of it is lost.
    #[must_use]
    pub const fn past(&self) -> u64 {
        self.past
    }

    /// The newest packet of the group: what a report echoes.
    #[must_use]
    pub const fn newest(&self) -> Option<u32> {
        self.newest
    }
}

#[derive(Debug, Clone, Copy)]
struct Quiet {
    until: Time,
    /// Rows that are to come; `None` after a report of one's own.
    rows: Option<u16>,
}

/// Blocks about which nothing is said for now.
#[derive(Debug, Clone, Default)]
pub struct QuietBlocks(BTreeMap<u32, Quiet>);

impl QuietBlocks {
    /// After a report of one's own: nothing of this block for `quiet`.
    pub fn reported(&mut self, block: u32, now: Time, quiet: Duration) {
        self.keep(
            block,
            Quiet {
                until: now + quiet,
                rows: None,
            },
        );
    }

    /// The transmitter announced so many rows: nothing for `quiet`, unless more is needed.
    pub fn announced(&mut self, block: u32, rows: u16, now: Time, quiet: Duration) {
        self.keep(
            block,
            Quiet {
                until: now + quiet,
                rows: Some(rows),
            },
        );
    }

    /// A row came; after the last of a repair it is judged anew what is missing.
    pub fn row(&mut self, block: u32, last: bool, now: Time, quiet: Duration) {
        if last {
            self.0.remove(&block);
        } else if let Some(Quiet {
            until,
            rows: Some(rows),
        }) = self.0.get_mut(&block)
        {
            *until = now + quiet;
            *rows = rows.saturating_sub(1);
        }
    }

    /// Whether one who needs `need` symbols of a block says so.
    #[must_use]
    pub fn may_speak(&self, block: u32, need: u16, now: Time) -> bool {
        self.0
            .get(&block)
            .is_none_or(|quiet| now >= quiet.until || quiet.rows.is_some_and(|rows| need > rows))
    }

    /// When the first of them is judged anew; `None` if there is none.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.0.values().map(|quiet| quiet.until).min()
    }

    /// Forgets blocks below this one, and those whose time is over.
    pub fn release(&mut self, below: u32, now: Time) {
        self.0 = self.0.split_off(&below);
        self.0.retain(|_, quiet| now < quiet.until);
    }

    /// Blocks that are kept quiet about; never more than 1 024.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn keep(&mut self, block: u32, quiet: Quiet) {
        self.0.insert(block, quiet);
        if self.0.len() > MOST_BLOCKS {
            self.0.pop_last();
        }
    }
}

#[cfg(test)]
#[path = "reporting_tests.rs"]
mod tests;
