//! Where a client sleeps that waits for the answers of one peer alone.

use std::net::SocketAddr;

use xtp_io::Bell;

use super::row::WORTH;

/// Whether a client sleeps so, and what speaks for it.
#[derive(Debug, Default)]
pub(super) struct Alone {
    /// For whose answers the sleeper slept last, and how often in a row.
    pub(super) sleeps: Option<(SocketAddr, u32)>,
    /// Wakes the thread that sleeps in the shortcut, which that thread has meanwhile.
    pub(super) bell: Option<Bell>,
    pub(super) lent: bool,
    /// The bell was rung.
    pub(super) rung: bool,
}

impl Alone {
    /// Whether the sleeper would have one for `peer`.
    pub(super) fn is_worth_one(&self, peer: SocketAddr) -> bool {
        matches!(self.sleeps, Some((known, WORTH..)) if known == peer)
    }

    /// Whether a thread sleeps in the shortcut.
    pub(super) fn sleeps(&self) -> bool {
        self.lent
    }
}

/// How a thread sleeps that is alone at its endpoint.
#[derive(Debug)]
pub(crate) enum Bed {
    /// On the socket itself.
    Socket,
    /// In the shortcut.
    Shortcut,
    /// In the shortcut, after a look at the socket and at what may be in it.
    Beside,
}
