//! A shortcut for who sleeps: a client that waits for the answers of one peer and expects nothing from anybody else may
//! sleep in it, and whoever wants it awake rings.

use std::net::SocketAddr;

use xtp_io::Shortcut;

use super::bed::Bed;
use super::row::in_a_row;
use super::{Serves, ShortcutUse};

/// Sleeps in a shortcut of which one looks at the socket itself first.
const BESIDE: u32 = 32;

impl ShortcutUse {
    /// Somebody is about to sleep for an answer of `peer`, and nothing else is expected of anybody.
    pub(in crate::carrier) fn lie_down(&mut self, peer: SocketAddr) -> Bed {
        let sleeps = in_a_row(&mut self.alone.sleeps, peer);
        let Some(shortcut) = &self.open else {
            return Bed::Socket;
        };
        if shortcut.peer() != peer || self.serves != Serves::Exchange {
            return Bed::Socket;
        }
        if self.alone.bell.is_none() {
            self.alone.bell = shortcut.bell().ok();
        }
        match self.alone.bell {
            None => Bed::Socket,
            Some(_) if sleeps.is_multiple_of(BESIDE) || shortcut.asks_sender() => Bed::Beside,
            Some(_) => Bed::Shortcut,
        }
    }

    /// Somebody is about to sleep for something else.
    pub(in crate::carrier) fn lie_down_otherwise(&mut self) {
        self.alone.sleeps = None;
    }

    /// The shortcut, for a sleep without the lock.
    pub(in crate::carrier) fn lend(&mut self) -> Option<Box<Shortcut>> {
        let shortcut = self.open.take()?;
        self.alone.lent = true;
        Some(shortcut)
    }

    /// Who slept in it is awake; true if it has to be given up.
    pub(in crate::carrier) fn take_back(&mut self, shortcut: Box<Shortcut>) -> bool {
        self.open = Some(shortcut);
        self.alone.lent = false;
        self.alone.rung || self.refused
    }

    /// Nobody sleeps on the socket itself any more.
    pub(in crate::carrier) fn awake(&mut self) {
        self.asleep = false;
    }

    /// Wakes the thread that sleeps in the shortcut; false if none does.
    pub(in crate::carrier) fn ring(&mut self) -> bool {
        let alone = &mut self.alone;
        let rings = alone.lent && alone.bell.as_ref().is_some_and(|bell| bell.ring().is_ok());
        alone.rung |= rings;
        rings
    }

    /// The shortcut is gone, and its bell with it.
    pub(super) fn get_up(&mut self) {
        (self.alone.bell, self.alone.rung) = (None, false);
    }
}
