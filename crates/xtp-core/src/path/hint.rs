//! Hints that a peer is gone: how long the questions about one may stay unanswered, and whether it goes on (§3.7.2).

use crate::time::Time;
use core::time::Duration;

/// The least time for an answer to the questions of a doubt: what a peer said last before it went may be held up by a
/// busy host behind the network's word that it went.
const LEAST: Duration = Duration::from_millis(200);
/// The least where the carrier alone raised it: a firewall that is loaded anew rejects for some tenths of a second.
const LEAST_OF_CARRIER: Duration = Duration::from_secs(3);
/// The most: three periods of WTIMER, which runs for 10 s at most (§3.6).
const MOST: Duration = Duration::from_secs(30);

/// The origin of a hint.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hint {
    /// "Port unreachable", which a firewall on the way may say as well: it counts if it goes on.
    Carrier,
    /// A DIAG 3 of the peer.
    Peer,
}

impl Hint {
    /// How long the questions about it may remain unanswered, where each is waited for `wtimer` long.
    pub fn patience(self, wtimer: Duration) -> Duration {
        let least = match self {
            Self::Carrier => LEAST_OF_CARRIER,
            Self::Peer => LEAST,
        };
        (3 * wtimer).clamp(least, MOST)
    }
}

/// Whether a report of the carrier is so new that its hint goes on when the `patience` with it is over. Questions leave at doubling
/// intervals at most: one of them lies behind a third of the time.
pub fn is_recent(report: Time, patience: Duration, now: Time) -> bool {
    3 * now.since(report) <= 2 * patience
}

/// What becomes of a hint of the carrier.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum HintOutcome {
    /// The peer may still answer.
    Open,
    /// No report came any more: what remains is silence.
    Void,
    /// The reports go on: the peer is gone.
    Gone,
}

/// Reports of the carrier about one peer that has said nothing since the first of them.
#[derive(Copy, Clone, Debug)]
pub struct Reports {
    latest: Time,
    due: Time,
    patience: Duration,
}

impl Reports {
    /// Adds a report to those `known`, whose patience it does not prolong.
    pub fn and(known: Option<Self>, wtimer: Duration, now: Time) -> Self {
        let patience = Hint::Carrier.patience(wtimer);
        let first = Self {
            latest: now,
            due: now + patience,
            patience,
        };
        Self {
            latest: now,
            ..known.unwrap_or(first)
        }
    }

    /// When they are judged.
    pub fn due(&self) -> Time {
        self.due
    }

    /// What they mean.
    pub fn outcome(&self, now: Time) -> HintOutcome {
        match is_recent(self.latest, self.patience, now) {
            _ if now < self.due => HintOutcome::Open,
            true => HintOutcome::Gone,
            false => HintOutcome::Void,
        }
    }
}

#[cfg(test)]
#[path = "hint_tests.rs"]
mod tests;
