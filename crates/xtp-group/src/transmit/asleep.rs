//! What a transmitter does that was stopped: time in which it did not run is nobody's silence (§9.10).

use super::Transmitter;
use super::close::TransmitPhase;
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::time::sleep::READING;

impl Transmitter {
    /// The driver was stopped for `span`, until `now`: whatever counts somebody's silence goes on where it was, and nobody is judged
    /// before what lies in the sockets was read.
    pub(crate) fn excuse(&mut self, span: Duration, now: Time) {
        let soon = now + READING;
        for (_, member) in self.members.iter_mut() {
            member.excuse(span, now);
        }
        self.joins.excuse(span, now);
        self.polls.excuse(soon);
        self.judge.excuse(span, now);
        if let TransmitPhase::Gathering(until) = &mut self.phase {
            *until = (*until).max(soon);
        }
        if let Some(message) = &mut self.message {
            message.excuse(span, soon);
        }
        self.quiet_since = self.quiet_since.map(|since| later(since, span, now));
    }

    /// Whether what came while this transmitter was stopped may still lie unread.
    pub(super) fn is_reading(&self, now: Time) -> bool {
        self.judge.woke.is_some_and(|woke| now < woke + READING)
    }

    /// Whether the answer to what left at `sent` tells how long the way is: it may have lain unread while this transmitter was stopped.
    pub(super) fn measures(&self, sent: Time) -> bool {
        self.judge.woke.is_none_or(|woke| sent >= woke)
    }
}

/// The moment from which a silence counts that began at `since`, without `span`.
pub(super) fn later(since: Time, span: Duration, now: Time) -> Time {
    (since + span).min(now)
}

#[cfg(test)]
#[path = "asleep_tests.rs"]
mod tests;
