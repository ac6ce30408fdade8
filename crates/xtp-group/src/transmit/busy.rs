//! Receivers that have no place for this transmitter at present (§9.10).

use super::Transmitter;
use crate::Require;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_wire::{Diag, DiagCode, DiagValue, Header};

/// A receiver that is busy says so about once a second; one that said nothing for so long is not any more.
const BUSY: Duration = Duration::from_secs(3);

/// What receivers said that have no place.
#[derive(Debug, Default)]
pub(super) struct BusyReceivers {
    heard: Option<Time>,
}

impl Transmitter {
    /// Whether a receiver says that it has no place at present: it does not know this transmitter, so the key is the group's. All that
    /// counts of it is when it came.
    pub(super) fn hears_busy(&mut self, header: &Header, diag: &Diag<'_>, now: Time) -> bool {
        let refused = (DiagCode::JoinRefused.to_wire(), DiagValue::NoResource.to_wire());
        let is_busy = header.key.value() == self.line.key && (diag.code, diag.val) == refused;
        if is_busy {
            self.busy.heard = Some(now);
            self.line.stats.busy_reports += 1;
        }
        is_busy
    }

    /// Whether a receiver that comes now is waited for: fewer came than are expected, or nobody knows how many will.
    fn awaits_more(&self) -> bool {
        let open = !self.repairs_nothing() && !matches!(self.options.require, Require::AnyOf(_));
        open && self
            .expected()
            .is_none_or(|expected| self.members.required_here() < expected)
    }

    /// Whether receivers that are busy are waited for, from `since` on, when there would be nobody else to wait for: for the patience at
    /// most, whatever they say.
    pub(super) fn waits_for_busy(&self, since: Time, now: Time) -> bool {
        let patient = self.awaits_more() && now < since + self.options.patience;
        patient
            && self
                .busy
                .heard
                .is_some_and(|heard| now < heard + self.busy_span())
    }

    /// When that is over, if nothing more is heard.
    pub(super) fn busy_until(&self, since: Time) -> Option<Time> {
        let heard = self.busy.heard?;
        Some((heard + self.busy_span()).min(since + self.options.patience))
    }

    /// Those of a large group spread what they say.
    fn busy_span(&self) -> Duration {
        BUSY.max(4 * self.feedback().spread(1))
    }
}
