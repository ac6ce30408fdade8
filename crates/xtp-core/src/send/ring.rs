//! When the most recent packets left, whether or not the segment map still holds them (§4.1, §3.1).
//!
//! The segment map forgets a packet when its octets are acknowledged and never knew packets without data; an
//! echo may name either. Two rings keep the last `CAPACITY` entries each, so that a long train of data cannot
//! push out the one control packet whose answer is awaited, nor the other way round.

use crate::reuse::empty;
use std::collections::VecDeque;

use crate::fields::Fields;
use crate::time::Time;

/// Entries of each ring. Each covers at least one packet, usually a whole train.
const CAPACITY: usize = 64;

/// Packets with consecutive syncs that left at the same moment.
#[derive(Copy, Clone, Debug, Default)]
struct SentRun {
    sync: u32,
    count: u32,
    time: Time,
}

/// One ring; entries in the order of their syncs. Memory grows with use, up to 1 KiB.
#[derive(Debug, Default)]
struct Ring(VecDeque<SentRun>);

impl Ring {
    /// O(1).
    fn record(&mut self, sync: u32, count: u32, now: Time) {
        if let Some(last) = self.0.back_mut()
            && last.time == now
            && last.sync.wrapping_add(last.count) == sync
        {
            last.count += count;
            return;
        }
        if self.0.len() == CAPACITY {
            self.0.pop_front();
        }
        self.0.push_back(SentRun {
            sync,
            count,
            time: now,
        });
    }

    /// Forgets what was sent before the packet with this sync.
    fn forget_before(&mut self, sync: u32) {
        let old = |sent: &SentRun| sync.wrapping_sub(sent.sync).cast_signed() >= sent.count.cast_signed();
        let count = self.0.partition_point(old);
        self.0.drain(..count);
    }

    fn walk(&mut self, fields: &mut impl Fields) {
        let mut count = self.0.len();
        fields.size(&mut count);
        self.0.resize(count, SentRun::default());
        for sent in &mut self.0 {
            fields.small(&mut sent.sync);
            fields.small(&mut sent.count);
            fields.time(&mut sent.time);
        }
    }

    /// O(log n): entries are ascending in serial order. O(1) for the newest, which is asked for most.
    fn time_of(&self, sync: u32) -> Option<Time> {
        let newest = self.0.back()?;
        let ahead = sync.wrapping_sub(newest.sync);
        if ahead.cast_signed() >= 0 {
            return (ahead < newest.count).then_some(newest.time);
        }
        let after = self
            .0
            .partition_point(|sent| sync.wrapping_sub(sent.sync).cast_signed() >= 0);
        let sent = self.0.get(after.checked_sub(1)?)?;
        (sync.wrapping_sub(sent.sync) < sent.count).then_some(sent.time)
    }
}

/// Sending times of at least the last 64 packets without data and of at least the last 64 runs of data packets.
///
/// Syncs must be recorded in the order in which they were given out (§3.1: one counter a key).
#[derive(Debug, Default)]
pub struct SentRing {
    packets: Ring,
    runs: Ring,
}

impl SentRing {
    /// An empty ring; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// As a new one, in the same memory.
    pub fn renew(&mut self) {
        empty(&mut self.packets.0);
        empty(&mut self.runs.0);
    }

    /// Forgets what was sent before the packet with this sync: no echo that is news can name it.
    pub fn forget_before(&mut self, sync: u32) {
        self.packets.forget_before(sync);
        self.runs.forget_before(sync);
    }

    /// Every field (see [`Fields`]).
    pub fn walk(&mut self, fields: &mut impl Fields) {
        self.packets.walk(fields);
        self.runs.walk(fields);
    }

    /// A packet without data has left.
    pub fn record(&mut self, sync: u32, now: Time) {
        self.packets.record(sync, 1, now);
    }

    /// So many packets with data have left, the first with this sync; consecutive ones of one moment share an entry.
    pub fn record_run(&mut self, sync: u32, count: u32, now: Time) {
        self.runs.record(sync, count, now);
    }

    /// When the packet with this sync left, if it is among those remembered.
    pub fn time_of(&self, sync: u32) -> Option<Time> {
        self.packets.time_of(sync).or_else(|| self.runs.time_of(sync))
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
