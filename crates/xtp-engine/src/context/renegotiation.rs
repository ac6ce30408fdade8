//! Limits of this end that its peer was not told, or has not confirmed: what a TCNTL says (§1.7, §2.5).

use xtp_wire::serial_gt;

/// TCNTLs that are due or unconfirmed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renegotiation {
    /// A TCNTL must go out.
    due: bool,
    /// It carries SREQ and is repeated until answered.
    confirm: bool,
    /// The sync of the unanswered one.
    open: Option<u32>,
}

impl Renegotiation {
    /// The user sets a limit; `told`: FIRST has left, which would state it.
    pub(super) fn limit_set(&mut self, told: bool) {
        (self.due, self.confirm) = (told, true);
    }

    /// A TCNTL of the peer came; one that asks is answered in kind.
    pub(super) fn peer_told(&mut self, asks: bool) {
        self.due |= asks;
    }

    /// A TCNTL leaves.
    pub(super) fn left(&mut self, sync: u32) {
        self.due = false;
        if self.confirm {
            self.open = Some(sync);
        }
    }

    /// The peer has seen the packet `echo`.
    pub(super) fn answered(&mut self, echo: u32) {
        if self.open.is_some_and(|sync| !serial_gt(sync, echo)) {
            (self.open, self.confirm) = (None, false);
        }
    }

    /// A TCNTL must go out.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// The one that goes out next asks for an answer.
    pub(super) fn asks(&self) -> bool {
        self.confirm
    }

    /// One is unanswered.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

#[cfg(test)]
#[path = "renegotiation_tests.rs"]
mod tests;
