//! The segment map: when each unacknowledged octet was sent last, and with which sync (§4.1, §4.2,
//! §4.3, §5.3).
//!
//! The map holds runs, one a train: segments of one size with consecutive syncs that left at one moment. A run
//! is split only where something in it is lost, acknowledged or sent again apart from the rest.
//!
//! # Cost
//!
//! Runs lie in a double-ended queue in the order of `seq`. New data goes to its back and cumulative
//! acknowledgements take from its front, both in amortised O(1). An operation inside finds its place in
//! O(log n); a split there moves up to half of the runs (40 octets each), which is cheaper than a tree for the
//! few hundred runs of a large window. As long as nothing was retransmitted the runs are also in the order of
//! their syncs and times, and judging and counting stop at the first run that can not matter; after a
//! retransmission they look at all runs up to the end of what was retransmitted.
//!
//! # Limits
//!
//! An acknowledged range that lies strictly inside one segment is ignored (no reader that keeps what it was
//! sent can produce it), so a peer can not make more runs than there are unacknowledged segments.

mod judge;
mod reordering;

pub use judge::{DetectedLoss, LossCriteria, NEVER};
pub use reordering::{Overtaken, Reordering, ReportSpan};

use crate::reuse::empty;
use std::cell::Cell;
use std::collections::VecDeque;

use xtp_wire::serial_gt;

use crate::time::Time;

/// Segments at consecutive positions with consecutive syncs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct SegmentRun {
    /// First octet.
    seq: u64,
    time: Time,
    /// Of the first segment.
    sync: u32,
    /// Segments; at least 1.
    count: u32,
    /// Octets of every segment but the last.
    size: u32,
    /// Octets of the last segment; 1 to `size`.
    last: u32,
    lost: bool,
}

impl SegmentRun {
    fn octets(&self) -> u64 {
        u64::from(self.count - 1) * u64::from(self.size) + u64::from(self.last)
    }

    fn end(&self) -> u64 {
        self.seq + self.octets()
    }

    /// Segments whose sync is not newer than `sync`: always the first ones.
    fn up_to(&self, sync: u32) -> u32 {
        let distance = sync.wrapping_sub(self.sync).cast_signed();
        if distance < 0 {
            0
        } else {
            self.count.min(distance.cast_unsigned().saturating_add(1))
        }
    }

    /// Segments that end at or before `position`: always the first ones.
    fn ended_by(&self, position: u64) -> u32 {
        if position >= self.end() {
            self.count
        } else {
            // Below the end of the run, hence less than `count`.
            (position.saturating_sub(self.seq) / u64::from(self.size)) as u32
        }
    }

    /// Octets of the first `count` segments.
    fn octets_of(&self, count: u32) -> u64 {
        if count >= self.count {
            self.octets()
        } else {
            u64::from(count) * u64::from(self.size)
        }
    }

    /// The first `count` segments, and the rest; both must have at least one.
    fn split(self, count: u32) -> (Self, Self) {
        let first = Self {
            count,
            last: self.size,
            ..self
        };
        let rest = Self {
            seq: self.seq + u64::from(count) * u64::from(self.size),
            sync: self.sync.wrapping_add(count),
            count: self.count - count,
            ..self
        };
        (first, rest.normal())
    }

    /// A run of one segment has `size == last`.
    fn normal(mut self) -> Self {
        if self.count == 1 {
            self.size = self.last;
        }
        self
    }
}

/// The segment map of one writer.
#[derive(Debug, Default)]
pub struct Inflight {
    /// Ascending, not overlapping.
    runs: VecDeque<SegmentRun>,
    octets: u64,
    lost_octets: u64,
    /// Runs that start here or later are in the order of their syncs and times.
    ordered_from: u64,
    /// Nothing below this position is lost.
    lowest_lost: Cell<u64>,
    /// Nothing from this position on is lost.
    lost_end: u64,
}

impl Inflight {
    /// An empty map; allocates nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// As a new one, in the same memory.
    pub fn renew(&mut self) {
        empty(&mut self.runs);
        let Self {
            runs: _,
            octets,
            lost_octets,
            ordered_from,
            lowest_lost,
            lost_end,
        } = self;
        (*octets, *lost_octets, *ordered_from, *lost_end) = (0, 0, 0, 0);
        lowest_lost.set(0);
    }

    /// `len` octets from `seq` on have left (again) as one packet.
    ///
    /// What the map knew about these octets is replaced, a mark of loss included. Syncs must be newer than all
    /// recorded before, and `now` not earlier. Amortised O(1) for new data, O(log n) and a possible move of
    /// runs (see the module) for a retransmission.
    pub fn record(&mut self, seq: u64, len: u32, sync: u32, now: Time) {
        if len == 0 {
            return;
        }
        let end = seq + u64::from(len);
        let index = if self.runs.back().is_none_or(|back| back.end() <= seq) {
            self.runs.len()
        } else {
            self.carve(seq, end)
        };
        self.octets += u64::from(len);
        if index < self.runs.len() {
            self.ordered_from = self.ordered_from.max(end);
        }
        if let Some(before) = index.checked_sub(1).and_then(|before| self.runs.get_mut(before))
            && extends(before, seq, len, sync, now)
        {
            before.count += 1;
            before.last = len;
            return;
        }
        let run = SegmentRun {
            seq,
            time: now,
            sync,
            count: 1,
            size: len,
            last: len,
            lost: false,
        };
        match index == self.runs.len() {
            true => self.runs.push_back(run),
            false => self.runs.insert(index, run),
        }
    }

    /// So many packets of `len` octets each have left, from `seq` on, the first with this sync. Amortised O(1) for new
    /// data.
    #[inline]
    pub fn record_run(&mut self, seq: u64, len: u32, count: u32, sync: u32, now: Time) {
        match count {
            1 => self.record(seq, len, sync, now),
            _ => self.record_many(seq, len, count, sync, now),
        }
    }

    fn record_many(&mut self, seq: u64, len: u32, count: u32, sync: u32, now: Time) {
        let Some(more) = count.checked_sub(1) else { return };
        self.record(seq, len, sync, now);
        let is_new = self.runs.back().is_some_and(|last| {
            let joined = last.sync.wrapping_add(last.count - 1) == sync;
            joined && last.end() == seq + u64::from(len) && last.last == last.size && last.time == now
        });
        if is_new {
            if let Some(last) = self.runs.back_mut() {
                last.count += more;
            }
            self.octets += u64::from(more) * u64::from(len);
            return;
        }
        for index in 1..=more {
            let seq = seq + u64::from(index) * u64::from(len);
            self.record(seq, len, sync.wrapping_add(index), now);
        }
    }

    /// Everything below `rseq` has arrived. Returns how many octets leave the map by it. Amortised O(1).
    pub fn acknowledge_below(&mut self, rseq: u64) -> u64 {
        let before = self.octets;
        while let Some(&front) = self.runs.front() {
            if front.seq >= rseq {
                break;
            }
            if front.end() > rseq {
                self.carve(front.seq, rseq);
                break;
            }
            self.runs.pop_front();
            self.forget(&front);
        }
        before - self.octets
    }

    /// `left..right` has arrived (one span). Returns how many octets leave the map by it.
    ///
    /// Segments acknowledged in part are trimmed; a range strictly inside one segment is ignored.
    pub fn acknowledge_range(&mut self, left: u64, right: u64) -> u64 {
        if left >= right || self.pierces(left, right) {
            return 0;
        }
        let before = self.octets;
        self.carve(left, right);
        before - self.octets
    }

    /// Whether a segment of at least `len` octets lies in `left..right`, in whole or in part. O(log n + runs touched).
    pub fn has_as_large(&self, left: u64, right: u64, len: u32) -> bool {
        let first = self.runs.partition_point(|run| run.end() <= left);
        let mut touched = self.runs.range(first..).take_while(|run| run.seq < right);
        touched.any(|run| run.size >= len)
    }

    /// Marks what the evidence shows to be lost (§4.3): segments with a sync at least `threshold`
    /// older than the echo, and those not newer than the echo that were sent at least `late` ago.
    pub fn judge(&mut self, judge: LossCriteria) -> DetectedLoss {
        let mut verdict = DetectedLoss::default();
        let mut index = self.runs.partition_point(|run| run.seq < judge.above);
        while let Some(&run) = self.runs.get(index) {
            let rest_is_newer = run.seq >= self.ordered_from && serial_gt(run.sync, judge.echo);
            if rest_is_newer || run.seq >= judge.below {
                break;
            }
            index += 1;
            if run.lost {
                continue;
            }
            let allowed = run.ended_by(judge.below);
            let candidates = run.up_to(judge.echo).min(allowed);
            if candidates == 0 {
                continue;
            }
            let is_late = judge.now.since(run.time) >= judge.late;
            let lost = if is_late {
                candidates
            } else {
                run.up_to(judge.echo.wrapping_sub(judge.threshold)).min(allowed)
            };
            if lost < candidates {
                let due = run.time + judge.late;
                verdict.check_at = Some(verdict.check_at.map_or(due, |earlier| earlier.min(due)));
            }
            if lost > 0 {
                verdict.gaps += u32::from(!self.goes_on(index - 1));
                let marked = self.mark_run(index - 1, lost);
                verdict.add(&marked);
            }
        }
        verdict
    }

    /// Whether the segment before this run is lost, too, perhaps already sent again.
    fn goes_on(&self, index: usize) -> bool {
        let run = &self.runs[index];
        let before = index.checked_sub(1).and_then(|before| self.runs.get(before));
        before.is_some_and(|before| {
            before.end() == run.seq && (before.lost || serial_gt(before.sync, run.sync))
        })
    }

    /// The lowest lost segment: its first octet and its length. Amortised O(1) when lost segments are sent
    /// again in ascending order.
    #[cfg(test)]
    pub fn next_lost(&self) -> Option<(u64, u32)> {
        let (seq, len) = self.lost_from(self.lowest_lost.get())?;
        self.lowest_lost.set(seq);
        Some((seq, len))
    }

    /// The lowest lost segment, or rest of one, at or behind `position`: its first octet and its length. For
    /// planning a batch before it is recorded. O(log n) and the runs between `position` and the answer.
    pub fn lost_from(&self, position: u64) -> Option<(u64, u32)> {
        let position = position.max(self.lowest_lost.get());
        if self.lost_octets == 0 || position >= self.lost_end {
            return None;
        }
        let start = self.runs.partition_point(|run| run.end() <= position);
        let run = self.runs.range(start..).find(|run| run.lost)?;
        let from = position.max(run.seq);
        let segment = (from - run.seq) / u64::from(run.size);
        let end = run.end().min(run.seq + (segment + 1) * u64::from(run.size));
        Some((from, (end - from) as u32))
    }

    /// Whether anything is lost and not sent again yet. O(1).
    pub fn has_lost(&self) -> bool {
        self.lost_octets > 0
    }

    /// Octets lost and not sent again yet. O(1).
    #[cfg(test)]
    pub fn lost_octets(&self) -> u64 {
        self.lost_octets
    }

    /// The unacknowledged segment with the greatest position: its first octet and its length. O(1).
    pub fn last(&self) -> Option<(u64, u32)> {
        self.runs
            .back()
            .map(|run| (run.end() - u64::from(run.last), run.last))
    }

    /// Octets of the unacknowledged segment with the least position. O(1).
    pub fn first_len(&self) -> Option<u32> {
        self.runs.front().map(|run| run.size)
    }

    /// The unacknowledged segment with the least position is lost, if it does not wait to leave again.
    pub fn lose_first(&mut self) {
        if let Some(run) = self.runs.front().filter(|run| !run.lost) {
            let len = if run.count == 1 { run.last } else { run.size };
            self.mark_lost(run.seq, len);
        }
    }

    /// Whether everything sent is acknowledged. O(1).
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Octets unacknowledged, lost ones included. O(1).
    pub fn octets(&self) -> u64 {
        self.octets
    }

    /// Sendings with octets unacknowledged: a train counts once, and so does a packet that left by itself. O(1).
    pub fn sendings(&self) -> usize {
        self.runs.len()
    }

    /// Those of which not all is lost. O(runs).
    pub fn sendings_not_lost(&self) -> usize {
        self.runs.iter().filter(|run| !run.lost).count()
    }

    /// Octets in flight (§5.3): not lost, and sent at `young_since` or later (`None`: whenever) or
    /// with a sync not newer than `covered_up_to`. O(1) for `None`, else O(runs older than `young_since`).
    pub fn in_flight(&self, young_since: Option<Time>, covered_up_to: Option<u32>) -> u64 {
        let not_lost = self.octets - self.lost_octets;
        let Some(young_since) = young_since else {
            return not_lost;
        };
        let mut forgotten = 0;
        for run in &self.runs {
            if run.time >= young_since {
                if run.seq >= self.ordered_from {
                    break;
                }
            } else if !run.lost {
                let covered = covered_up_to.map_or(0, |sync| run.octets_of(run.up_to(sync)));
                forgotten += run.octets() - covered;
            }
        }
        not_lost - forgotten
    }

    /// Packets not covered by the newest request (`None`: there was none): all of them, and those sent at
    /// `young_since` or later (`None`: whenever). O(runs sent after the request).
    pub fn uncovered(&self, covered_up_to: Option<u32>, young_since: Option<Time>) -> (u32, u32) {
        let (mut all, mut young) = (0, 0);
        for run in self.runs.iter().rev() {
            let packets = run.count - covered_up_to.map_or(0, |sync| run.up_to(sync));
            if packets == 0 && run.seq >= self.ordered_from {
                // Whatever lies before, down to `ordered_from`, is older and covered as well.
                let rest = self.runs.partition_point(|run| run.seq < self.ordered_from);
                let (more, more_young) = self.uncovered_among_first(rest, covered_up_to, young_since);
                return (all + more, young + more_young);
            }
            all += packets;
            if young_since.is_none_or(|since| run.time >= since) {
                young += packets;
            }
        }
        (all, young)
    }

    /// As [`uncovered`](Self::uncovered), for the first `count` runs.
    fn uncovered_among_first(
        &self,
        count: usize,
        covered_up_to: Option<u32>,
        young_since: Option<Time>,
    ) -> (u32, u32) {
        self.runs.range(..count).fold((0, 0), |(all, young), run| {
            let packets = run.count - covered_up_to.map_or(0, |sync| run.up_to(sync));
            let is_young = young_since.is_none_or(|since| run.time >= since);
            (all + packets, young + if is_young { packets } else { 0 })
        })
    }

    /// When the packet with this sync left, if any of its octets are unacknowledged and not sent again.
    /// O(log n) plus O(runs below the end of the last retransmission).
    pub fn time_of(&self, sync: u32) -> Option<Time> {
        let holds = |run: &&SegmentRun| sync.wrapping_sub(run.sync) < run.count;
        let ordered = self.runs.partition_point(|run| run.seq < self.ordered_from);
        let is_before =
            |run: &SegmentRun| run.seq < self.ordered_from || sync.wrapping_sub(run.sync).cast_signed() >= 0;
        let after = self.runs.partition_point(is_before);
        let found = if after > ordered {
            self.runs.get(after - 1).filter(holds)
        } else {
            None
        };
        found
            .or_else(|| self.runs.range(..ordered).find(holds))
            .map(|run| run.time)
    }

    /// Forgets everything (the association has ended, or the peer refuses the stream).
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Marks the octets `seq..seq + len` as lost, as far as they are in the map. O(runs touched + log n).
    pub fn mark_lost(&mut self, seq: u64, len: u32) {
        let first = self.cut_at(seq);
        let after = self.cut_at(seq.saturating_add(u64::from(len)));
        for index in first..after {
            let run = self.runs[index];
            if !run.lost {
                self.mark_run(index, run.count);
            }
        }
    }

    /// Marks all segments that begin at `seq` or behind it as lost. O(runs touched + log n).
    pub fn mark_all_lost_from(&mut self, seq: u64) {
        let first = self.runs.partition_point(|run| run.end() <= seq);
        let mut index = first;
        while let Some(&run) = self.runs.get(index) {
            // Segments that begin below `seq`.
            let below = seq
                .saturating_sub(run.seq)
                .div_ceil(u64::from(run.size))
                .min(u64::from(run.count)) as u32;
            if below > 0 && below < run.count {
                let (kept, rest) = run.split(below);
                self.runs[index] = kept.normal();
                self.runs.insert(index + 1, rest);
            } else if below == 0 && !run.lost {
                self.mark_run(index, run.count);
            }
            index += 1;
        }
    }

    /// Marks all segments of more than `len` octets as lost. O(runs).
    pub fn mark_longer_lost(&mut self, len: u32) {
        for index in (0..self.runs.len()).rev() {
            let run = self.runs[index];
            let longer = match () {
                () if run.lost || run.size <= len && run.last <= len => 0,
                () if run.last <= len => run.count - 1,
                () => run.count,
            };
            if longer > 0 {
                self.mark_run(index, longer);
            }
        }
    }

    /// Marks the first `count` segments of a run and returns them; the rest becomes the run behind it.
    fn mark_run(&mut self, index: usize, count: u32) -> SegmentRun {
        let run = self.runs[index];
        let (mut marked, rest) = if count < run.count {
            let (first, rest) = run.split(count);
            (first.normal(), Some(rest))
        } else {
            (run, None)
        };
        marked.lost = true;
        self.runs[index] = marked;
        if let Some(rest) = rest {
            self.runs.insert(index + 1, rest);
        }
        if self.lost_octets == 0 {
            self.lost_end = 0;
        }
        self.lost_octets += marked.octets();
        self.lowest_lost.set(self.lowest_lost.get().min(marked.seq));
        self.lost_end = self.lost_end.max(marked.end());
        marked
    }

    /// Whether the range lies strictly inside one segment.
    fn pierces(&self, left: u64, right: u64) -> bool {
        let index = self.runs.partition_point(|run| run.end() <= left);
        let Some(run) = self
            .runs
            .get(index)
            .filter(|run| run.seq < left && right < run.end())
        else {
            return false;
        };
        let offset = left - run.seq;
        let size = u64::from(run.size);
        let segment_end = run.seq + (offset / size + 1) * size;
        !offset.is_multiple_of(size) && right < segment_end.min(run.end())
    }

    /// Removes the octets `left..right` and returns the index of the first run behind them.
    fn carve(&mut self, left: u64, right: u64) -> usize {
        let first = self.cut_at(left);
        if self.runs.get(first).is_none_or(|run| run.seq >= right) {
            return first;
        }
        // The usual retransmission replaces exactly one run, which needs no second search.
        let after = if self.runs[first].end() == right {
            first + 1
        } else {
            self.cut_at(right)
        };
        let mut removed = (0, 0);
        for run in self.runs.range(first..after) {
            removed.0 += run.octets();
            removed.1 += if run.lost { run.octets() } else { 0 };
        }
        self.runs.drain(first..after);
        self.octets -= removed.0;
        self.lost_octets -= removed.1;
        first
    }

    /// Sees to it that no run (and no segment) lies across `position`; returns the index of the first run at or
    /// behind it.
    fn cut_at(&mut self, position: u64) -> usize {
        let index = self.runs.partition_point(|run| run.end() <= position);
        let Some(&run) = self.runs.get(index).filter(|run| run.seq < position) else {
            return index;
        };
        let whole = run.ended_by(position);
        let (below, across) = if whole == 0 {
            (None, run)
        } else {
            let (below, rest) = run.split(whole);
            (Some(below.normal()), rest)
        };
        let mut at = index;
        let mut parts = [below, None, None, None];
        if across.seq == position {
            parts[1] = Some(across);
        } else {
            // The segment that lies across keeps its sync on both sides.
            let (segment, rest) = if across.count > 1 {
                let (segment, rest) = across.split(1);
                (segment.normal(), Some(rest))
            } else {
                (across, None)
            };
            let head = (position - segment.seq) as u32;
            let tail = segment.last - head;
            parts[1] = Some(SegmentRun {
                size: head,
                last: head,
                ..segment
            });
            parts[2] = Some(SegmentRun {
                seq: position,
                size: tail,
                last: tail,
                ..segment
            });
            parts[3] = rest;
        }
        let mut parts = parts.into_iter().flatten();
        if let Some(part) = parts.next() {
            at += usize::from(part.seq < position);
            self.runs[index] = part;
        }
        for (offset, part) in parts.enumerate() {
            at += usize::from(part.seq < position);
            self.runs.insert(index + 1 + offset, part);
        }
        at
    }

    fn forget(&mut self, run: &SegmentRun) {
        self.octets -= run.octets();
        if run.lost {
            self.lost_octets -= run.octets();
        }
    }
}

/// Whether a packet continues a run: same moment, next octet, next sync, and no shorter segment before it.
fn extends(run: &SegmentRun, seq: u64, len: u32, sync: u32, now: Time) -> bool {
    run.time == now
        && !run.lost
        && run.last == run.size
        && len <= run.size
        && run.sync.wrapping_add(run.count) == sync
        && run.end() == seq
}

#[cfg(test)]
#[path = "inflight_tests.rs"]
mod tests;
