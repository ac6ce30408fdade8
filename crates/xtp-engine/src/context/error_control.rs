//! Which error control a reader asks for: selective retransmission, or to go back to the first hole (§4.4).

use crate::options::ErrorControl;
use xtp_core::fields::Fields;

/// The one in force, and the one its user wants: nothing that was reported is given up for a change (no reneging).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReaderErrorControl {
    in_force: ErrorControl,
    wanted: ErrorControl,
}

impl ReaderErrorControl {
    pub(super) fn new(kind: ErrorControl) -> Self {
        Self {
            in_force: kind,
            wanted: kind,
        }
    }

    #[inline]
    pub(super) fn in_force(&self) -> ErrorControl {
        self.in_force
    }

    /// What the user wants is in force.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.in_force == self.wanted
    }

    /// The user wants another one.
    pub(super) fn want(&mut self, kind: ErrorControl) {
        self.wanted = kind;
    }

    /// What is wanted becomes in force where the reader has no `holes`.
    #[inline]
    pub(super) fn settle(&mut self, holes: bool) {
        if !holes {
            self.in_force = self.wanted;
        }
    }

    /// As part of the walk over a context at rest.
    pub(super) fn walk(&mut self, fields: &mut impl Fields) {
        for control in [&mut self.in_force, &mut self.wanted] {
            fields.choice(control, &[ErrorControl::Selective, ErrorControl::GoBackN]);
        }
    }
}

#[cfg(test)]
#[path = "error_control_tests.rs"]
mod tests;
