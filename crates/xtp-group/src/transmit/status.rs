//! What members report: progress, needs, round trips, and that they have everything (§9.10).

use super::Transmitter;
use super::hearing::Shown;
use super::reply::UnicastReply;
use crate::groups::PartyEnv;
use crate::{DropReason, GroupEvent, MemberId, MemberState};
use core::net::SocketAddr;
use core::time::Duration;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_wire::{
    Control, DELAY_NONE, Diag, DiagCode, DiagValue, Gnack, GnackBlock, Header, Options, Spans, Xcntl,
    XcntlFlags, serial_gt,
};

/// Packets that overtook so many others are no sign that those are lost.
const LATER: u32 = 3;
/// Most of what a user's words about a rejection that is kept.
const MOST_TEXT: usize = 255;

/// A report of any format.
pub(super) struct StatusReport<'a> {
    pub(super) control: Control,
    /// How long the question waited, if this answers one.
    delay: Option<Duration>,
    /// Octets a second; 0 unknown.
    rate: u64,
    /// How many packets came as ECT(0), ECT(1) and CE, if it says so.
    marks: Option<[u32; 3]>,
    needs: &'a [GnackBlock],
    /// What it has beyond `rseq`, and between which positions that is all.
    spans: Option<(Spans<'a>, u64, u64)>,
    /// `echo` counts the packets to this receiver alone: it answers one of them.
    answers_letter: bool,
}

fn delay(micros: u32) -> Option<Duration> {
    (micros != DELAY_NONE).then(|| Duration::from_micros(micros.into()))
}

impl<'a> StatusReport<'a> {
    /// A plain one answers a packet to its sender alone.
    pub(super) fn plain(control: Control) -> Self {
        Self {
            control,
            delay: None,
            rate: 0,
            marks: None,
            needs: &[],
            spans: None,
            answers_letter: true,
        }
    }

    pub(super) fn spans(control: Control, spans: Spans<'a>) -> Self {
        Self {
            spans: Some((spans, 0, u64::MAX)),
            answers_letter: false,
            ..Self::plain(control)
        }
    }

    pub(super) fn extended(status: &Xcntl<'a>) -> Self {
        let told = |flag| status.flags.contains(flag);
        let mut edges = status.spans.iter();
        let above = match edges.next() {
            Some((left, _)) if told(XcntlFlags::EARLIER_SPANS) => left,
            _ => 0,
        };
        let below = match status.spans.iter().last() {
            Some((_, right)) if told(XcntlFlags::LATER_SPANS) => right,
            _ => u64::MAX,
        };
        Self {
            delay: delay(status.delay_us),
            rate: status.rxrate,
            marks: Some([status.ect0, status.ect1, status.ce]),
            ..Self::spans(status.control, status.spans).within(above, below)
        }
    }

    fn within(mut self, above: u64, below: u64) -> Self {
        if let Some((_, from, to)) = &mut self.spans {
            (*from, *to) = (above, below);
        }
        self
    }

    /// What it has beyond `rseq`.
    pub(super) fn held(&self) -> SmallVec<[(u64, u64); 4]> {
        let spans = self.spans.map_or(Spans::EMPTY, |(spans, ..)| spans);
        spans.iter().collect()
    }

    /// What of it changes when a packet of the stream comes.
    fn shown(&self) -> Shown {
        if self.needs.is_empty() {
            let marked: u64 = self
                .marks
                .unwrap_or_default()
                .iter()
                .map(|count| u64::from(*count))
                .sum();
            let beyond: u64 = self.held().iter().map(|(left, right)| right - left).sum();
            return Shown::Spans(beyond + marked);
        }
        let held = self.needs.iter().map(|block| {
            let (_, need, total) = block.get();
            u64::from(total - need)
        });
        Shown::Needs(held.sum())
    }

    pub(super) fn need(gnack: &Gnack<'a>) -> Self {
        Self {
            delay: delay(gnack.delay_us),
            rate: u64::from(gnack.rxrate) * 256,
            needs: gnack.blocks,
            answers_letter: false,
            ..Self::plain(gnack.control)
        }
    }
}

impl Transmitter {
    /// Takes a report that came from `src` under a T.
    pub(super) fn take_report(
        &mut self,
        src: SocketAddr,
        header: &Header,
        report: &StatusReport<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        let own = header.key.value();
        let control = report.control;
        let known = self.members.by_own(own);
        let Some(index) = known.or_else(|| self.take_confirmation(own, src, control.echo, env)) else {
            return;
        };
        let member = self.members.get_mut(index);
        if member.address != src || control.rseq > self.stream.nxt {
            return;
        }
        if serial_gt(header.sync, member.heard_sync) {
            member.heard_sync = header.sync;
        }
        match member.state {
            MemberState::Dropped(reason) => {
                let (code, value) = super::members::diagnosis(reason);
                let to = (member.address, member.local);
                return self
                    .replies
                    .push(UnicastReply::refusal(to, member.key, code, value));
            }
            MemberState::Done(_) => return self.replies.push(UnicastReply::End(own)),
            _ => {}
        }
        if !report.answers_letter && !self.line.has_left(control.echo) {
            return;
        }
        member.heard = env.now;
        member.misses = 0;
        member.doubt = None;
        self.take_needs(index, report);
        self.take_marks(index, report, env.now);
        self.take_echo(index, report, env.now);
        if self.members.advance(index, control.rseq, control.alloc) {
            self.members.get_mut(index).progressed = env.now;
            self.polls.progress();
        }
        if header.options.contains(Options::RCLOSE)
            && self.stream.is_sent()
            && control.rseq == self.stream.nxt
        {
            self.done(index, env);
        } else {
            self.place_laggard(index, env);
            if self.is_ending() {
                self.replies.push(UnicastReply::End(own));
            }
        }
        self.after_report(env);
    }

    /// The round trip, and what the controller learns.
    fn take_echo(&mut self, index: u32, report: &StatusReport<'_>, now: Time) {
        let measures = self.measures(self.members.get(index).told);
        let member = self.members.get_mut(index);
        let echo = report.control.echo;
        if report.answers_letter {
            if measures && member.sync == echo && member.round_trip.is_none() {
                member.round_trip = Some(now.since(member.told).max(Duration::from_nanos(1)));
            }
            return;
        }
        if !serial_gt(echo, member.echo) {
            return;
        }
        member.echo = echo;
        let before = member.note_rate(report.rate, now);
        let Some(sent) = self.line.log.get(echo) else {
            return;
        };
        let measures = self.judge.woke.is_none_or(|woke| sent.at >= woke);
        let sample = report.delay.filter(|_| measures).map(|delay| {
            now.since(sent.at)
                .saturating_sub(delay)
                .max(Duration::from_nanos(1))
        });
        if let Some(sample) = sample {
            member.note_round_trip(sample);
        }
        let shown = (report.control.rseq, report.shown());
        let packet = self.options.datagram as u64;
        member.hearing.note(shown, member.rate, sent, packet, now);
        self.rate.on_echo((index, member), (before, sent), sample, now);
    }

    /// Marks of congestion that came to it: those of the pacemaker count.
    fn take_marks(&mut self, index: u32, report: &StatusReport<'_>, now: Time) {
        let Some(marks) = report.marks else { return };
        let member = self.members.get_mut(index);
        member.marks = marks;
        let sent = self.line.log.get(report.control.echo);
        let marked = self
            .rate
            .on_marks(index, marks, sent.map_or(now, |sent| sent.at), now);
        self.line.stats.ce_reported += u64::from(marked);
    }

    /// What of it the group sends again.
    fn take_needs(&mut self, index: u32, report: &StatusReport<'_>) {
        if self.is_ending() || self.repairs_nothing() {
            return;
        }
        // Where all is acknowledged nobody is asked but by name: one that came later is helped by what it says itself.
        if self.is_anonymous() && self.stream.nxt > self.acknowledged {
            return self.note_losses(index, report.control, &report.held());
        }
        let member = self.members.get(index);
        let (live, echo) = (member.live, report.control.echo);
        let alloc = report.control.alloc.max(member.alloc);
        let symbol = self.symbol();
        let mut given = self.still_given(index);
        let before = given;
        for block in report.needs {
            let (block, need, total) = block.get();
            let start = self.stream.layout.map_or(0, |layout| layout.start(block));
            let (symbols, end) = self.stream.extent(block);
            let sound = self.stream.is_finished(block) && total == u16::from(symbols);
            // What it has no room for it would only ask for again.
            if !sound || start < live || end > alloc {
                continue;
            }
            let most = u16::try_from(given.div_ceil(symbol)).unwrap_or(u16::MAX);
            let rows = self.repair.need(block, need.min(most), echo);
            given = given.saturating_sub(u64::from(rows) * symbol);
            self.rate.note_need(index, block, need);
        }
        if let Some((spans, above, below)) = report.spans {
            // What was overtaken by two packets may still come, unless a question was answered after it.
            let judged = match report.delay {
                Some(_) => echo,
                None => echo.wrapping_sub(LATER),
            };
            let from = report
                .control
                .rseq
                .max(above)
                .max(self.stream.first_whole())
                .max(live);
            let upto = below.min(self.stream.nxt).min(alloc);
            let due = self.repair.missing(from, spans, upto, (judged, given));
            given -= due;
            self.rate.note_missing(index, due);
        }
        self.members.get_mut(index).asked += before - given;
    }

    /// A member has everything and says so. It is let go at once: whatever others still lack is no matter of its (§9.10).
    fn done(&mut self, index: u32, env: &mut PartyEnv<'_>) {
        let member = self.members.get(index);
        let (own, lagged) = (member.own, member.lagged);
        self.members.turn(index, MemberState::Done(lagged), env.now);
        env.tell(GroupEvent::Done(MemberId(index)));
        self.replies.push(UnicastReply::End(own));
        self.rate.members_changed(&self.members, env.now);
    }

    /// A receiver's user rejected what came, or it goes away.
    pub(super) fn take_diag(
        &mut self,
        src: SocketAddr,
        header: &Header,
        diag: &Diag<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        let own = header.key.value();
        let Some(index) = self.members.by_own(own) else {
            return;
        };
        let member = self.members.get_mut(index);
        if member.address != src || !member.is_open() {
            return;
        }
        let mut text = diag.text;
        while text.len() > MOST_TEXT {
            let end = (0..=MOST_TEXT).rev().find(|at| text.is_char_boundary(*at));
            text = &text[..end.unwrap_or(0)];
        }
        member.text = text.into();
        let going = DiagValue::HostGoingDown.to_wire();
        let reason = match DiagCode::try_from(diag.code) {
            Ok(DiagCode::ContextAbandoned) if diag.val == going => DropReason::Left,
            Ok(DiagCode::ContextAbandoned) => DropReason::Rejected,
            _ => DropReason::Unreachable,
        };
        self.drop_member(index, reason, env);
        self.after_report(env);
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
