//! Polls, and when they are answered (§9.13).

use super::{Receiver, Stage, says_end};
use crate::Feedback;
use crate::groups::PartyEnv;
use xtp_core::time::Time;
use xtp_wire::{GroupPoll, Header, Options};

/// A poll that waits for its answer.
#[derive(Debug, Default)]
pub(super) struct PendingAnswer {
    /// When the answer leaves. A newer poll does not move it: what it says is of that moment anyway.
    pub(super) at: Option<Time>,
}

impl Receiver {
    pub(super) fn polled(&mut self, header: &Header, poll: &GroupPoll, env: &mut PartyEnv<'_>) {
        self.heard_poll(header, env.now);
        self.feedback = Feedback::of(poll);
        if header.options.contains(Options::DREQ) {
            self.close.waits_for_user = true;
        }
        if says_end(header) {
            self.learn_end(header.seq, env);
        }
        match self.stage {
            Stage::Following => self.follow_position(header, env),
            Stage::Member if poll.asks(self.key) && self.asked.at.is_none() => {
                let slot = self.feedback.slot(poll.modulus, env.random());
                self.asked.at = Some(env.now + slot);
            }
            _ => {}
        }
        self.judge(env);
    }

    /// Answers, confirmations and reminders that are due.
    pub(super) fn report_due(&mut self, env: &mut PartyEnv<'_>) {
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= env.now);
        if is_due(self.asked.at) {
            self.asked.at = None;
            self.outbox.status = true;
            self.outbox.asked = true;
        }
        self.group_report_due(env.now);
        if is_due(self.close.at) {
            self.close.at = None;
            self.outbox.status = true;
        }
        if is_due(self.behind_at()) {
            self.outbox.status = true;
        }
    }
}
