//! Receive offload while it pays: joined datagrams save work in bulk, and cost a lone one 0.3 us.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::{UDP_GRO, set_option};

/// Lone datagrams in a row after which offload is switched off.
const LONE: u32 = 64;
/// Messages of one round that switch it on again: somebody sends faster than we take.
const CROWD: usize = 4;

/// Rounds over which datagrams are counted that were there without waiting, behind another: a third of them, and they
/// come in pairs, which offload joins.
const WINDOW: u32 = 64;
/// Most windows in a row that have to show pairs, after offload was switched on for some that it did not join.
const DOUBT: u32 = 64;

/// What one round of receiving brought.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecvRound {
    pub(super) messages: usize,
    pub(super) datagrams: usize,
    /// Nothing was there at first.
    pub(super) waited: bool,
}

/// Whether the kernel joins datagrams for this socket at the moment.
#[derive(Debug)]
pub(crate) struct Gro {
    /// The kernel can, and the socket's owner wants it.
    available: bool,
    on: AtomicBool,
    lone: AtomicU32,
    /// Rounds of this window, those that did not wait, windows in a row that showed pairs, and how many it takes.
    rounds: AtomicU32,
    behind: AtomicU32,
    shown: AtomicU32,
    doubt: AtomicU32,
    /// What a round brought that is not noted yet: nothing, or [`KEPT`] and what else it was.
    kept: AtomicU32,
}

/// A round of one message, which was one datagram or several, and waited for or not.
const KEPT: u32 = 1;
const JOINED: u32 = 2;
const WAITED: u32 = 4;

impl Gro {
    /// `on`: it was switched on when the socket was bound.
    pub(super) fn new(on: bool) -> Self {
        Self {
            available: on,
            on: AtomicBool::new(on),
            lone: AtomicU32::new(0),
            rounds: AtomicU32::new(0),
            behind: AtomicU32::new(0),
            shown: AtomicU32::new(0),
            doubt: AtomicU32::new(1),
            kept: AtomicU32::new(0),
        }
    }

    /// The same for another socket at the same address, where it begins as it is here.
    pub(super) fn beside(&self, fd: RawFd) -> Self {
        let beside = Self::new(self.available);
        beside.on.store(false, Ordering::Relaxed);
        if self.is_on() {
            beside.switch(fd, true);
        }
        beside
    }

    /// What a round of one message brought, to be noted when there is time: with [`note_kept`](Self::note_kept).
    #[inline]
    pub(super) fn keep(&self, round: RecvRound) {
        if round.messages > 0 {
            let joined = if round.datagrams > 1 { JOINED } else { 0 };
            let waited = if round.waited { WAITED } else { 0 };
            self.kept.store(KEPT | joined | waited, Ordering::Relaxed);
        }
    }

    /// Notes what was kept, if anything was.
    #[inline]
    pub(super) fn note_kept(&self, fd: RawFd) {
        let kept = self.kept.load(Ordering::Relaxed);
        if kept != 0 {
            self.kept.store(0, Ordering::Relaxed);
            let round = RecvRound {
                messages: 1,
                datagrams: if kept & JOINED == 0 { 1 } else { 2 },
                waited: kept & WAITED != 0,
            };
            self.note(fd, round);
        }
    }

    /// What a round brought. The counts are of all threads together: being wrong costs time only.
    pub(super) fn note(&self, fd: RawFd, round: RecvRound) {
        if !self.available || round.messages == 0 {
            return;
        }
        if !self.on.load(Ordering::Relaxed) {
            if round.messages >= CROWD || self.shows_pairs(round) {
                self.switch(fd, true);
            }
        } else if round.datagrams > 1 {
            self.lone.store(0, Ordering::Relaxed);
            self.doubt.store(1, Ordering::Relaxed);
        } else if self.lone.fetch_add(1, Ordering::Relaxed) + 1 >= LONE {
            self.switch(fd, false);
        }
    }

    /// Whether enough windows in a row had a datagram behind another in every third round.
    fn shows_pairs(&self, round: RecvRound) -> bool {
        let add = |count: &AtomicU32, amount: u32| {
            let sum = count.load(Ordering::Relaxed).wrapping_add(amount);
            count.store(sum, Ordering::Relaxed);
            sum
        };
        let behind = add(&self.behind, u32::from(!round.waited || round.messages > 1));
        if add(&self.rounds, 1) < WINDOW {
            return false;
        }
        self.rounds.store(0, Ordering::Relaxed);
        self.behind.store(0, Ordering::Relaxed);
        if behind < WINDOW / 3 {
            self.shown.store(0, Ordering::Relaxed);
            return false;
        }
        let doubt = self.doubt.load(Ordering::Relaxed);
        if add(&self.shown, 1) < doubt {
            return false;
        }
        self.shown.store(0, Ordering::Relaxed);
        self.doubt.store((doubt * 2).min(DOUBT), Ordering::Relaxed);
        true
    }

    fn switch(&self, fd: RawFd, on: bool) {
        self.lone.store(0, Ordering::Relaxed);
        // A kernel that refuses leaves things as they are, and it is asked again as rarely.
        if set_option(fd, libc::SOL_UDP, UDP_GRO, i32::from(on)).is_ok() {
            self.on.store(on, Ordering::Relaxed);
        }
    }

    /// Whether it is on.
    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
#[path = "gro_tests.rs"]
mod tests;
