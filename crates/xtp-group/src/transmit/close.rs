//! The beginning and the end of a group's transmission (§9.10).

use super::Transmitter;
use super::reply::UnicastReply;
use crate::groups::PartyEnv;
use crate::{GroupClose, GroupEvent, Require};
use core::time::Duration;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{DiagCode, DiagValue, Options, ToGroup};

/// END is said so often.
const ENDS: u8 = 3;
/// Between two of them: two round trips, but not less than the first nor more than the second.
const BETWEEN: Duration = Duration::from_millis(5);
const BETWEEN_AT_MOST: Duration = Duration::from_millis(250);
/// For so long at most a group whose members are all done waits for those who are still joining.
const JOINING: Duration = Duration::from_secs(8);
/// When the time to wait is over, and somebody is about to join, that is looked at so often.
const STEPS: Duration = Duration::from_millis(50);
/// A transmitter that gives up tells so many of its members one by one.
const TOLD_ALONE: usize = 64;

/// Where a group stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum TransmitPhase {
    /// Members come; nothing leaves until then at the latest.
    Gathering(Time),
    Sending,
    /// END was said so often, and is said again then.
    Ending(u8, Time),
    Over,
}

impl Transmitter {
    /// The stream may begin if all who are expected are here.
    pub(super) fn gather(&mut self, env: &mut PartyEnv<'_>) {
        let TransmitPhase::Gathering(until) = self.phase else {
            return;
        };
        let here = self.members.present();
        let complete = self
            .expected()
            .is_some_and(|expected| self.members.required_here() >= expected);
        let waited = env.now >= until;
        let is_short = here == 0 || self.expected().is_some() && !complete;
        if waited && is_short && self.waits_for_busy(self.began + self.options.wait, env.now) {
            self.phase = TransmitPhase::Gathering(env.now + STEPS);
            return;
        }
        if waited && here == 0 {
            // Somebody may be about to join, but nobody can hold up the end by joining for ever.
            let since = *self.quiet_since.get_or_insert(env.now);
            if self.joins.len() == 0 || env.now.since(since) >= JOINING {
                return self.end_without_anybody(env);
            }
            self.phase = TransmitPhase::Gathering(env.now + STEPS);
        }
        if complete || (waited && here > 0) {
            self.phase = TransmitPhase::Sending;
            self.quiet_since = None;
            env.tell(GroupEvent::Started);
        }
    }

    /// Nobody came, or nobody stayed: whoever is still about to join hears that it is over.
    fn end_without_anybody(&mut self, env: &mut PartyEnv<'_>) {
        self.nobody_came = true;
        self.phase = TransmitPhase::Ending(0, env.now);
    }

    /// Members without whom nothing leaves before the time to wait is over.
    pub(super) fn expected(&self) -> Option<usize> {
        match (self.options.expect, &self.options.require) {
            (Some(expected), _) => Some((expected as usize).max(1)),
            (None, Require::List(list)) => Some(list.len()),
            (None, _) => None,
        }
    }

    pub(super) fn is_gathering(&self) -> bool {
        matches!(self.phase, TransmitPhase::Gathering(_))
    }

    pub(super) fn is_ending(&self) -> bool {
        matches!(self.phase, TransmitPhase::Ending(..) | TransmitPhase::Over)
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase == TransmitPhase::Over
    }

    /// Ends the group if nobody is left to wait for, and this transmitter if all are settled.
    pub(super) fn settle(&mut self, env: &mut PartyEnv<'_>) {
        if self.phase == TransmitPhase::Sending && self.may_end(env.now) {
            self.repair.clear();
            self.phase = TransmitPhase::Ending(0, env.now);
        }
        if matches!(self.phase, TransmitPhase::Ending(ENDS, _)) && self.members.all_settled() {
            let how = match self.nobody_came {
                true => GroupClose::Nobody,
                false => GroupClose::Normal,
            };
            self.finish_with(how, env);
        }
    }

    fn may_end(&mut self, now: Time) -> bool {
        if self.is_datagram() {
            return false;
        }
        // Nobody is left of all that were there: nothing new would ever leave.
        let deserted = self.members.len() > 0 && self.members.all_settled();
        let sent = deserted || self.stream.is_sent() && self.end_was_said();
        let nobody = self.options.require == Require::Nobody;
        if !sent || !(nobody || self.members.nobody_to_wait_for()) {
            self.quiet_since = None;
            return false;
        }
        // Whoever is joining may be about to hold the window, but nobody can hold up the end by joining for ever.
        let since = *self.quiet_since.get_or_insert(now);
        let joined = self.joins.len() == 0 || now.since(since) >= JOINING;
        joined && !self.waits_for_busy(since, now)
    }

    /// When `settle` looks again although nothing happens.
    pub(super) fn end_at(&self) -> Option<Time> {
        match self.phase {
            TransmitPhase::Gathering(until) => Some(until),
            TransmitPhase::Ending(said, at) if said < ENDS => Some(at),
            TransmitPhase::Sending => self.quiet_since.map(|since| {
                let joined = (self.joins.len() > 0).then(|| since + JOINING);
                joined.max(self.busy_until(since)).unwrap_or(since)
            }),
            _ => None,
        }
    }

    /// END to the group, three times.
    pub(super) fn say_ends(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        if let TransmitPhase::Ending(said, at) = self.phase
            && said < ENDS
            && at <= env.now
        {
            self.line
                .control(ToGroup::End, (self.stream.nxt, Options::empty()), env.now, out);
            self.phase = TransmitPhase::Ending(said + 1, env.now + self.between_ends());
            self.settle(env);
        }
    }

    /// How long the next END waits: so that members that are not done yet may answer, whatever queue there is. Where all members are done or out
    /// there is no queue any more, and only one of them says something that did not hear its own END: it has the time of the path itself,
    /// and of the spread of its answer.
    fn between_ends(&self) -> Duration {
        let usual = (2 * self.round_trip).clamp(BETWEEN, BETWEEN_AT_MOST);
        let is_left = self.members.alive() > 0 || self.joins.len() > 0;
        let least = self.members.least_round_trip().filter(|_| !is_left);
        let spread = self.feedback().spread(1);
        least.map_or(usual, |least| (least + BETWEEN).max(spread).min(usual))
    }

    /// It is over; nothing is sent any more.
    pub(super) fn finish_with(&mut self, how: GroupClose, env: &mut PartyEnv<'_>) {
        if self.phase != TransmitPhase::Over {
            self.phase = TransmitPhase::Over;
            self.repair.clear();
            env.tell(GroupEvent::Closed(how));
        }
    }

    /// The user lets go of it before its end: whoever is not done hears so. END without WCLOSE says that the stream goes on
    /// nowhere (§9.10).
    pub(super) fn abandon(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        if self.phase == TransmitPhase::Over {
            return;
        }
        if !self.is_ending() {
            self.line.ending = Options::empty();
        }
        let at = (self.stream.nxt, Options::empty());
        self.line.control(ToGroup::End, at, env.now, out);
        let open = self.members.iter().filter(|(_, member)| member.is_open());
        let told: Vec<_> = open
            .take(TOLD_ALONE)
            .map(|(_, member)| ((member.address, member.local), member.key))
            .collect();
        for (to, key) in told {
            let (code, value) = (DiagCode::ContextAbandoned, DiagValue::HostGoingDown);
            self.replies.push(UnicastReply::refusal(to, key, code, value));
        }
        while !self.replies.is_empty() {
            self.send_replies(env, out);
        }
        self.phase = TransmitPhase::Over;
    }

    /// Whether the group was told where the stream ends.
    pub(super) fn end_was_said(&self) -> bool {
        self.line.ending.contains(Options::WCLOSE)
    }
}

#[cfg(test)]
#[path = "close_tests.rs"]
mod tests;
