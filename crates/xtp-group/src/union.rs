//! What of a stream is to be sent again, without parity: the union of what all reports miss.
//!
//! A transmitter's record of its packets, each with the number under which it left last, and whether it is to leave again.
//! A report says what its sender had when it had seen packet `echo`: what it lacks is due again only if it left last with, or
//! before, that packet. Due are whole packets, so no report can cut the record into smaller pieces than were sent.

use std::collections::VecDeque;

use xtp_wire::{Spans, serial_gt};

/// Octets from `from` up to, not including, `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Stretch {
    /// First octet.
    pub from: u64,
    /// One past the last octet.
    pub to: u64,
}

impl Stretch {
    const fn len(&self) -> u64 {
        self.to - self.from
    }
}

#[derive(Debug, Clone, Copy)]
struct SentSpan {
    stretch: Stretch,
    sync: u32,
    due: bool,
}

/// The packets between the least position of all holders and the next new octet.
#[derive(Debug, Clone, Default)]
pub(crate) struct MissingUnion {
    sent: VecDeque<SentSpan>,
    due: usize,
    /// Nothing below is due.
    lowest: u64,
}

impl MissingUnion {
    /// Nothing was sent yet.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Notes new octets that left in packet `sync`; they follow those before. An empty stretch, or one that does not lie
    /// behind all others, is not noted.
    pub(crate) fn sent(&mut self, stretch: Stretch, sync: u32) {
        let end = self.sent.back().map_or(0, |last| last.stretch.to);
        if stretch.from >= end && stretch.to > stretch.from {
            self.sent.push_back(SentSpan {
                stretch,
                sync,
                due: false,
            });
        }
    }

    /// Takes a report of somebody who had `rseq` and `spans` when packet `echo` had come, about packets wholly below `upto`, for
    /// there is no room for others; returns how many octets became due by it: `most` at most, the lowest ones, in whole packets.
    pub(crate) fn report(&mut self, rseq: u64, spans: Spans<'_>, upto: u64, (echo, most): (u32, u64)) -> u64 {
        let mut given = most;
        let mut begin = rseq;
        for (left, right) in spans.iter() {
            self.gap((begin, left, upto), echo, &mut given);
            begin = begin.max(right);
        }
        self.gap((begin, upto, upto), echo, &mut given);
        most - given
    }

    fn gap(&mut self, (from, to, upto): (u64, u64, u64), echo: u32, given: &mut u64) {
        if from >= to {
            return;
        }
        let first = self.sent.partition_point(|sent| sent.stretch.to <= from);
        let touched = self
            .sent
            .range_mut(first..)
            .take_while(|sent| sent.stretch.from < to && sent.stretch.to <= upto);
        for sent in touched.filter(|sent| !sent.due && !serial_gt(sent.sync, echo)) {
            if *given == 0 {
                return;
            }
            *given = given.saturating_sub(sent.stretch.len());
            sent.due = true;
            self.due += 1;
            self.lowest = self.lowest.min(sent.stretch.from);
        }
    }

    /// Octets of the packets below `upto` a report lacks that left last with packet `echo` or before it, but after packet `since`.
    #[must_use]
    pub(crate) fn lacked(&self, rseq: u64, spans: Spans<'_>, upto: u64, (since, echo): (u32, u32)) -> u64 {
        let ends = spans.iter().map(|(_, right)| right);
        let begins = spans.iter().map(|(left, _)| left.min(upto));
        let gaps = [rseq].into_iter().chain(ends).zip(begins.chain([upto]));
        let lacked = gaps.map(|(from, to)| {
            let first = self.sent.partition_point(|sent| sent.stretch.to <= from);
            let touched = self.sent.range(first..).take_while(|sent| sent.stretch.from < to);
            let counts = |sent: &&SentSpan| serial_gt(sent.sync, since) && !serial_gt(sent.sync, echo);
            touched.filter(counts).map(|sent| sent.stretch.len()).sum::<u64>()
        });
        lacked.sum()
    }

    /// The lowest packet that is due, and leaves now in packet `sync`.
    pub(crate) fn send(&mut self, sync: u32) -> Option<Stretch> {
        if self.due == 0 {
            return None;
        }
        let first = self.sent.partition_point(|sent| sent.stretch.from < self.lowest);
        let sent = self.sent.range_mut(first..).find(|sent| sent.due)?;
        (sent.due, sent.sync) = (false, sync);
        self.due -= 1;
        self.lowest = sent.stretch.to;
        Some(sent.stretch)
    }

    /// Notes octets that leave again in packet `sync` for another reason: the packets wholly among them are not due any more.
    pub(crate) fn again(&mut self, stretch: Stretch, sync: u32) {
        let first = self.sent.partition_point(|sent| sent.stretch.from < stretch.from);
        let among = self.sent.range_mut(first..);
        for sent in among.take_while(|sent| sent.stretch.to <= stretch.to) {
            self.due -= usize::from(sent.due);
            (sent.due, sent.sync) = (false, sync);
        }
    }

    /// Forgets packets that everybody has: those wholly below `position`.
    pub(crate) fn release(&mut self, position: u64) {
        while let Some(sent) = self.sent.front().filter(|sent| sent.stretch.to <= position) {
            self.due -= usize::from(sent.due);
            self.sent.pop_front();
        }
    }

    /// Where the packets are that lie wholly among these octets.
    fn places(&self, among: Stretch) -> core::ops::Range<usize> {
        let first = self.sent.partition_point(|sent| sent.stretch.from < among.from);
        let last = self.sent.partition_point(|sent| sent.stretch.to <= among.to);
        first..last.max(first)
    }

    /// How many packets lie wholly among these octets.
    #[must_use]
    pub(crate) fn within(&self, among: Stretch) -> usize {
        self.places(among).len()
    }

    /// Forgets packets that are repaired otherwise: those wholly among these octets.
    pub(crate) fn forget(&mut self, among: Stretch) {
        for sent in self.sent.drain(self.places(among)) {
            self.due -= usize::from(sent.due);
        }
    }

    /// Packets that are due.
    #[must_use]
    pub(crate) const fn due(&self) -> usize {
        self.due
    }
}

#[cfg(test)]
#[path = "union_tests.rs"]
mod tests;
