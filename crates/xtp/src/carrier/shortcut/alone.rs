//! A shortcut for who sleeps: a client that waits for the answers of one peer and expects nothing from anybody else may
//! sleep in it, and whoever wants it awake rings.

use std::net::SocketAddr;

use xtp_io::{Bell, Shortcut};

use super::{Serves, Use, WORTH, in_a_row};

/// Sleeps in a shortcut of which one looks at the socket itself first.
const BESIDE: u32 = 32;

/// Whether a client sleeps so, and what speaks for it.
#[derive(Debug, Default)]
pub(super) struct Alone {
    /// For whose answers the sleeper slept last, and how often in a row.
    sleeps: Option<(SocketAddr, u32)>,
    /// Wakes who sleeps in the shortcut, which it has meanwhile.
    bell: Option<Bell>,
    lent: bool,
    /// The bell was rung.
    rung: bool,
}

impl Alone {
    /// Whether the sleeper would have one for `peer`.
    pub(super) fn is_worth_one(&self, peer: SocketAddr) -> bool {
        matches!(self.sleeps, Some((known, WORTH..)) if known == peer)
    }

    /// Whether somebody sleeps in the shortcut.
    pub(super) fn sleeps(&self) -> bool {
        self.lent
    }
}

/// How somebody who is alone sleeps.
#[derive(Debug)]
pub(crate) enum Bed {
    /// On the socket itself.
    Socket,
    /// In the shortcut.
    Shortcut,
    /// In the shortcut, after a look at the socket and at what may be in it.
    Beside,
}

impl Use {
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

    /// Wakes who sleeps in the shortcut; false if nobody does.
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
