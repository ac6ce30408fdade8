//! The receiver half: what came, what is missing, what was promised, what is owed.

use super::error_control::ReaderErrorControl;
use super::fast_nak::FastNak;
use super::matched::Held;
use super::newest::NewestPacket;
use super::receiver_state::ReceiverState;
use crate::options::ErrorControl;
use xtp_core::control::ecn::EcnCounter;
use xtp_core::control::flow::ReaderCredit;
use xtp_core::control::growth::Growth;
use xtp_core::recv::{Assembly, Reassembly, ReceiverWindow};
use xtp_core::time::Time;

/// An answer that is owed (§3.2).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owed {
    Nothing,
    /// EDGE: may wait for data of the same turn.
    TurnEnd,
    /// SREQ.
    Now,
}

/// A DREQ of the peer that waits for the user (§3.2).
#[derive(Copy, Clone, Debug)]
pub(crate) struct PeerDreq {
    pub(crate) seq: u64,
    pub(crate) sync: u32,
    /// It came without SREQ: a packet that echoes it is its answer.
    pub(crate) alone: bool,
    /// It asks whether the user has taken everything; with SREQ and without WCLOSE it may be one that waits for credit.
    pub(crate) for_delivery: bool,
    /// `delivered` when it came: half a capacity later credit is reported anyway.
    pub(crate) delivered_then: u64,
}

/// The peer's modes as its newest packet stated them.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PeerModes {
    pub(crate) no_error: bool,
    pub(crate) no_flow: bool,
    pub(crate) fast_nak: bool,
    pub(crate) reserve: bool,
    pub(crate) sort: Option<u16>,
}

/// In place of what was told to the peer, as long as nothing was.
pub(crate) const UNTOLD: (u64, u64) = (0, u64::MAX);

/// The receiver half of a context.
pub(super) struct ReceiverHalf {
    pub(super) store: Reassembly,
    pub(super) assembly: Option<Box<Assembly>>,
    /// Messages that were read and not received, where they are matched with receives.
    pub(super) held: Option<Box<Held>>,
    pub(super) credit: ReaderCredit,
    pub(super) growth: Growth,
    /// What the peer's writer may have under way, if it wants to be told (§5.3.1).
    pub(super) window: Option<Box<ReceiverWindow>>,
    /// One past the last octet granted (`rcv_alloc`).
    pub(super) alloc: u64,
    /// Largest window ever granted (W of §2.9).
    pub(super) widest: u64,
    pub(super) start: u64,
    pub(super) state: ReceiverState,
    pub(super) newest: NewestPacket,
    pub(super) dreq: Option<PeerDreq>,
    pub(super) owed: Owed,
    /// rseq and alloc as last told to the peer, or [`UNTOLD`].
    pub(super) told: (u64, u64),
    /// A window update is due without a request (§5.1).
    pub(super) update_due: bool,
    pub(super) modes: PeerModes,
    pub(super) error_control: ReaderErrorControl,
    pub(super) nak: FastNak,
    pub(super) ecn: EcnCounter,
    /// The user was told that something can be read and has not found the end of it.
    pub(super) announced: bool,
    /// Spans one control packet of ours may carry (TLV 10).
    pub(super) max_spans: usize,
    /// More ranges than a packet takes: the next status tells of the newest, not of the lowest.
    pub(super) newest_next: bool,
    /// The next answer asks in return, for a sample of the round trip.
    pub(super) asks_round_trip: bool,
}

impl ReceiverHalf {
    /// One past the last octet the user has taken.
    #[inline]
    pub(crate) fn taken(&self) -> u64 {
        self.passed_on().min(self.state.stopped_at())
    }

    /// One past the last octet that the user was given, wanted or not.
    #[inline]
    fn passed_on(&self) -> u64 {
        let held = self.held.as_ref().and_then(|held| held.start());
        held.unwrap_or(self.store.delivered())
    }

    /// So far it would have read that keeps only what comes after: what was read, less what is held of it.
    #[inline]
    pub(crate) fn freed(&self) -> u64 {
        self.store.delivered() - self.held.as_ref().map_or(0, |held| held.span())
    }

    /// Octets of sequence space that came in order and are kept for the user.
    #[inline]
    pub(crate) fn kept(&self) -> u64 {
        self.store.next() - self.freed()
    }

    /// The user takes no more, nor has it taken the last `untaken` octets that were read for it.
    pub(crate) fn give_up(&mut self, untaken: u64) {
        let taken = self.passed_on().saturating_sub(untaken).max(self.start);
        self.state.stop_at(taken);
        self.store.discard_all();
    }

    /// Something is held beyond rseq, and is reported as spans.
    pub(crate) fn has_holes(&self) -> bool {
        self.error_control.in_force() == ErrorControl::Selective && self.store.has_holes()
    }

    /// A hole is to be reported without a question (FASTNAK).
    pub(crate) fn nak_is_due(&self, now: Time) -> bool {
        if !self.modes.fast_nak || !self.state.is_open() {
            return false;
        }
        let next = self.store.next();
        match self.error_control.in_force() {
            ErrorControl::GoBackN => self.nak.is_due(next, None, now),
            ErrorControl::Selective => {
                self.store.has_holes() && self.nak.is_due(next, Some(self.newest.echo()), now)
            }
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state.final_seq().is_some_and(|end| self.store.next() >= end)
    }
}
