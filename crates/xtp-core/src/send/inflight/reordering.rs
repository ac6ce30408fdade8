//! How far packets overtake each other on this path, learned from what arrives (§4.3).
//!
//! Two things are seen. A segment that a report left out although it told of newer ones, and that a later report has: it was
//! overtaken, and how old it was then is known. And a segment that was sent again in vain: the report that has it knows nothing
//! as new as the repetition. From the first on order means nothing on this path; the window is what was measured, and grows by
//! a step in every round trip in which it was too small all the same.

use core::time::Duration;

use xtp_wire::serial_gt;

use super::Inflight;
use crate::fields::Fields;
use crate::time::Time;

/// Steps in a round trip by which the window grows.
const STEPS: u32 = 4;
/// Round trips with losses after which what was seen before them is forgotten, twice as many at most.
const MEMORY: u8 = 16;

/// What a report was judged by, and says itself.
#[derive(Copy, Clone, Debug)]
pub struct ReportSpan {
    /// Echo of the report before.
    pub before: u32,
    /// The first position of which that report spoke.
    pub above: u64,
    /// One past the last position of which it spoke.
    pub below: u64,
    /// Echo of this one.
    pub echo: u32,
}

/// What arrived late.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Overtaken {
    /// When the oldest segment left that newer ones overtook.
    pub oldest: Option<Time>,
    /// Octets that were taken for lost, or even sent again, in vain.
    pub in_vain: u64,
}

impl Overtaken {
    /// Both.
    pub fn and(self, other: Self) -> Self {
        let oldest = match (self.oldest, other.oldest) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self {
            oldest,
            in_vain: self.in_vain + other.in_vain,
        }
    }
}

/// What is known of the order of packets.
#[derive(Copy, Clone, Debug, Default)]
pub struct Reordering {
    /// The most seen lately and before that: how much longer than usual a segment was under way that was overtaken.
    seen: [Option<Duration>; 2],
    /// When something was declared lost last, and when the window grew last.
    lost: Option<Time>,
    grown: Option<Time>,
    /// Round trips with losses since `seen` began.
    rounds: u8,
}

impl Reordering {
    /// How much longer than usual a segment may be under way; `None`: packets keep their order.
    pub fn window(&self) -> Option<Duration> {
        self.seen[0].max(self.seen[1])
    }

    /// Something arrived late. Segments are `usual` long under way, and a round trip is `rtt`. Whether losses of late may have
    /// been none, because the window was much too small.
    pub fn on_overtaken(&mut self, overtaken: Overtaken, now: Time, usual: Duration, rtt: Duration) -> bool {
        let before = self.window().map(|window| window + rtt / STEPS);
        if let Some(oldest) = overtaken.oldest {
            let excess = now.since(oldest).saturating_sub(usual).min(rtt);
            self.seen[0] = self.seen[0].max(Some(excess));
        }
        // What a timer sent again without evidence says nothing about order, nor does it where order was kept until now.
        let known = self.window().is_some();
        let judged = self.lost.is_some_and(|at| now.since(at) <= 3 * usual);
        let grown = self.grown.is_some_and(|at| now.since(at) < rtt);
        if overtaken.in_vain > 0 && known && judged && !grown {
            self.grown = Some(now);
            let window = self.window().unwrap_or_default() + rtt / STEPS;
            self.seen[0] = Some(window.min(rtt));
        }
        self.window().is_some() && (before.is_none() || self.window() >= before)
    }

    /// Every field in a fixed order, for an association that is packed.
    pub fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            seen,
            lost,
            grown,
            rounds,
        } = self;
        for seen in seen {
            fields.option(seen, Fields::span);
        }
        fields.option(lost, Fields::time);
        fields.option(grown, Fields::time);
        let mut count = u32::from(*rounds);
        fields.small(&mut count);
        *rounds = u8::try_from(count).unwrap_or(u8::MAX);
    }

    /// Something was declared lost.
    pub fn on_loss(&mut self, now: Time, rtt: Duration) {
        if self.lost.is_some_and(|at| now.since(at) < rtt) {
            return;
        }
        self.lost = Some(now);
        self.rounds += 1;
        if self.rounds >= MEMORY {
            self.rounds = 0;
            self.seen = [None, self.seen[0]];
        }
    }
}

impl Inflight {
    /// What of the octets `left..right`, which are about to be acknowledged, was overtaken. O(log n) plus O(runs there).
    pub fn overtaken(&self, left: u64, right: u64, told: &ReportSpan) -> Overtaken {
        let mut all = Overtaken::default();
        let start = self.runs.partition_point(|run| run.end() <= left);
        for run in self.runs.range(start..).take_while(|run| run.seq < right) {
            let sync = run.sync.wrapping_add(run.ended_by(left));
            let first = run.seq.max(left);
            let was_told = first >= told.above && first < told.below && !serial_gt(sync, told.before);
            let in_vain = serial_gt(sync, told.echo) || run.lost;
            if in_vain {
                all.in_vain += run.end().min(right) - first;
            }
            if was_told {
                all.oldest = Some(all.oldest.map_or(run.time, |oldest| oldest.min(run.time)));
            }
        }
        all
    }

    /// Whether something is missing or was sent again: only then anything can have been overtaken. O(1).
    #[inline]
    pub fn is_disturbed(&self) -> bool {
        self.lost_octets > 0 || self.runs.front().is_some_and(|run| run.seq < self.ordered_from)
    }
}

#[cfg(test)]
#[path = "reordering_tests.rs"]
mod tests;
