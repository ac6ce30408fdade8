//! Associations by which members of groups fetch what they lack, and those by which transmitters supply it (§9.7).
//!
//! Both are users of ordinary associations: what they do anybody could do with the engine's public calls. They stand in the
//! driver because nobody else may see their events.

mod fetch;
mod supply;

use super::Driver;
use crate::engine::Engine;
use crate::event::{ContextId, Event};
use crate::group::HistoryItem;
use fetch::Fetches;
use std::collections::VecDeque;
use supply::Supplies;
use xtp_core::time::Time;

pub use supply::HistoryWish;

/// All catch-ups of one engine.
#[derive(Default)]
pub(super) struct CatchUps {
    supplies: Supplies,
    fetches: Fetches,
    /// What users of transmitters are asked for: one wish a catch-up at most.
    wishes: VecDeque<HistoryWish>,
    /// Something happened to one of them since its last turn.
    pending: bool,
}

impl CatchUps {
    /// When a turn is due although nothing arrives: at once where something happened since the last one.
    pub(super) fn deadline(&self) -> Option<Time> {
        match self.pending {
            true => Some(Time::ZERO),
            false => self.fetches.deadline(),
        }
    }

    /// Whether a turn finds nothing to look at. What is not idle counts in [`deadline`](Self::deadline) and
    /// [`is_pressing`](Self::is_pressing), so it must get its turn, with or without a group.
    pub(super) fn is_idle(&self) -> bool {
        !self.pending && self.supplies.is_empty() && self.fetches.is_empty()
    }

    pub(super) fn is_pressing(&self, now: Time) -> bool {
        self.deadline().is_some_and(|at| at <= now)
    }

    /// Takes an event that is about a catch-up; gives back all others.
    fn take(&mut self, engine: &Engine, id: ContextId, event: Event) -> Option<(ContextId, Event)> {
        let is_own = match &event {
            Event::Accepted { listener, .. } => engine.is_catch_up(*listener),
            _ => self.supplies.has(id) || self.fetches.has(id),
        };
        if !is_own {
            return Some((id, event));
        }
        self.pending = true;
        match event {
            Event::Accepted { .. } => self.supplies.begin(id),
            Event::Closed(reason) => {
                self.supplies.closed(id);
                self.fetches.closed(id, reason);
            }
            _ => {}
        }
        None
    }

    /// Reads and writes what there is.
    pub(super) fn turn(&mut self, now: Time, engine: &mut Engine) {
        self.pending = false;
        self.supplies.turn(now, engine, &mut self.wishes);
        self.fetches.turn(now, engine);
    }
}

impl Driver {
    /// The next event of an association, oldest first; those of catch-ups are nobody's but the driver's.
    pub fn poll_event(&mut self) -> Option<(ContextId, Event)> {
        while let Some((id, event)) = self.engine.poll_event() {
            match self.catch_ups.take(&self.engine, id, event) {
                None => {}
                others => return others,
            }
        }
        None
    }

    /// The next octets that a transmitter's user is asked for ([`TransmitterOptions::history`](crate::group::TransmitterOptions::history)): each
    /// wish once, after a [turn](Self::turn). Each is to be [answered](Self::history).
    pub fn poll_history(&mut self) -> Option<HistoryWish> {
        self.catch_ups.wishes.pop_front()
    }

    /// Answers a wish; what there is of it leaves with the next [turn](Self::turn). `None`, and what does not fit into the wished
    /// range, say that it is not to be had: who lacks it is out ([`DropReason::Behind`](crate::group::DropReason::Behind)).
    pub fn history(&mut self, wish: &HistoryWish, item: Option<HistoryItem>) {
        self.catch_ups.supplies.answer(wish, item);
        self.catch_ups.pending = true;
    }
}
