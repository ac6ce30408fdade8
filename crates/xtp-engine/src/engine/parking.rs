//! Which contexts are parked, and when.
//!
//! Whoever had a turn goes to the end of a list, once. When more contexts are whole than the host wants to keep, those
//! at its front that have been quiet for a while are parked. There is no timer a context and no search: a context is
//! looked at once for each stretch of activity. Initiators that are
//! over become records of another kind (`time_waits`).

use super::Engine;
use crate::context::{Rest, State};
use crate::time::Time;
use std::collections::VecDeque;

/// Looks at contexts in one flush, beside one for each that had a turn: the list must shrink while all is quiet.
const LOOKS: usize = 64;

/// The list. Entries are in the order of their moments, but for contexts with a long round trip.
#[derive(Default)]
pub(super) struct Parking {
    candidates: VecDeque<(Time, u32)>,
}

impl Engine {
    /// A context had a turn and is still there.
    pub(super) fn consider_parking(&mut self, slot: u32) {
        let now = self.now;
        let Some(context) = self.contexts.awake(slot) else {
            return;
        };
        if self.config.overrides.max_whole == usize::MAX {
            return;
        }
        if context.state == State::Inactive {
            return self.enter_time_wait(slot);
        }
        self.list_for_parking(slot, now);
    }

    /// A context had its first turn since it was listed last.
    pub(super) fn list_for_parking(&mut self, slot: u32, now: Time) {
        if self.config.overrides.max_whole != usize::MAX && self.contexts.list(slot) {
            let at = now + self.config.overrides.park_after;
            self.parking.candidates.push_back((at, slot));
        }
    }

    /// Parks what may be parked, after `turns` contexts had their turn.
    pub(super) fn park_some(&mut self, turns: usize) {
        for _ in 0..LOOKS + turns {
            if !self.too_many_whole() {
                return;
            }
            let Some(&(_, slot)) = self.parking.candidates.front().filter(|(at, _)| *at <= self.now) else {
                return;
            };
            self.parking.candidates.pop_front();
            self.contexts.unlist(slot);
            let Some(context) = self.contexts.awake(slot) else {
                continue;
            };
            let quiet_at = context.touched + self.config.overrides.park_after;
            let rest = match context.rest(self.now) {
                Rest::Busy => Rest::Busy,
                _ if quiet_at > self.now => Rest::From(quiet_at),
                rest => rest,
            };
            match rest {
                Rest::Complete => self.contexts.park(slot),
                Rest::From(at) => {
                    self.contexts.list(slot);
                    self.parking.candidates.push_back((at, slot));
                }
                // Its next turn brings it back.
                Rest::Busy => {}
            }
        }
    }

    /// When there is something to park.
    pub(super) fn parking_deadline(&self) -> Option<Time> {
        let (at, _) = self.parking.candidates.front()?;
        self.too_many_whole().then_some(*at)
    }

    pub(super) fn too_many_whole(&self) -> bool {
        self.contexts.whole() > self.config.overrides.max_whole
    }
}
