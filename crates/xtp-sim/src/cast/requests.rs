//! What receivers asked for, and what is sent again: nothing that its asker could still have been on the way to get.
//!
//! An observer at the transmitter's wire needs no clock for that. A report says what its sender lacked when it had heard packet
//! `echo`. A row is asked for if some report lacked more of its block than rows of it left after that packet; octets are, if
//! some report lacked them and they left last with that packet or before it. Everything else was sent too early.

use std::collections::{BTreeMap, VecDeque};

use xtp_wire::{Body, Control, Packet, serial_gt};

/// Reports that are remembered; what is asked for is sent long before so many others came.
const MOST_REPORTS: usize = 8_192;

/// What one receiver had when it had heard packet `echo`.
#[derive(Debug)]
struct Report {
    echo: u32,
    rseq: u64,
    spans: Vec<(u64, u64)>,
}

impl Report {
    fn lacks(&self, from: u64, to: u64) -> bool {
        let held = |&(left, right): &(u64, u64)| left <= from && to <= right;
        self.rseq < to && !self.spans.iter().any(held)
    }
}

/// Parity of one block.
#[derive(Debug, Default)]
struct Rows {
    /// Numbers of the packets in which rows left.
    sent: Vec<u32>,
    /// One left that somebody asked for.
    asked: bool,
    /// How many symbols somebody lacked, and the newest packet it had heard.
    needs: Vec<(u16, u32)>,
}

/// Octets that left in one packet first.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: u64,
    to: u64,
    /// Number of the packet in which they left last.
    sync: u32,
}

/// Reports that came to the transmitter, and what left.
#[derive(Debug, Default)]
pub(super) struct Requests {
    reports: VecDeque<Report>,
    rows: BTreeMap<u64, Rows>,
    sent: Vec<Stretch>,
    /// What is missing leaves with all that follows it, whatever of that somebody has.
    goes_back: bool,
}

impl Requests {
    /// Nothing was asked for; `goes_back`: repairs go back to a hole (§9.17).
    pub(super) fn new(goes_back: bool) -> Self {
        Self {
            goes_back,
            ..Self::default()
        }
    }

    /// A packet of a receiver reached the transmitter.
    pub(super) fn reported(&mut self, packet: &Packet<'_>) {
        match &packet.body {
            Body::Ecntl { control, spans } => self.lacks_octets(control, spans.iter().collect()),
            Body::Xcntl(xcntl) => self.lacks_octets(&xcntl.control, xcntl.spans.iter().collect()),
            Body::Gnack(gnack) => {
                for block in gnack.blocks {
                    let (block, need, _) = block.get();
                    self.lacks_symbols(block.into(), need, gnack.control.echo);
                }
            }
            _ => {}
        }
    }

    fn lacks_symbols(&mut self, block: u64, need: u16, echo: u32) {
        let rows = self.rows.entry(block).or_default();
        rows.needs.push((need, echo));
    }

    fn lacks_octets(&mut self, control: &Control, spans: Vec<(u64, u64)>) {
        if self.reports.len() == MOST_REPORTS {
            self.reports.pop_front();
        }
        self.reports.push_back(Report {
            echo: control.echo,
            rseq: control.rseq,
            spans: if self.goes_back { Vec::new() } else { spans },
        });
    }

    /// New octets leave in packet `sync`.
    pub(super) fn sent(&mut self, from: u64, to: u64, sync: u32) {
        self.sent.push(Stretch { from, to, sync });
    }

    /// A row of `block` leaves in packet `sync`; `unasked`: it says of itself that it follows its block whoever lacks it, as only the first
    /// of a block do.
    ///
    /// # Errors
    /// Nobody can have missed it yet.
    pub(super) fn row(&mut self, block: u64, sync: u32, unasked: bool) -> Result<(), String> {
        let rows = self.rows.entry(block).or_default();
        let after = |echo: u32| rows.sent.iter().filter(|sent| serial_gt(**sent, echo)).count();
        let mut needs = rows.needs.iter().rev();
        let follows = unasked && !rows.asked;
        rows.asked |= !unasked;
        let asked = follows || needs.any(|&(need, echo)| usize::from(need) > after(echo));
        let before = rows.sent.len();
        rows.sent.push(sync);
        match asked {
            true => Ok(()),
            false => Err(format!(
                "row {before} of block {block} left in packet {sync}, and whoever asked could still get those before: {:?}",
                rows.needs
            )),
        }
    }

    /// Octets leave once more in packet `sync`; where the stream is coded, `blocks` are those of the first and the last of them.
    ///
    /// # Errors
    /// Nobody can have missed them yet.
    pub(super) fn again(
        &mut self,
        (from, to): (u64, u64),
        sync: u32,
        blocks: Option<[u64; 2]>,
    ) -> Result<(), String> {
        let first = self.sent.partition_point(|sent| sent.to <= from);
        let count = self.sent[first..].partition_point(|sent| sent.from < to);
        // A symbol with too many marks follows a row of its block; a tag may lie in two.
        let blocks = blocks.into_iter().flatten();
        let rows: Vec<u32> = blocks
            .filter_map(|block| self.rows.get(&block)?.sent.last().copied())
            .collect();
        let reports = &self.reports;
        for sent in &mut self.sent[first..first + count] {
            let lacked = |report: &Report| {
                !serial_gt(sent.sync, report.echo) && report.lacks(sent.from.max(from), sent.to.min(to))
            };
            let follows = rows.iter().any(|row| serial_gt(*row, sent.sync));
            if !follows && !reports.iter().rev().any(lacked) {
                return Err(format!(
                    "octets {from} to {to} left again in packet {sync}, and nobody lacks them who had heard packet {} before",
                    sent.sync
                ));
            }
            sent.sync = sync;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
