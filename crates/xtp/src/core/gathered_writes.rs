//! Writes that are gathered, of all associations.

use xtp_engine::{ContextId, Time};

use crate::flusher::HeldSends;
use crate::sync::Arc;

/// Whether somebody sends what is gathered if its writer does nothing more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Flusher {
    /// Nobody yet.
    #[default]
    None,
    Running,
    /// Nobody, and so it stays.
    Refused,
}

/// What the last question did beside the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Aside {
    #[default]
    Nothing,
    /// It collected a write and nothing else.
    Collected,
    /// It would have, if there was a flusher.
    Wanted,
}

/// What is gathered of all associations.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// Associations of which something may be.
    pub(super) streams: Vec<ContextId>,
    pub(super) aside: Aside,
    /// The association for which something was handed on, until its caller goes.
    pub(super) writes: Option<ContextId>,
    pub(crate) flusher: Flusher,
    pub(crate) held: Arc<HeldSends>,
}

impl Gathering {
    /// What the question just asked did, once.
    pub(crate) fn take_aside(&mut self) -> Aside {
        std::mem::take(&mut self.aside)
    }

    /// Something of `id` is gathered.
    pub(super) fn hold(&mut self, now: Time, id: ContextId) {
        self.aside = Aside::Collected;
        if self.streams.contains(&id) {
            return;
        }
        if self.streams.is_empty() {
            self.held.hold_writes(now);
        }
        self.streams.push(id);
    }

    /// What was gathered of `id` leaves.
    pub(super) fn hand_on(&mut self, id: ContextId) {
        self.aside = Aside::Nothing;
        self.streams.retain(|stream| *stream != id);
        if self.streams.is_empty() {
            self.held.release_writes();
        }
    }
}
