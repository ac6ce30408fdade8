//! What is sent again: parity rows of finished blocks, octets of the others (§9.10).

use super::latest::Latest;
use super::stream::{GroupStream, SourceSymbol};
use crate::{MissingUnion, RowAccount, Stretch, encode_row};
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use xtp_core::time::Time;
use xtp_wire::{GnackBlock, MAX_GNACK_BLOCKS, Spans, TAG_LEN};

/// A parity row that leaves next; its octets are in [`Repair::row`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct ParityRow {
    pub(super) block: u32,
    pub(super) row: u8,
    /// No other row of the block waits.
    pub(super) last: bool,
    /// Nobody asked for it.
    pub(super) proactive: bool,
}

/// The account of repairs.
pub(super) struct Repair {
    /// Rows that a block has at most.
    rows: u8,
    accounts: BTreeMap<u32, RowAccount>,
    /// Blocks of which rows wait.
    due: BTreeSet<u32>,
    /// Of these those of which all waiting rows were scheduled unasked.
    unasked: BTreeSet<u32>,
    /// Blocks of which rows were added since the last announcement.
    added: BTreeSet<u32>,
    latest: Latest,
    /// Packets that can be sent again as they were: all without parity, those of the open block with it.
    pub(super) union: MissingUnion,
    /// Symbols with more marks than fit a descriptor: their DATA leaves with each repair of their block.
    again: VecDeque<Stretch>,
    /// The block of which a row was made last.
    sources: Option<(u32, Vec<SourceSymbol>)>,
    row: Vec<u8>,
}

impl Repair {
    pub(super) fn new(rows: u8) -> Self {
        Self {
            rows,
            accounts: BTreeMap::new(),
            due: BTreeSet::new(),
            unasked: BTreeSet::new(),
            added: BTreeSet::new(),
            latest: Latest::default(),
            union: MissingUnion::new(),
            again: VecDeque::new(),
            sources: None,
            row: Vec::new(),
        }
    }

    /// Takes "I lacked `need` symbols of this finished block when packet `echo` had come"; says how many rows it adds.
    pub(super) fn need(&mut self, block: u32, need: u16, echo: u32) -> u16 {
        let rows = self.rows;
        let account = self
            .accounts
            .entry(block)
            .or_insert_with(|| RowAccount::new(rows));
        let added = account.report(need, echo);
        if added > 0 {
            self.latest.asked(block, added);
            self.due.insert(block);
            self.unasked.remove(&block);
            self.added.insert(block);
        }
        added
    }

    /// How many rows the next block will need at least, as the latest show it whose needs are known after so long.
    pub(super) fn foreseen(&mut self, known_after: Duration, now: Time) -> u8 {
        self.latest.least(self.rows, known_after, now)
    }

    /// Rows of a block that was just filled, of which nobody knows yet whether somebody needs them.
    pub(super) fn schedule(&mut self, block: u32, rows: u8, now: Time) {
        self.latest.finished(block, rows, now);
        if rows > 0 {
            let most = self.rows;
            let account = self
                .accounts
                .entry(block)
                .or_insert_with(|| RowAccount::new(most));
            account.schedule(rows.into());
            self.due.insert(block);
            self.unasked.insert(block);
        }
    }

    /// Takes what a member has beyond `rseq`, about octets below `upto`; says how many of them are due by it, `most` at most.
    pub(super) fn missing(
        &mut self,
        rseq: u64,
        spans: Spans<'_>,
        upto: u64,
        (echo, most): (u32, u64),
    ) -> u64 {
        self.union.report(rseq, spans, upto, (echo, most))
    }

    /// Whether something waits to be sent again.
    pub(super) fn is_due(&self) -> bool {
        !self.due.is_empty() || self.union.due() > 0 || !self.again.is_empty()
    }

    /// Whether rows were added that the group is to be told of.
    pub(super) fn has_news(&self) -> bool {
        !self.added.is_empty()
    }

    /// The announcement of rows that were added, the lowest blocks first: how many wait now.
    pub(super) fn news(&mut self, stream: &GroupStream, blocks: &mut Vec<GnackBlock>) {
        blocks.clear();
        while blocks.len() < MAX_GNACK_BLOCKS
            && let Some(block) = self.added.pop_first()
        {
            let waiting = self.accounts.get(&block).map_or(0, RowAccount::scheduled);
            if waiting > 0 {
                blocks.push(GnackBlock::new(block, waiting, stream.extent(block).0.into()));
            }
        }
    }

    /// The stretch that leaves again next, in packet `sync`, before any row of a later block.
    pub(super) fn next_stretch(&mut self, sync: u32) -> Option<Stretch> {
        let Some(stretch) = self.again.pop_front() else {
            return self.union.send(sync);
        };
        self.union.again(stretch, sync);
        Some(stretch)
    }

    /// What is left of a stretch that did not fit one packet.
    pub(super) fn rest(&mut self, stretch: Stretch) {
        if stretch.from < stretch.to {
            self.again.push_front(stretch);
        }
    }

    /// The row that leaves next, in packet `sync`: of the lowest block.
    pub(super) fn next_row(&mut self, sync: u32, stream: &GroupStream) -> Option<ParityRow> {
        let block = *self.due.first()?;
        let next = self
            .accounts
            .get_mut(&block)
            .and_then(|account| account.send(sync));
        let Some(next) = next.filter(|_| stream.is_finished(block)) else {
            self.forget(block);
            return None;
        };
        let row = ParityRow {
            block,
            row: next.row,
            last: next.last,
            proactive: self.unasked.contains(&block),
        };
        self.make(row, stream);
        if next.last {
            self.due.remove(&block);
            self.unasked.remove(&block);
        }
        Some(row)
    }

    /// Octets of the row that [`next_row`](Self::next_row) named.
    pub(super) fn row(&self) -> &[u8] {
        &self.row
    }

    fn make(&mut self, row: ParityRow, stream: &GroupStream) {
        if self.sources.as_ref().is_none_or(|(block, _)| *block != row.block) {
            let sources = stream.sources(row.block);
            self.note_overfull(row.block, &sources, stream);
            self.sources = Some((row.block, sources));
        }
        self.row.resize(stream.coded_len(), 0);
        if let Some((_, sources)) = &self.sources {
            let symbols: Vec<_> = sources.iter().map(SourceSymbol::symbol).collect();
            let symbol_len = self.row.len() - crate::DESCRIPTOR_LEN;
            encode_row(row.row, symbol_len, &symbols, &mut self.row);
        }
        if row.last {
            self.sources = None;
        }
    }

    fn note_overfull(&mut self, block: u32, sources: &[SourceSymbol], stream: &GroupStream) {
        let Some(layout) = &stream.layout else { return };
        let symbol = u64::from(layout.symbol_len());
        let (_, end) = stream.extent(block);
        let overfull = (0..).zip(sources).filter(|(_, source)| source.is_overfull());
        let mut done = 0;
        self.again.extend(overfull.map(|(index, _): (u64, _)| {
            let from = layout.start(block) + index * symbol;
            let to = (from + symbol).min(end);
            // A tag that lies across the border leaves whole, and once if both symbols leave.
            let stretch = Stretch {
                from: stream.tag_across(from).unwrap_or(from).max(done),
                to: stream.tag_across(to).map_or(to, |tag| tag + TAG_LEN as u64),
            };
            done = stretch.to;
            stretch
        }));
    }

    fn forget(&mut self, block: u32) {
        self.accounts.remove(&block);
        self.due.remove(&block);
        self.unasked.remove(&block);
        self.added.remove(&block);
    }

    /// Nobody needs what lies below: `block` is the first that somebody may still ask about, `position` the first octet.
    pub(super) fn release(&mut self, block: u32, position: u64) {
        while let Some(entry) = self.accounts.first_entry().filter(|entry| *entry.key() < block) {
            let below = *entry.key();
            self.forget(below);
        }
        self.union.release(position);
    }

    /// Nobody is left to send anything to.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.rows);
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
