//! Mode B: questions that are answered to the whole group, and who keeps its answer to itself (§9.17).

use super::packets::SPANS;
use super::{Receiver, Stage};
use crate::groups::PartyEnv;
use crate::{BucketReply, LONGEST};
use core::time::Duration;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_core::transmit::TransmitBatch;
use xtp_wire::{Control, GroupBuckets, Header, Spans, ToTransmitter, serial_gt};

/// So many answers in a row are kept back at most: whoever makes up answers of others silences nobody for good.
const MOST_KEPT: u8 = 8;

/// A question that waits for its answer.
#[derive(Debug, Default)]
pub(super) struct Answering {
    /// When the answer leaves. A newer question does not move it: what it says is of that moment anyway.
    pub(super) at: Option<Time>,
    /// Number of the newest question.
    question: u32,
    /// Answers that were kept back since the last one left.
    kept: u8,
}

impl Receiver {
    /// The transmitter says anew how questions are answered: how, not whether, may change.
    pub(super) fn learn_buckets(&mut self, buckets: Option<GroupBuckets>) {
        if let Some(bound) = &mut self.bound
            && bound.buckets.is_some()
        {
            bound.buckets = buckets.or(bound.buckets);
        }
    }

    fn bucket_terms(&self) -> Option<GroupBuckets> {
        self.bound.as_ref().and_then(|bound| bound.buckets)
    }

    /// Whether nothing is said of what is missing but in answers to all: until the end of the stream is known.
    pub(super) fn is_anonymous(&self) -> bool {
        self.bucket_terms().is_some() && self.close.end.is_none()
    }

    /// Everybody is asked.
    pub(super) fn questioned(&mut self, header: &Header, env: &mut PartyEnv<'_>) {
        self.heard_poll(header, env.now);
        let Some(terms) = self.bucket_terms().filter(|_| self.stage == Stage::Member) else {
            return;
        };
        let answering = &mut self.answering;
        if answering.at.is_none() || serial_gt(header.sync, answering.question) {
            answering.question = header.sync;
        }
        if answering.at.is_none() {
            let spread = Duration::from_micros(terms.spread_us.into()).min(LONGEST);
            let share = (env.random() >> 11) as f64 / (1_u64 << 53) as f64;
            answering.at = Some(env.now + spread.mul_f64(share));
        }
    }

    /// The answer to a question is due. Who is behind holds nothing up: its answer is for the transmitter alone, and silences
    /// nobody.
    pub(super) fn group_report_due(&mut self, now: Time) {
        if self.answering.at.is_none_or(|at| at > now) {
            return;
        }
        self.answering.at = None;
        match self.is_behind() {
            true => (self.outbox.status, self.outbox.asked) = (true, true),
            false => self.outbox.to_all = true,
        }
    }

    /// Sends the answer to the group.
    pub(super) fn send_to_all(&mut self, env: &PartyEnv<'_>, out: &mut TransmitBatch) {
        let (Some(bound), Some(group)) = (&self.bound, self.options.group) else {
            return;
        };
        let to = (group, bound.key);
        self.answering.kept = 0;
        self.measure(env);
        self.send_status(to, self.control(self.echo()), self.delay_us(env), env, out);
    }

    /// Another receiver of the group `key` answered: if it has seen the same question, and claims no more of anything, what this one
    /// would say is said. False: it is another group's.
    pub(crate) fn overhear(&mut self, key: u64, said: &ToTransmitter<'_>) -> bool {
        if self.bound.as_ref().is_none_or(|bound| bound.key != key) {
            return false;
        }
        let (control, spans) = match *said {
            ToTransmitter::Status(control) => (control, Spans::EMPTY),
            ToTransmitter::Spans { control, spans } => (control, spans),
            ToTransmitter::Extended(status) => (status.control, status.spans),
            _ => return true,
        };
        let damps = self
            .bucket_terms()
            .is_some_and(|terms| terms.flags & GroupBuckets::DAMPING != 0);
        let waits = self.answering.at.is_some() && self.answering.kept < MOST_KEPT;
        if damps && waits && reply(control, spans.iter().collect()).says_it_all(&self.own_reply()) {
            self.answering.at = None;
            self.answering.kept += 1;
        }
        true
    }

    /// What this receiver would answer now, to the newest question.
    fn own_reply(&self) -> BucketReply {
        let mut spans = SmallVec::new();
        self.stream.spans(SPANS, &mut spans);
        reply(self.control(self.answering.question), spans.into_iter().collect())
    }

    /// What goes back to the last hole is thrown away: it is sent again with what is missing. Not by one that is behind, which fetches
    /// what is missing by itself.
    pub(super) fn throws_away(&self, position: u64) -> bool {
        let goes_back = self
            .bucket_terms()
            .is_some_and(|terms| terms.flags & GroupBuckets::GO_BACK_N != 0);
        goes_back && position > self.stream.next() && !self.is_behind()
    }
}

fn reply(control: Control, spans: SmallVec<[(u64, u64); 4]>) -> BucketReply {
    BucketReply {
        member: 0,
        echo: control.echo,
        rseq: control.rseq,
        alloc: control.alloc,
        round_trip: None,
        spans,
    }
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
