//! Whether the peer still knows the association: hints that it does not, and what decides them (§2.6, §3.7.2, §7.5).

use core::time::Duration;
use xtp_core::path::hint::{Hint, is_recent};
use xtp_core::time::Time;

/// "Port unreachable" of a peer that was never heard counts when it was reported again so much later: a server that starts anew needs a
/// moment.
pub(super) const CERTAINTY: Duration = Duration::from_millis(100);

/// Hints that the peer is gone, and the question about them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    stage: DoubtStage,
    /// "Port unreachable" since a packet of the peer last came: the first report while opening, the newest later. [`Time::NEVER`]: none.
    reported: Time,
}

impl Default for Doubt {
    fn default() -> Self {
        Self {
            stage: DoubtStage::No,
            reported: Time::NEVER,
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum DoubtStage {
    No,
    /// To be asked at once.
    Raised(Hint),
    /// Asked: without an answer the association fails.
    Asked(Hint),
}

impl Doubt {
    /// Whether nothing is to be asked, nor was.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.stage == DoubtStage::No
    }

    /// The same, and the carrier reported nothing since the peer was last heard.
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// A packet of the peer came that is newer than all before; true if that answers the question.
    #[inline]
    pub(super) fn heard(&mut self) -> bool {
        self.reported = Time::NEVER;
        let asked = matches!(self.stage, DoubtStage::Asked(_));
        if asked {
            self.stage = DoubtStage::No;
        }
        asked
    }

    /// A hint that the peer does not know this association. Its own word outweighs that of the carrier.
    pub(super) fn raise(&mut self, hint: Hint) {
        let known = match self.stage {
            DoubtStage::No => None,
            DoubtStage::Raised(known) | DoubtStage::Asked(known) => Some(known),
        };
        if known < Some(hint) {
            self.stage = DoubtStage::Raised(hint);
        }
    }

    /// The carrier reports "port unreachable" of a peer that was heard before.
    pub(super) fn report(&mut self, now: Time) {
        self.reported = now;
    }

    /// It reports that of a peer that was never heard: how long after the first report, if there was one.
    pub(super) fn report_unheard(&mut self, now: Time) -> Option<Duration> {
        let first = self.reported();
        self.reported = first.unwrap_or(now);
        first.map(|first| now.since(first))
    }

    /// The hint, if it is to be asked about; from here on it was.
    pub(super) fn ask(&mut self) -> Option<Hint> {
        let DoubtStage::Raised(hint) = self.stage else {
            return None;
        };
        self.stage = DoubtStage::Asked(hint);
        Some(hint)
    }

    /// The time for an answer is over, where each question is waited for `wtimer` long: whether the peer is gone. Reports of the carrier
    /// that ended before its questions did decide nothing: what remains is silence.
    pub(super) fn is_confirmed(&mut self, wtimer: Duration, now: Time) -> bool {
        let DoubtStage::Asked(hint) = self.stage else {
            return false;
        };
        let recent = |report| is_recent(report, hint.patience(wtimer), now);
        let goes_on = hint != Hint::Carrier || self.reported().is_some_and(recent);
        if !goes_on {
            *self = Self::default();
        }
        goes_on
    }

    /// This host slept for `span`, until `now`: that was no time in which reports could have come.
    pub(super) fn slept(&mut self, span: Duration, now: Time) {
        if let Some(report) = self.reported() {
            self.reported = (report + span).min(now);
        }
    }

    fn reported(&self) -> Option<Time> {
        (self.reported != Time::NEVER).then_some(self.reported)
    }
}

#[cfg(test)]
#[path = "doubt_tests.rs"]
mod tests;
