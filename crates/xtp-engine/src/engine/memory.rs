//! What all associations together may keep in memory, and how much of it one of them may have.
//!
//! A quarter of the limit is for the associations themselves, the rest for what they are charged with: what they keep or
//! have promised to keep (`context::charge`). As long as less than half of that is charged, each gets what it asks for.
//! Beyond that memory is rationed: an association gets at most an eighth of what is left, so that all come to the same and
//! a later one finds something too, and not more than it has moved so far, so that idle ones keep next to nothing. A
//! quarter is left to those who keep nothing yet. Nothing granted is taken back: the limit is held by granting less, and
//! where even that is too much, by dropping what came unasked, as if it had been lost.
//!
//! Who was granted less than it could use waits in a list and is asked again when something was given back: its peer may
//! have stopped.

use super::Engine;
use super::initiator::Initiator;
use super::responder::Responder;
use crate::context::Context;
use std::collections::{BTreeSet, VecDeque};

/// An association without anything else.
const CONTEXT: u64 = 1_024;
const _: () = assert!(
    size_of::<Initiator>() <= 648 && size_of::<Responder>() <= 528 && 648 <= CONTEXT,
    "one without a context takes more than it should, or than is counted"
);
/// What a whole context takes beyond that.
const WHOLE: u64 = 4_096;
/// Share of the limit for associations without anything else.
const CONTEXTS_PART: u64 = 4;
/// Share of what is left that one of them gets.
const PART: u64 = 8;
/// Share of the limit that is kept for those who keep nothing yet.
const RESERVE_PART: u64 = 4;
/// The least it is granted, if that is there.
const LEAST: u64 = 1_024;
/// Of those who wait, asked again each time something was given back.
const FED: usize = 4;

/// Associations that `limit` octets have room for.
pub(super) fn most_contexts(limit: u64) -> usize {
    usize::try_from(limit / CONTEXTS_PART / CONTEXT).unwrap_or(usize::MAX)
}

/// Whole contexts that `limit` octets have room for beside `alive` associations.
pub(super) fn most_whole(limit: u64, alive: usize) -> usize {
    let left = (limit / CONTEXTS_PART).saturating_sub(CONTEXT * alive as u64);
    usize::try_from(left / WHOLE).unwrap_or(usize::MAX)
}

/// The account of an engine.
pub(super) struct Memory {
    /// Of octets.
    limit: u64,
    charged: u64,
    /// So much is charged that memory is rationed.
    rationed: bool,
    /// What is charged to each context, by slot.
    by_slot: Vec<u64>,
    /// Granted less than they could use, longest first.
    short: VecDeque<u32>,
    listed: BTreeSet<u32>,
}

impl Memory {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit: limit - limit / CONTEXTS_PART,
            charged: 0,
            rationed: false,
            by_slot: Vec::new(),
            short: VecDeque::new(),
            listed: BTreeSet::new(),
        }
    }

    /// Octets charged to all `alive` together.
    pub(super) fn charged(&self, alive: usize) -> u64 {
        self.charged + CONTEXT * alive as u64
    }

    /// So much is charged that memory is rationed.
    #[inline]
    pub(super) fn is_rationed(&self) -> bool {
        self.rationed
    }

    fn left(&self) -> u64 {
        self.limit.saturating_sub(self.charged)
    }

    /// Of what is left, what may be promised.
    fn left_to_promise(&self) -> u64 {
        self.left().saturating_sub(self.limit / RESERVE_PART)
    }

    /// The context in `slot` is charged `octets` from now on; whether that is less than before.
    #[inline]
    fn note(&mut self, slot: u32, octets: u64) -> bool {
        let place = slot as usize;
        if place >= self.by_slot.len() {
            self.by_slot.resize(place + 1, 0);
        }
        let before = std::mem::replace(&mut self.by_slot[place], octets);
        self.charged = self.charged - before + octets;
        self.rationed = self.charged > self.limit / 2;
        octets < before
    }

    /// How much the reader of `context` may keep or have promised, one of `alive`, while memory is rationed.
    /// `coming`: octets of the packet that has just come for it; `moved`: octets it has moved so far.
    fn ration(&self, context: &Context, alive: usize, (coming, moved): (usize, u64)) -> u64 {
        let has = context.reader_charge();
        let allowance = context.initial_allowance();
        let least = (self.limit / (4 * alive.max(1) as u64)).clamp(LEAST, allowance.max(LEAST));
        let part = (self.left() + has) / PART;
        let wanted = least.max(part.min(moved));
        let share = wanted.min(has + self.left_to_promise());
        // Nobody is locked out who keeps nothing yet: a little is granted, and one packet finds room.
        match has {
            0 => share
                .max(least.min(self.left() / PART))
                .max(self.left().min(coming as u64)),
            _ => share,
        }
    }

    fn list(&mut self, slot: u32) {
        if self.listed.insert(slot) {
            self.short.push_back(slot);
        }
    }

    fn next_short(&mut self) -> Option<u32> {
        let slot = self.short.pop_front()?;
        self.listed.remove(&slot);
        Some(slot)
    }
}

impl Engine {
    /// Charges a context that changed; whoever waits for memory is asked again when some was given back.
    #[inline]
    pub(super) fn account(&mut self, slot: u32) {
        let charge = self.contexts.charge(slot);
        let gave_back = self.memory.note(slot, charge);
        if self.memory.is_rationed() || !self.memory.short.is_empty() {
            self.account_closely(slot, gave_back);
        }
    }

    #[cold]
    fn account_closely(&mut self, slot: u32, gave_back: bool) {
        if self.contexts.awake(slot).is_some_and(Context::is_short) {
            self.memory.list(slot);
        }
        if !gave_back {
            return;
        }
        for _ in 0..FED.min(self.memory.short.len()) {
            let Some(slot) = self.memory.next_short() else {
                return;
            };
            if self.contexts.awake(slot).is_none() {
                continue;
            }
            self.ration(slot, 0);
            let Some(context) = self.contexts.at(slot) else {
                continue;
            };
            if context.is_worth_an_update() {
                self.mark_dirty(slot);
            } else if context.is_short() {
                self.memory.list(slot);
            }
        }
    }

    /// Says to a context how much it may have, before it grants or keeps anything. `coming`: octets of the packet that has
    /// just come for it.
    #[inline]
    pub(super) fn ration(&mut self, slot: u32, coming: usize) {
        let rationed = self.memory.is_rationed();
        let alive = self.contexts.alive();
        let Some(context) = self.contexts.at(slot) else {
            return;
        };
        let share = match rationed {
            true => self.memory.ration(context, alive, (coming, context.moved())),
            false => u64::MAX,
        };
        context.set_share(share);
    }

    /// The same before `queued` octets more are sent by a context that does not know yet that everything below `acknowledged` is.
    pub(super) fn ration_ahead(&mut self, slot: u32, queued: u64, acknowledged: u64) {
        let charge = self.contexts.charge(slot) + queued;
        self.memory.note(slot, charge);
        let alive = self.contexts.alive();
        if let Some(context) = self.contexts.awake_mut(slot) {
            let moved = context.moved() + acknowledged.saturating_sub(context.una());
            context.set_share(self.memory.ration(context, alive, (0, moved)));
        }
    }
}
