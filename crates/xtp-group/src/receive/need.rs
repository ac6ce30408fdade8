//! What is missing, and when that is said unasked (§9.13).

use super::{Receiver, Stage};
use crate::QuietBlocks;
use crate::groups::PartyEnv;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_wire::{GnackBlock, Header, MAX_GNACK_BLOCKS};

/// Without parity needs are counted by stretches of so many octets.
const STRETCH: u64 = 16 << 10;
/// Nobody who was not heard since is told of a need more often.
const MOST_UNHEARD: u8 = 4;
/// Ranges that are looked through for what is missing: more than are kept quiet about and reported together.
const LOOK: usize = 2_048;

/// Blocks as a report names them.
pub(super) type Missing = SmallVec<[GnackBlock; MAX_GNACK_BLOCKS]>;

/// Needs, and who is seeing to them.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// When they are reported, if they are still there.
    at: Option<Time>,
    /// The last of the blocks that they were about when that was decided.
    until: u32,
    quiet: QuietBlocks,
    /// Most rows of any block in the last announcement.
    most: u16,
    /// Up to which block the stream has been judged.
    judged: u64,
    /// Reports since the group was heard.
    unheard: u8,
}

impl Needs {
    pub(super) fn deadline(&self) -> Option<Time> {
        let again = self.quiet.deadline().filter(|_| self.unheard < MOST_UNHEARD);
        self.at.or(again)
    }

    /// Something came to the group.
    pub(super) fn heard(&mut self) {
        self.unheard = 0;
    }
}

impl Receiver {
    /// The number of the block that `position` lies in.
    fn block_at(&self, position: u64) -> Option<u32> {
        match &self.blocks {
            Some(blocks) => Some(blocks.layout().place(position)?.block),
            None => u32::try_from(position / STRETCH).ok(),
        }
    }

    /// Up to where everything has left, so that what is missing is lost.
    fn sure(&self) -> u64 {
        let past = self.heard.progress.past();
        self.close.end.map_or(past, |end| past.min(end))
    }

    /// Blocks that are finished and not whole: the lowest, at most 64; without `all` only those that may be spoken of.
    pub(super) fn missing(&self, all: bool, now: Time) -> Missing {
        let mut missing = Missing::new();
        let mut from = self.stream.next().max(self.behind.repaired_from());
        let sure = self.sure().min(self.alloc());
        if from >= sure {
            return missing;
        }
        let mut spans = SmallVec::new();
        self.stream.spans(LOOK, &mut spans);
        let mut next = 0;
        for (left, right) in spans.iter().copied().chain([(sure, u64::MAX)]) {
            if left > from && !self.missing_between(from, left.min(sure), &mut next, (all, now), &mut missing)
            {
                break;
            }
            from = from.max(right);
            if from >= sure {
                break;
            }
        }
        missing
    }

    /// Adds the blocks that `from..until`, a hole, lies in, from block `next` on. False: there is no more room, or those that
    /// follow are not finished.
    fn missing_between(
        &self,
        from: u64,
        until: u64,
        next: &mut u32,
        (all, now): (bool, Time),
        missing: &mut Missing,
    ) -> bool {
        let (Some(first), Some(last)) = (self.block_at(from), self.block_at(until - 1)) else {
            return false;
        };
        for block in first.max(*next)..=last {
            let Some((need, total)) = self.need_of(block) else {
                return false;
            };
            *next = block.saturating_add(1);
            if need > 0 && (all || self.needs.quiet.may_speak(block, need, now)) {
                missing.push(GnackBlock::new(block, need, total));
            }
            if missing.len() == MAX_GNACK_BLOCKS {
                return false;
            }
        }
        true
    }

    /// How many symbols of a block are missing, of how many; `None` if it is not finished.
    fn need_of(&self, block: u32) -> Option<(u16, u16)> {
        let Some(blocks) = &self.blocks else {
            return Some((1, 1));
        };
        let layout = blocks.layout();
        let end = layout.end_of(block, self.close.end.unwrap_or(u64::MAX));
        if end > self.sure() || end > self.alloc() {
            return None;
        }
        let total = layout.symbols_until(block, end).into();
        Some((blocks.need(block).unwrap_or(total), total))
    }

    /// Of blocks that are missing those that rows help: of a symbol with more marks than a descriptor holds the packets must come again,
    /// and a block that has one is reported by spans.
    pub(super) fn coded(&self, missing: &Missing) -> Missing {
        let Some(blocks) = &self.blocks else {
            return Missing::new();
        };
        let all = missing.iter().copied();
        all.filter(|block| !blocks.is_overfull(block.get().0)).collect()
    }

    /// Looks whether something is to be reported, if the transmitter has finished another block.
    pub(super) fn judge_if_farther(&mut self, env: &mut PartyEnv<'_>) {
        let sure = self.sure();
        if self.needs.at.is_some() || self.stream.next() >= sure {
            return;
        }
        let block_len = self
            .blocks
            .as_ref()
            .map_or(STRETCH, |blocks| blocks.layout().block_len());
        // The end of the last block need not be the end of a full one.
        let block = sure / block_len + u64::from(self.close.end == Some(sure));
        if block != self.needs.judged {
            self.needs.judged = block;
            self.judge(env);
        }
    }

    /// If something is missing of which nobody has spoken, it will be reported after a while.
    pub(super) fn judge(&mut self, env: &mut PartyEnv<'_>) {
        let idle = self.stage != Stage::Member || self.is_anonymous() || self.needs.unheard >= MOST_UNHEARD;
        if idle || self.needs.at.is_some() || self.stream.next() >= self.sure() {
            return;
        }
        let fresh = self.missing(false, env.now);
        if let (Some(need), Some(last)) = (fresh.iter().map(|block| block.get().1).max(), fresh.last()) {
            self.needs.until = last.get().0;
            let most = self.needs.most.max(1);
            let delay = self.feedback.need_delay(need, most, env.random());
            self.needs.at = Some(env.now + delay);
        }
    }

    /// Needs that are due, and blocks whose repair did not come.
    pub(super) fn need_due(&mut self, env: &mut PartyEnv<'_>) {
        if self.needs.deadline().is_none_or(|at| at > env.now) {
            return;
        }
        // What was to be said may have been said by others; what is missing since then has its own time.
        let until = self.needs.until;
        let is_due = |missing: &Missing| missing.first().is_some_and(|block| block.get().0 <= until);
        if self.needs.at.take_if(|at| *at <= env.now).is_some() && is_due(&self.missing(false, env.now)) {
            self.outbox.need = true;
            self.needs.unheard += 1;
        }
        let below = self.block_at(self.stream.next()).unwrap_or(u32::MAX);
        self.needs.quiet.release(below, env.now);
        if !self.outbox.need {
            self.judge(env);
        }
    }

    /// These were reported: nothing more of them for a while.
    pub(super) fn reported(&mut self, missing: &Missing, now: Time) {
        for block in missing {
            self.needs
                .quiet
                .reported(block.get().0, now, self.feedback.quiet());
        }
    }

    /// The transmitter says which rows it is going to send.
    pub(super) fn rows_announced(&mut self, header: &Header, blocks: &[GnackBlock], env: &mut PartyEnv<'_>) {
        self.heard_control(&Header { seq: 0, ..*header }, env.now);
        let first = self.block_at(self.stream.next()).unwrap_or(0);
        let last = self.block_at(self.alloc()).unwrap_or(u32::MAX);
        let mut most = 0;
        for (block, rows, _) in blocks.iter().map(|block| block.get()) {
            most = most.max(rows);
            if (first..=last).contains(&block) {
                let quiet = self.feedback.quiet();
                self.needs.quiet.announced(block, rows, env.now, quiet);
            }
        }
        self.needs.most = most;
        self.judge(env);
    }

    /// A row came, of use or not.
    pub(super) fn row_came(&mut self, block: u32, last: bool, env: &mut PartyEnv<'_>) {
        self.needs.quiet.row(block, last, env.now, self.feedback.quiet());
        if last {
            self.judge(env);
        } else {
            self.judge_if_farther(env);
        }
    }
}

#[cfg(test)]
#[path = "need_tests.rs"]
mod tests;
