//! Which contexts are parked, and when.
//!
//! A context that had a turn is listed, once. When more contexts are whole than the host wants to keep, those at the front that have
//! been quiet for a while are parked: soon, or, if they are used again and again, after seconds. More of those than memory is meant for
//! are parked before, the one first that was not used for longest. There is no timer a context and no search: a context is
//! looked at once for each stretch of activity. Initiators that are over become records of another kind (`time_waits`).

use super::Engine;
use super::memory::most_whole;
use crate::context::{Rest, State};
use std::collections::VecDeque;
use xtp_core::time::Time;

/// Looks at contexts in one flush, beside one for each that had a turn: the lists must shrink while all is quiet.
const LOOKS: usize = 64;

/// The lists: when to look at which slot. Entries are in the order of their moments, but for contexts with a long round trip.
#[derive(Default)]
pub(super) struct Parking {
    /// Of contexts of which nothing is known but that they had a turn.
    once: VecDeque<(Time, u32)>,
    /// Of those that are used again and again.
    recurring: VecDeque<(Time, u32)>,
}

impl Parking {
    fn deadline(&self) -> Option<Time> {
        let fronts = [&self.once, &self.recurring].map(|list| list.front().map(|(at, _)| *at));
        fronts.into_iter().flatten().min()
    }

    /// The entry to look at at `now`. `pressed`: too many are whole, so those that recur may not wait.
    fn next(&mut self, now: Time, pressed: bool) -> Option<(Time, u32)> {
        let due = |list: &VecDeque<(Time, u32)>| list.front().is_some_and(|(at, _)| *at <= now);
        match due(&self.once) {
            true => self.once.pop_front(),
            false if pressed || due(&self.recurring) => self.recurring.pop_front(),
            false => None,
        }
    }

    fn push(&mut self, at: Time, slot: u32, recurs: bool) {
        let list = if recurs {
            &mut self.recurring
        } else {
            &mut self.once
        };
        list.push_back((at, slot));
    }
}

impl Engine {
    /// A context had a turn and is still there.
    pub(super) fn consider_parking(&mut self, slot: u32) {
        let now = self.now;
        let Some(context) = self.contexts.awake(slot) else {
            return;
        };
        if !self.parks() {
            return;
        }
        if context.state == State::Inactive {
            return self.enter_time_wait(slot);
        }
        self.list_for_parking(slot, now);
    }

    /// A context had its first turn since it was listed last.
    #[inline]
    pub(super) fn list_for_parking(&mut self, slot: u32, now: Time) {
        if self.parks() && self.contexts.list(slot) {
            let park_after = self.config.overrides.park_after;
            let context = self.contexts.awake(slot);
            let (at, recurs) = context.map_or((now + park_after, false), |context| {
                (context.idle_at(park_after).max(now), context.recurs())
            });
            self.parking.push(at, slot, recurs);
        }
    }

    /// Whether the context in `slot` is parked only after another turn: it was looked at when something was under way.
    #[inline]
    pub(super) fn is_left_out(&self, slot: u32) -> bool {
        self.parks() && !self.contexts.is_listed(slot)
    }

    /// Parks what may be parked, after `turns` contexts had their turn.
    #[inline]
    pub(super) fn park_some(&mut self, turns: usize) {
        if self.has_to_park() {
            self.settle_last();
            self.park_due(turns);
        }
    }

    #[inline(never)]
    fn park_due(&mut self, turns: usize) {
        let (now, park_after) = (self.now, self.config.overrides.park_after);
        for _ in 0..LOOKS + turns {
            if !self.too_many_whole() {
                return;
            }
            let Some((listed, slot)) = self.parking.next(now, self.is_pressed()) else {
                return;
            };
            self.contexts.unlist(slot);
            let Some(context) = self.contexts.awake(slot) else {
                continue;
            };
            let (quiet_at, idle_at) = (context.quiet_at(park_after), context.idle_at(park_after));
            let recurs = context.recurs();
            // One that has been used since it was listed goes behind those that have not.
            let until = match context.rest(now) {
                // Its next turn brings it back.
                Rest::Busy => continue,
                _ if idle_at > now.max(listed) => idle_at,
                _ if quiet_at > now => quiet_at,
                Rest::From(at) => at,
                Rest::Complete => {
                    self.contexts.park(slot);
                    continue;
                }
            };
            self.contexts.list(slot);
            self.parking.push(until, slot, recurs);
            if quiet_at > now && listed > now {
                // Those behind it were used later.
                return;
            }
        }
    }

    /// When there is something to park.
    pub(super) fn parking_deadline(&self) -> Option<Time> {
        self.too_many_whole().then(|| self.parking.deadline()).flatten()
    }

    /// Whether a context may be parked now.
    fn has_to_park(&self) -> bool {
        self.too_many_whole()
            && (self.is_pressed() || self.parking.deadline().is_some_and(|at| at <= self.now))
    }

    fn parks(&self) -> bool {
        self.config.overrides.max_whole != usize::MAX
    }

    /// More are whole than are kept so when they rest.
    fn too_many_whole(&self) -> bool {
        self.contexts.whole() > self.config.overrides.max_whole
    }

    /// More are whole than there is memory for, however often they are used.
    fn is_pressed(&self) -> bool {
        self.contexts.whole() > most_whole(self.config.memory_limit, self.contexts.alive())
    }
}
