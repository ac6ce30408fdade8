//! Who is silent, who is behind, who is out (§9.10).

use super::Transmitter;
use super::asleep::later;
use super::members::Member;
use super::poll::OutstandingPoll;
use super::reply::UnicastReply;
use crate::groups::PartyEnv;
use crate::{BlockLayout, DropReason, GroupEvent, MemberId, MemberState, Slow};
use core::net::SocketAddr;
use core::time::Duration;
use std::collections::BTreeMap;
use xtp_core::path::hint::{HintOutcome, Reports};
use xtp_core::time::Time;
use xtp_wire::{GroupPoint, serial_gt};

/// How often everybody is looked at.
const INTERVAL: Duration = Duration::from_millis(50);
/// Who was not heard for this share of the patience is asked by itself.
const MISSED_SHARE: u32 = 4;
/// Somebody silent or behind is told where it stands after this time, and then after the second (§9.10).
const FIRST_TOLD: Duration = Duration::from_millis(250);
pub(super) const TOLD: Duration = Duration::from_millis(500);
/// An anonymous one that is asked alone has so long to answer.
const ASKED_ALONE: Duration = Duration::from_secs(2);
/// Of many silent ones so many are asked at a time.
const PROBES: usize = 64;
/// Who is heard, but slow, is waited for so many octets a second longer.
const TRICKLE: u64 = 64 * 1_024;
/// Behind for four round trips, and at least so long: then a member holds the window no more.
const BEHIND: Duration = Duration::from_millis(100);
/// Asked for one in so many octets, and so many times what is usual: lossy.
const LOSSY_SHARE: u64 = 4;
const LOSSY_TIMES: u64 = 4;
/// Symbols that count at least, and those of a block without parity.
const LEAST_COVERED: u64 = 64;
const BLOCK: u64 = 64;

/// Below which position a holder is behind, and up to which it must have room: where others have it, and octets wait.
#[derive(Copy, Clone, Debug)]
pub(super) struct BehindLimits {
    least: u64,
    room: Option<u64>,
}

impl Member {
    /// Notes since when this holder keeps others waiting: because it is half a window below the quorum, or because it has no room and
    /// half of them have.
    pub(super) fn note_place(&mut self, marks: &BehindLimits, now: Time) {
        if self.is_holder() {
            let behind = self.rseq < marks.least || marks.room.is_some_and(|least| self.alloc < least);
            self.behind = if behind { self.behind.or(Some(now)) } else { None };
        }
    }
}

/// When everybody is looked at next.
#[derive(Debug, Default)]
pub(super) struct MemberJudge {
    pub(super) next: Option<Time>,
    /// Since when everything is sent and nobody holds the window any more.
    pub(super) rest_since: Option<Time>,
    /// What each of the slow ones lacked then, or when it came after that: so much time it is given, however near its end it has come.
    lacked: BTreeMap<u32, u64>,
    /// Since when everything has left.
    sent_since: Option<Time>,
    /// Since when only laggards are left although there is more to send.
    only_laggards_since: Option<Time>,
    /// What members usually asked for, when everybody was looked at last.
    usual: u64,
    /// Where the turn of probes goes on.
    turn: usize,
    /// When this transmitter ran again after it was stopped.
    pub(super) woke: Option<Time>,
}

impl MemberJudge {
    /// Somebody is there to be looked at.
    pub(super) fn begin(&mut self, now: Time) {
        self.next = self.next.or(Some(now + INTERVAL));
    }

    /// This transmitter was stopped for `span`, until `now`.
    pub(super) fn excuse(&mut self, span: Duration, now: Time) {
        self.woke = Some(now);
        let counts = [
            &mut self.rest_since,
            &mut self.sent_since,
            &mut self.only_laggards_since,
        ];
        for since in counts.into_iter().flatten() {
            *since = later(*since, span, now);
        }
    }
}

impl Transmitter {
    /// Looks at everybody.
    pub(super) fn judge(&mut self, env: &mut PartyEnv<'_>) {
        let now = env.now;
        self.judge.next = match self.members.alive() + self.joins.len() {
            0 => None,
            _ => Some(now + INTERVAL),
        };
        self.serve_claims(env);
        self.repeat_answers(env);
        if let Some(round_trip) = self.members.round_trip() {
            self.round_trip = round_trip.max(Duration::from_micros(500));
        }
        self.judge_doubts(env);
        self.note_rest(now);
        let lossy = self.usual_needs();
        self.judge.usual = lossy;
        self.rate.note_ceilings(&self.members, now);
        let mut verdicts = Vec::new();
        let mut tell = Vec::new();
        for (index, member) in self.members.iter() {
            if !member.is_open() {
                continue;
            }
            if self.is_reading(now) {
                continue;
            }
            let quiet = now.since(member.heard);
            let asked = now.since(member.missed);
            let silent = self.feedback().is_silent(member.misses, asked) || self.is_unheard(quiet);
            if let Some(verdict) = self.verdict(index, silent, lossy, now) {
                verdicts.push((index, verdict));
            } else if (silent
                || (member.is_laggard() && !member.fetches)
                || member.doubt.is_some()
                || member.asked_since().is_some()
                || self.is_missed(member.heard, now))
                && now.since(member.told) >= member.tell_after
            {
                tell.push(index);
            }
        }
        for (index, state) in verdicts {
            self.sentence(index, state, env);
        }
        self.tell_some(&tell);
        self.note_behind(now);
        self.after_report(env);
    }

    /// Whether an anonymous member, whom no poll asks by name, is silent: what was said to it alone for so long was not answered
    /// either (§9.17).
    fn is_unheard(&self, quiet: Duration) -> bool {
        let patience = self.options.patience;
        self.is_anonymous() && quiet >= (patience / MISSED_SHARE + ASKED_ALONE).min(patience)
    }

    /// For how long a member that was heard last at `heard` was asked nothing by name: in buckets until polls ask all, when everything
    /// has left, or until its silence is noticed (§9.17). That is no silence of it, also when it ends.
    fn unasked(&self, heard: Time) -> Duration {
        if self.buckets.is_none() {
            return Duration::ZERO;
        }
        let polled = self
            .judge
            .sent_since
            .map_or(Duration::MAX, |since| since.since(heard));
        polled.min(self.options.patience / MISSED_SHARE)
    }

    /// Whether somebody was not heard for so long that it is to be asked by itself: of a short patience few polls fit, and losing
    /// two of them makes nobody a dead one.
    fn is_missed(&self, heard: Time, now: Time) -> bool {
        now.since(heard) >= self.options.patience / MISSED_SHARE
    }

    fn repeat_answers(&mut self, env: &mut PartyEnv<'_>) {
        let (mut again, mut given_up) = (Vec::new(), Vec::new());
        self.joins.due(env.now, &mut again, &mut given_up);
        again
            .into_iter()
            .for_each(|own| self.replies.push(UnicastReply::Standing(own)));
        given_up.into_iter().for_each(|own| self.give_up(own, env));
    }

    /// When all that was left to do became waiting for the slow ones.
    fn note_rest(&mut self, now: Time) {
        let sent = self.stream.is_sent();
        self.judge.sent_since = self.judge.sent_since.or(sent.then_some(now));
        let rest = self.is_ending() || (self.stream.is_sent() && self.members.nobody_to_wait_for());
        if self.judge.rest_since.is_none() {
            self.judge.lacked.clear();
        }
        for (index, member) in self.members.iter().filter(|(_, member)| rest && member.is_open()) {
            let missing = self.stream.nxt.saturating_sub(member.rseq);
            self.judge.lacked.entry(index).or_insert(missing);
        }
        self.judge.rest_since = match rest {
            true => self.judge.rest_since.or(Some(now)),
            false => None,
        };
        let only = self.members.only_laggards() && !rest;
        self.judge.only_laggards_since = match only {
            true => self.judge.only_laggards_since.or(Some(now)),
            false => None,
        };
    }

    /// What becomes of an open member, if something does.
    fn verdict(&self, index: u32, silent: bool, usual: u64, now: Time) -> Option<MemberState> {
        let member = self.members.get(index);
        let (slow, patience) = (self.options.slow, self.options.patience);
        let quiet = now.since(member.heard);
        // The patience with a member that came later begins when it came, but none holds up the end by coming again and again.
        let begun = |since: Time| member.joined.max(since).min(since + patience);
        let rest = self.judge.rest_since.map(begun);
        let waited = match (slow, rest, self.judge.only_laggards_since) {
            (Slow::Wait, ..) => quiet.saturating_sub(self.unasked(member.heard)),
            (_, Some(since), _) => now.since(since).min(quiet),
            (_, None, Some(since)) => now.since(begun(since)).min(quiet),
            _ => Duration::ZERO,
        };
        if waited > patience {
            return Some(MemberState::Dropped(DropReason::Silent));
        }
        let now_missing = self.stream.nxt.saturating_sub(member.rseq);
        let missing = self.judge.lacked.get(&index).copied().unwrap_or(now_missing);
        let trickle = patience.saturating_add(Duration::from_millis(missing * 1_000 / TRICKLE));
        // One that holds the window to the end and does not come nearer to it, however often it is heard, is no other case.
        let waits = slow != Slow::Wait && member.is_holder() && now_missing > 0;
        let stands = self.judge.sent_since.filter(|_| waits);
        let stands = stands.map(|since| since.max(member.progressed));
        if [rest, stands]
            .into_iter()
            .flatten()
            .any(|since| now.since(since) > trickle)
        {
            return Some(MemberState::Dropped(DropReason::TooSlow));
        }
        if member.rseq < self.stream.lowest() && self.is_known(member.heard) {
            return self.verdict_below_store(index);
        }
        if slow == Slow::Wait || !member.is_holder() {
            return None;
        }
        // Of one that owes no answer only what it said itself counts: it may be better off by now (§9.10), and so of an anonymous one (§9.17).
        let until = match self.is_anonymous() || member.misses == 0 {
            true => member.heard,
            false => now,
        };
        let behind = member
            .behind
            .is_some_and(|since| until.since(since) >= BEHIND.max(4 * self.round_trip));
        let falls = silent || behind || self.is_lossy(index, usual);
        match (falls, slow, silent) {
            (false, ..) => None,
            (true, Slow::Drop, true) => Some(MemberState::Dropped(DropReason::Silent)),
            (true, Slow::Drop, false) => Some(MemberState::Dropped(DropReason::Slow)),
            _ => Some(MemberState::Laggard),
        }
    }

    /// What becomes of an open member that lacks what is no longer kept, if something does.
    pub(super) fn verdict_below_store(&self, index: u32) -> Option<MemberState> {
        let member = self.members.get(index);
        if member.rseq < self.lowest_supplied() {
            return Some(MemberState::Dropped(DropReason::Behind));
        }
        member.is_holder().then_some(MemberState::Laggard)
    }

    /// A verdict is carried out.
    pub(super) fn sentence(&mut self, index: u32, state: MemberState, env: &mut PartyEnv<'_>) {
        match state {
            MemberState::Dropped(reason) => self.drop_member(index, reason, env),
            _ => self.leave_behind(index, env),
        }
    }

    /// The median of what members asked for.
    fn usual_needs(&self) -> u64 {
        let all = self.members.iter().map(|(_, member)| member);
        let mut asked: Vec<u64> = all
            .filter(|member| member.is_open() || member.is_done())
            .map(|member| member.asked)
            .collect();
        asked.sort_unstable();
        asked.get(asked.len().saturating_sub(1) / 2).copied().unwrap_or(0)
    }

    /// Octets of a symbol; without parity of a full packet.
    pub(super) fn symbol(&self) -> u64 {
        let of_symbol = |layout: &BlockLayout| layout.symbol_len().into();
        self.stream
            .layout
            .as_ref()
            .map_or(self.terms.maxdata.into(), of_symbol)
    }

    /// How many octets a member may ask for: a quarter of what was sent, and a block, or far more than is usual. One that is alone
    /// is as usual as can be.
    fn most_asked(&self, index: u32, usual: u64) -> u64 {
        if self.members.present() <= 1 {
            return u64::MAX;
        }
        let member = self.members.get(index);
        let symbol = self.symbol();
        let block = self
            .stream
            .layout
            .as_ref()
            .map_or(BLOCK * symbol, BlockLayout::block_len);
        let covered = self
            .stream
            .nxt
            .saturating_sub(member.since)
            .max(LEAST_COVERED * symbol);
        (covered / LOSSY_SHARE + block).max(LOSSY_TIMES * usual)
    }

    /// Whether it asked for more. The answers of a lone holder are all that moves an anonymous group: it is back whatever it asked for, and
    /// stays as long.
    fn is_lossy(&self, index: u32, usual: u64) -> bool {
        let member = self.members.get(index);
        let is_lone = member.is_holder() && self.members.nobody_holds_but(member);
        !(is_lone && self.is_anonymous()) && member.asked > self.most_asked(index, usual)
    }

    /// Whether a member that holds the window asked for more than it may, by what was usual at the last look at everybody.
    pub(super) fn asks_too_much(&self, index: u32) -> bool {
        let waits = self.options.slow == Slow::Wait;
        !waits && self.members.get(index).is_holder() && self.is_lossy(index, self.judge.usual)
    }

    /// How many octets are sent again for a member before everybody is looked at again: one that asks for everything at once is not
    /// given it in the meantime.
    pub(super) fn still_given(&self, index: u32) -> u64 {
        if self.options.slow == Slow::Wait {
            return u64::MAX;
        }
        let most = self
            .most_asked(index, self.judge.usual)
            .saturating_add(self.symbol());
        most.saturating_sub(self.members.get(index).asked)
    }

    /// Since when each holder keeps the others waiting.
    fn note_behind(&mut self, now: Time) {
        if self.is_anonymous() {
            return;
        }
        let marks = self.marks();
        for (_, member) in self.members.iter_mut() {
            member.note_place(&marks, now);
        }
    }

    /// What a holder must have, and have room for, so as not to keep the others waiting.
    pub(super) fn marks(&self) -> BehindLimits {
        let half = self.window() / 2;
        let others = self.members.credit_quorum();
        let waits = self.stream.least_limit();
        BehindLimits {
            least: self
                .members
                .quorum()
                .map_or(0, |quorum| quorum.saturating_sub(half)),
            room: waits.filter(|least| others.is_some_and(|room| room >= *least)),
        }
    }

    /// A holder becomes a laggard, and is told so.
    fn leave_behind(&mut self, index: u32, env: &mut PartyEnv<'_>) {
        self.set_live(index);
        let member = self.members.get_mut(index);
        (member.lagged, member.behind) = (true, None);
        member.tell_after = FIRST_TOLD;
        let own = member.own;
        self.members.turn(index, MemberState::Laggard, env.now);
        self.replies.push(UnicastReply::Standing(own));
        env.tell(GroupEvent::Laggard(MemberId(index)));
        self.rate.members_changed(&self.members, env.now);
    }

    /// Asks silent members and tells laggards where they stand: with many of them some at a time, in turn.
    fn tell_some(&mut self, tell: &[u32]) {
        let start = self.judge.turn.min(tell.len());
        let turn = tell[start..].iter().chain(&tell[..start]);
        for index in turn.take(PROBES) {
            let member = self.members.get_mut(*index);
            member.tell_after = (2 * member.tell_after).clamp(FIRST_TOLD, TOLD);
            self.replies.push(UnicastReply::Standing(member.own));
        }
        self.judge.turn = if tell.len() > PROBES {
            (start + PROBES) % tell.len()
        } else {
            0
        };
    }

    /// Those who were asked and have not answered.
    pub(super) fn note_misses(&mut self, asked: OutstandingPoll) {
        for (_, member) in self.members.iter_mut() {
            if member.is_open() && asked.concerns(member.key) && serial_gt(asked.sync, member.echo) {
                if member.misses == 0 {
                    member.missed = asked.asked.max(member.heard);
                }
                member.misses += 1;
            }
        }
    }

    /// A laggard that reports may hold the window again: near enough to the quorum, with nothing missing that the group does not
    /// repair, and, if it asked for too much, with half of its account left; or because nobody else does.
    pub(super) fn place_laggard(&mut self, index: u32, env: &mut PartyEnv<'_>) {
        let member = self.members.get(index);
        if !member.is_laggard() || member.fetches || self.is_ending() {
            return;
        }
        let (rseq, live, back_at, own) = (member.rseq, member.live, member.back_at, member.own);
        let alone = self.members.nobody_holds_but(member) && rseq >= self.acknowledged;
        let quorum = self.members.quorum().unwrap_or(self.acknowledged);
        // However short the stream is: who has nothing is not near.
        let near = rseq >= quorum.saturating_sub(self.window().min(quorum) / 4);
        let whole = rseq >= back_at;
        let least_left = if live == GroupPoint::NEVER { 2 } else { 1 };
        let lossy = member.asked > self.most_asked(index, self.judge.usual) / least_left;
        let nxt = self.stream.nxt;
        let has_room = self.stream.is_sent() || member.alloc >= nxt.saturating_add(self.block_len());
        let kept = rseq >= self.stream.lowest();
        if !kept || !(alone || (whole && near && has_room && !lossy)) {
            // Nor does the group repair what it does not keep, what questions to all would bring to light, or more than a member may ask
            // for: that is fetched, too.
            let fetches_more = rseq >= back_at && (!kept || self.is_past_questions(member));
            let has_asked_for_all = live != GroupPoint::NEVER && self.still_given(index) == 0;
            if fetches_more || has_asked_for_all {
                self.set_live(index);
                self.replies.push(UnicastReply::Standing(own));
            }
            return;
        }
        // Rows are of whole blocks: of the one it is in it asks for as many as it lacks.
        let block = self.stream.layout.as_ref().and_then(|layout| {
            let place = layout.place(rseq)?;
            Some(layout.start(place.block))
        });
        let member = self.members.get_mut(index);
        member.behind = None;
        if rseq < live {
            // What it lacks between the two nobody else would ever repair.
            member.live = block.unwrap_or(rseq);
            self.replies.push(UnicastReply::Standing(own));
        }
        self.members.turn(index, MemberState::Holder, env.now);
        env.tell(GroupEvent::Returned(MemberId(index)));
        self.rate.members_changed(&self.members, env.now);
    }

    /// From now on the group repairs the next block and what follows for this member, which has to fetch the rest by itself; for a
    /// lossy one nothing.
    fn set_live(&mut self, index: u32) {
        let next = self.live_from_now();
        let lossy = self.is_lossy(index, self.judge.usual);
        let member = self.members.get_mut(index);
        member.live = if lossy { GroupPoint::NEVER } else { next };
        member.back_at = next;
    }

    /// Whether nobody asks any more for what this member lacks of what was acknowledged: questions are for those who hold the window,
    /// and there are none (§9.17).
    fn is_past_questions(&self, member: &Member) -> bool {
        self.is_anonymous() && self.members.nobody_holds_but(member) && member.rseq < self.acknowledged
    }

    /// From where on the group repairs for somebody who begins to fetch the rest by itself: the next block.
    pub(super) fn live_from_now(&self) -> u64 {
        let nxt = self.stream.nxt;
        let Some(layout) = &self.stream.layout else {
            return nxt;
        };
        layout
            .place(nxt)
            .map_or(nxt, |place| match place.symbol == 0 && place.offset == 0 {
                true => nxt,
                false => layout.start(place.block.saturating_add(1)),
            })
    }

    /// A member is out; it hears why.
    pub(super) fn drop_member(&mut self, index: u32, reason: DropReason, env: &mut PartyEnv<'_>) {
        let member = self.members.get(index);
        // After the end no member is out any more: an association that fetches, and the user's past, may be gone later than the group.
        if self.is_over() || !member.is_open() {
            return;
        }
        if !matches!(
            reason,
            DropReason::Unreachable | DropReason::Rejected | DropReason::Left
        ) {
            let (code, value) = super::members::diagnosis(reason);
            let to = (member.address, member.local);
            self.replies
                .push(UnicastReply::refusal(to, member.key, code, value));
        }
        self.members.turn(index, MemberState::Dropped(reason), env.now);
        env.tell(GroupEvent::Dropped(MemberId(index), reason));
        self.rate.members_changed(&self.members, env.now);
    }

    /// The carrier says that nobody listens on that port, which a firewall on the way may say as well (§3.7.2): those there are
    /// asked at once, and are gone if it goes on.
    pub(super) fn doubt_address(&mut self, peer: SocketAddr, now: Time) {
        let wait = 2 * self.round_trip;
        self.joins.doubt(peer, wait, now);
        let all = self.members.iter_mut().map(|(_, member)| member);
        for member in all.filter(|member| member.address == peer && member.is_open()) {
            if member.doubt.is_none() {
                member.tell_after = FIRST_TOLD;
                self.replies.push(UnicastReply::Standing(member.own));
            }
            member.doubt = Some(Reports::and(member.doubt, wait, now));
        }
    }

    /// Members whose carrier has said for long enough that nobody is there are out.
    fn judge_doubts(&mut self, env: &mut PartyEnv<'_>) {
        let mut gone = Vec::new();
        for (index, member) in self.members.iter_mut().filter(|(_, member)| member.is_open()) {
            match member
                .doubt
                .map_or(HintOutcome::Open, |doubt| doubt.outcome(env.now))
            {
                HintOutcome::Open => {}
                HintOutcome::Void => member.doubt = None,
                HintOutcome::Gone => gone.push(index),
            }
        }
        for index in gone {
            self.drop_member(index, DropReason::Unreachable, env);
        }
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
