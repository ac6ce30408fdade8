//! Explicit congestion notification: marking, validation, counting (§5.3.2).

use crate::Ecn;
use crate::fields::Fields;

/// Acknowledged packets after which a verdict is due.
const ENOUGH: u32 = 10;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum EcnState {
    Off,
    Testing,
    Capable,
    Failed,
}

/// The writer's side: whether to mark, and what the peer's totals mean.
#[derive(Clone, Debug)]
pub struct EcnSender {
    state: EcnState,
    ect0: u32,
    ect1: u32,
    ce: u32,
    acked: u32,
    marks: u32,
    /// Something left marked since the last report that counted: what leaves unmarked says nothing about the path.
    marking: bool,
}

impl EcnSender {
    /// Testing from the first marked packet on; off for good unless `enabled`.
    pub fn new(enabled: bool) -> Self {
        let state = if enabled { EcnState::Testing } else { EcnState::Off };
        Self {
            state,
            ect0: 0,
            ect1: 0,
            ce: 0,
            acked: 0,
            marks: 0,
            marking: false,
        }
    }

    /// The path is another one: test it again.
    pub fn on_path_change(&mut self) {
        if self.state != EcnState::Off {
            self.state = EcnState::Testing;
            self.acked = 0;
            self.marks = 0;
        }
    }

    /// Another peer is listened to from now on, by another path; its totals were these when it was heard last.
    pub fn listen_to(&mut self, [ect0, ect1, ce]: [u32; 3]) {
        self.on_path_change();
        (self.ect0, self.ect1, self.ce) = (ect0, ect1, ce);
    }

    /// The peer's totals, in a report that counts as one acknowledged packet if anything left marked since the last.
    /// Returns by how much CE grew.
    pub fn on_status(&mut self, ect0: u32, ect1: u32, ce: u32) -> u32 {
        let acked = u32::from(std::mem::take(&mut self.marking));
        self.on_report(ect0, ect1, ce, acked)
    }

    /// The peer's totals, and how many packets that left marked were acknowledged since the last report.
    /// Returns by how much CE grew. Totals wrap; a report older than the last one is ignored.
    fn on_report(&mut self, ect0: u32, ect1: u32, ce: u32, newly_acked_packets: u32) -> u32 {
        let grown = [
            ect0.wrapping_sub(self.ect0),
            ect1.wrapping_sub(self.ect1),
            ce.wrapping_sub(self.ce),
        ];
        if grown.iter().any(|&count| count > u32::MAX / 2) {
            self.acked = self.acked.saturating_add(newly_acked_packets);
            return 0;
        }
        (self.ect0, self.ect1, self.ce) = (ect0, ect1, ce);
        if !matches!(self.state, EcnState::Testing | EcnState::Capable) {
            return 0;
        }
        self.acked = self.acked.saturating_add(newly_acked_packets);
        self.marks = self.marks.saturating_add(grown[0]).saturating_add(grown[2]);
        if self.acked >= ENOUGH {
            // Half of them is enough: packets sent before marking began are acknowledged too. A path that
            // clears or rewrites the field shows (nearly) none.
            self.state = if self.marks >= self.acked / 2 {
                EcnState::Capable
            } else {
                EcnState::Failed
            };
            self.acked = 0;
            self.marks = 0;
        }
        if self.state == EcnState::Failed {
            0
        } else {
            grown[2]
        }
    }

    /// What a data packet that leaves now carries.
    pub fn mark(&mut self) -> Ecn {
        self.marking = true;
        self.codepoint()
    }

    fn codepoint(&self) -> Ecn {
        match self.state {
            EcnState::Testing | EcnState::Capable => Ecn::Ect0,
            EcnState::Off | EcnState::Failed => Ecn::NotEct,
        }
    }

    /// Every field (see [`Fields`]).
    pub fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            state,
            ect0,
            ect1,
            ce,
            acked,
            marks,
            marking,
        } = self;
        fields.choice(
            state,
            &[
                EcnState::Off,
                EcnState::Testing,
                EcnState::Capable,
                EcnState::Failed,
            ],
        );
        for count in [ect0, ect1, ce, acked, marks] {
            fields.small(count);
        }
        fields.flag(marking);
    }

    /// Whether the path was found to carry marks.
    #[cfg(test)]
    pub fn is_capable(&self) -> bool {
        self.state == EcnState::Capable
    }
}

/// The reader's side: totals of packets by code point, modulo 2^32.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct EcnCounter {
    /// Packets that came with ECT(0).
    pub ect0: u32,
    /// Packets that came with ECT(1).
    pub ect1: u32,
    /// Packets that came with CE.
    pub ce: u32,
}

impl EcnCounter {
    /// Every field (see [`Fields`]).
    pub fn walk(&mut self, fields: &mut impl Fields) {
        let Self { ect0, ect1, ce } = self;
        for count in [ect0, ect1, ce] {
            fields.small(count);
        }
    }

    /// Counts one accepted packet.
    pub fn record(&mut self, ecn: Ecn) {
        self.record_many(ecn, 1);
    }

    /// Counts so many accepted packets.
    pub fn record_many(&mut self, ecn: Ecn, packets: u32) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 = self.ect0.wrapping_add(packets),
            Ecn::Ect1 => self.ect1 = self.ect1.wrapping_add(packets),
            Ecn::Ce => self.ce = self.ce.wrapping_add(packets),
        }
    }
}

#[cfg(test)]
#[path = "ecn_tests.rs"]
mod tests;
