//! Whom the transmitter asks, and when (§9.10).

use crate::Feedback;
use core::time::Duration;
use std::collections::VecDeque;
use xtp_core::time::Time;
use xtp_wire::GroupPoll;

/// Longest interval between polls of a group whose end is waited for.
const LONGEST_CLOSING: Duration = Duration::from_secs(1);
/// Interval while something is unacknowledged and the window is no matter.
const LAZY: Duration = Duration::from_millis(500);
/// The same while more waits to be sent: what was lost of a block is found when the next one is finished, without a poll.
const FILLING: Duration = Duration::from_secs(1);
/// Interval while nothing is unacknowledged: the transmitter is never silent for longer.
const IDLE: Duration = Duration::from_secs(2);
/// Questions whose answers are still awaited; of more the oldest count as answered.
const MOST_OPEN: usize = 1_024;
/// So long, all in all, questions may run ahead of the answers that the transmitter takes.
const AHEAD: Duration = Duration::from_secs(1);
/// So few missing of more than so many are asked each alone (§9.10).
const FEW: usize = 4;
const MANY: usize = 8;

/// A question, and until when it may be answered.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct OutstandingPoll {
    pub(super) asked: Time,
    pub(super) until: Time,
    pub(super) sync: u32,
    pub(super) modulus: u16,
    pub(super) remainder: u16,
}

impl OutstandingPoll {
    /// Whether whoever chose this key was asked.
    pub(super) fn concerns(&self, key: u64) -> bool {
        (key & 0xffff) as u16 % self.modulus == self.remainder
    }
}

/// Why a poll is due.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Situation {
    /// Everything was sent, and confirmations are waited for.
    Closing,
    /// Three quarters of the window and more are unacknowledged, or it is closed.
    Tight,
    /// Something is unacknowledged, and more waits to be sent.
    Filling,
    /// Something is unacknowledged.
    Flowing,
    /// Nothing is.
    Idle,
}

/// The schedule of polls.
#[derive(Debug)]
pub(super) struct Polls {
    /// When the last one of a slice left, and where the stream was.
    last: Time,
    position: u64,
    slice: u16,
    /// One is to leave at once.
    pressing: bool,
    /// Closing: polls without progress of anybody.
    vain: u32,
    /// When all answers asked for of slices are taken, at the rate the transmitter takes them. Where answers are spread that is over before
    /// the next question; few members answer at once, and are asked as fast as a window closes.
    taken: Time,
    asked: VecDeque<OutstandingPoll>,
}

impl Polls {
    pub(super) fn new(now: Time) -> Self {
        Self {
            last: now,
            position: 0,
            slice: 0,
            pressing: false,
            vain: 0,
            taken: now,
            asked: VecDeque::new(),
        }
    }

    /// The window closed, or the last octet left.
    pub(super) fn press(&mut self) {
        self.pressing = true;
    }

    /// Somebody came nearer to its end.
    pub(super) fn progress(&mut self) {
        self.vain = self.vain.min(1);
    }

    /// When the next poll of a slice is due, in this situation and without further octets.
    pub(super) fn due(&self, situation: Situation, feedback: &Feedback) -> Time {
        let modulus = feedback.slices();
        let least = feedback.next_poll(modulus);
        if self.pressing {
            return self.earliest(feedback);
        }
        let interval = match situation {
            Situation::Closing => (least * (1 << self.vain.min(8))).min(LONGEST_CLOSING.max(least)),
            Situation::Tight => least,
            Situation::Filling => least.max(FILLING),
            Situation::Flowing => least.max(LAZY),
            Situation::Idle => IDLE,
        };
        (self.last + interval).max(self.earliest(feedback))
    }

    /// When one may leave at the earliest: at most one a spread of answers, and no more than the transmitter takes.
    pub(super) fn earliest(&self, feedback: &Feedback) -> Time {
        let spread = self.last + feedback.spread(feedback.slices());
        match self.taken.since(self.last).checked_sub(AHEAD) {
            Some(late) => spread.max(self.last + late),
            None => spread,
        }
    }

    /// Whether so much was sent since the last one that another is due.
    pub(super) fn is_far(&self, position: u64, quarter: u64) -> bool {
        position.saturating_sub(self.position) >= quarter
    }

    /// The poll of the next slice, about to leave in packet `sync`.
    pub(super) fn next_slice(
        &mut self,
        feedback: &Feedback,
        (sync, position): (u32, u64),
        now: Time,
    ) -> GroupPoll {
        let modulus = feedback.slices();
        self.slice = (self.slice + 1) % modulus;
        let answers = feedback.size.div_ceil(modulus.into());
        self.taken = self.taken.max(now) + Duration::from_secs(answers.into()) / feedback.rate.max(1);
        (self.last, self.position, self.pressing) = (now, position, false);
        self.vain += 1;
        let poll = tail(feedback, modulus, self.slice);
        self.await_answers(&poll, sync, feedback, now);
        poll
    }

    /// The poll of one member alone.
    pub(super) fn alone(&mut self, key: u64, feedback: &Feedback, sync: u32, now: Time) -> GroupPoll {
        let poll = tail(feedback, GroupPoll::ALONE, 0).alone(key);
        self.await_answers(&poll, sync, feedback, now);
        poll
    }

    fn await_answers(&mut self, poll: &GroupPoll, sync: u32, feedback: &Feedback, now: Time) {
        if self.asked.len() == MOST_OPEN {
            self.asked.pop_front();
        }
        let wait = match poll.modulus {
            GroupPoll::ALONE => feedback.answers_until(u16::MAX),
            modulus => feedback.answers_until(modulus),
        };
        self.asked.push_back(OutstandingPoll {
            asked: now,
            until: now + wait,
            sync,
            modulus: poll.modulus,
            remainder: poll.remainder,
        });
    }

    /// The closing of a larger group of which few are missing asks each of them alone, but first all.
    pub(super) fn asks_each(&self, missing: usize, members: usize) -> bool {
        self.vain > 1 && missing > 0 && missing <= FEW && members > MANY
    }

    /// Polls of all are made as if one had left: each missing one is asked alone.
    pub(super) fn asked_each(&mut self, position: u64, now: Time) {
        (self.last, self.position, self.pressing) = (now, position, false);
        self.vain += 1;
    }

    /// A question whose time is over: who has not answered missed it.
    pub(super) fn over(&mut self, now: Time) -> Option<OutstandingPoll> {
        let is_over = self.asked.front().is_some_and(|asked| asked.until <= now);
        is_over.then(|| self.asked.pop_front()).flatten()
    }

    /// This transmitter was stopped: answers to what it asked before may lie unread until then.
    pub(super) fn excuse(&mut self, until: Time) {
        for asked in &mut self.asked {
            asked.until = asked.until.max(until);
        }
    }

    /// When the time of the oldest question is over.
    pub(super) fn next_over(&self) -> Option<Time> {
        self.asked.front().map(|asked| asked.until)
    }
}

fn tail(feedback: &Feedback, modulus: u16, remainder: u16) -> GroupPoll {
    let micros = |span: Duration| u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
    GroupPoll {
        modulus,
        remainder,
        size: feedback.size,
        grtt_us: micros(feedback.round_trip),
        feedback_rate: feedback.rate,
        hold_us: micros(feedback.hold),
    }
}

#[cfg(test)]
#[path = "poll_tests.rs"]
mod tests;
