//! Joins: the four steps, and who is on the way (§9.10).

use super::Transmitter;
use super::asleep::later;
use super::claim::MemberClaim;
use super::members::Member;
use super::reply::UnicastReply;
use crate::groups::PartyEnv;
use crate::{DropReason, GroupEvent, MOST_MEMBERS, MemberId, MemberState, Mode, Require, Slow};
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::BTreeMap;
use xtp_core::path::hint::{HintOutcome, Reports};
use xtp_core::time::Time;
use xtp_core::time::sleep::READING;
use xtp_core::transmit::Datagram;
use xtp_wire::{Caps, Control, DiagCode, DiagValue, GroupTerms, Header, Traffic};

/// Step 3 is repeated after this time at most, twice as long each time up to the second, and for the third in all.
const FIRST_REPEAT: Duration = Duration::from_millis(100);
const LONGEST_REPEAT: Duration = Duration::from_secs(2);
const GIVEN_UP: Duration = Duration::from_secs(6);
/// Who was answered and has said nothing for so long gives its place to another one, if all are taken: so those who ask from
/// addresses at which they do not listen keep nobody out for long.
const GIVES_WAY: Duration = Duration::from_millis(500);
/// So many times what came from an address that has shown nothing is sent there (§7.8).
const BUDGET: u64 = 3;
const MOST_BUDGET: u64 = 1 << 12;
/// A late one that lacks no more than leaves in so long is repaired by the group, where it could fetch that by itself.
const LITTLE: Duration = Duration::from_millis(100);
/// Or no more than so many blocks.
const FEW_BLOCKS: u64 = 2;

/// Somebody who asked to join and has not said that it heard the answer.
#[derive(Debug)]
pub(super) struct PendingJoin {
    pub(super) address: SocketAddr,
    pub(super) local: Option<IpAddr>,
    pub(super) name: Box<str>,
    pub(super) key: u64,
    pub(super) rseq: u64,
    pub(super) alloc: u64,
    /// The member of its name is asked first: nothing was sent to it yet.
    waits: bool,
    /// There was a member whose place it would take: it needs none of its own.
    replaces: bool,
    /// It begins to hold nothing.
    pub(super) late: bool,
    pub(super) live: u64,
    pub(super) socket_buffer: u32,
    pub(super) in_rate: u64,
    /// Number of its join; of the newest answer.
    pub(super) heard_sync: u32,
    pub(super) sync: u32,
    asked: Time,
    pub(super) told: Time,
    repeat: Duration,
    /// What the carrier says about its port.
    doubt: Option<Reports>,
    /// Octets that may still be sent to an address that has shown nothing (§7.8).
    budget: u64,
}

/// All who are on the way, by T.
#[derive(Debug, Default)]
pub(super) struct Joins {
    pending: BTreeMap<u64, PendingJoin>,
    by_peer: BTreeMap<(SocketAddr, u64), u64>,
    /// Answers that left in the second that began then.
    second: Time,
    answered: u32,
}

impl Joins {
    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn has(&self, own: u64) -> bool {
        self.pending.contains_key(&own)
    }

    pub(super) fn get_mut(&mut self, own: u64) -> Option<&mut PendingJoin> {
        self.pending.get_mut(&own)
    }

    fn by_peer(&self, address: SocketAddr, key: u64) -> Option<u64> {
        self.by_peer.get(&(address, key)).copied()
    }

    fn insert(&mut self, own: u64, pending: PendingJoin) {
        self.by_peer.insert((pending.address, pending.key), own);
        self.pending.insert(own, pending);
    }

    fn remove(&mut self, own: u64) -> Option<PendingJoin> {
        let pending = self.pending.remove(&own)?;
        self.by_peer.remove(&(pending.address, pending.key));
        Some(pending)
    }

    /// Those that wait for the member of their name.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (u64, &PendingJoin)> {
        let all = self.pending.iter().map(|(own, pending)| (*own, pending));
        all.filter(|(_, pending)| pending.waits)
    }

    /// One of these waits no more: it is answered now.
    pub(super) fn stop_waiting(&mut self, own: u64, now: Time) {
        if let Some(pending) = self.pending.get_mut(&own) {
            (pending.waits, pending.told) = (false, now);
        }
    }

    /// Those that need places of their own.
    fn newcomers(&self) -> impl Iterator<Item = (&u64, &PendingJoin)> {
        self.pending.iter().filter(|(_, pending)| !pending.replaces)
    }

    /// The join that was answered first, if that was long enough ago for it to have been confirmed.
    fn longest_unheard<'a>(
        among: impl Iterator<Item = (&'a u64, &'a PendingJoin)>,
        now: Time,
    ) -> Option<u64> {
        let (own, first) = among.min_by_key(|(_, pending)| pending.asked)?;
        (now.since(first.asked) >= GIVES_WAY).then_some(*own)
    }

    /// Whether a packet of so many octets may be sent to whom this T was given: as often as it likes, unless it is on the way.
    pub(super) fn may_send(&mut self, own: u64, octets: u64) -> bool {
        let Some(pending) = self.pending.get_mut(&own) else {
            return true;
        };
        let left = pending.budget.checked_sub(octets);
        pending.budget = left.unwrap_or(pending.budget);
        left.is_some()
    }

    /// Whether another join may be answered in this second.
    fn may_answer(&mut self, rate: u32, now: Time) -> bool {
        if now.since(self.second) >= Duration::from_secs(1) || self.answered == 0 {
            (self.second, self.answered) = (now, 0);
        }
        let may = self.answered < rate;
        self.answered += u32::from(may);
        may
    }

    /// Whose answer is to be repeated; those who never confirmed are given up.
    pub(super) fn due(&mut self, now: Time, again: &mut Vec<u64>, given_up: &mut Vec<u64>) {
        for (own, pending) in &mut self.pending {
            let gone = |doubt: Reports| doubt.outcome(now) == HintOutcome::Gone;
            if now.since(pending.asked) >= GIVEN_UP || pending.doubt.is_some_and(gone) {
                given_up.push(*own);
            } else if !pending.waits && now.since(pending.told) >= pending.repeat {
                pending.told = now;
                pending.repeat = (2 * pending.repeat).min(LONGEST_REPEAT);
                again.push(*own);
            }
        }
    }

    /// This transmitter was stopped for `span`, until `now`.
    pub(super) fn excuse(&mut self, span: Duration, now: Time) {
        for pending in self.pending.values_mut() {
            pending.asked = later(pending.asked, span, now).max(now + READING - GIVEN_UP);
            pending.doubt = None;
        }
    }

    /// The keys by which they are found.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.pending.keys().copied()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The carrier says that nobody listens at this address.
    pub(super) fn doubt(&mut self, address: SocketAddr, wait: Duration, now: Time) {
        for pending in self.pending.values_mut() {
            if pending.address == address {
                pending.doubt = Some(Reports::and(pending.doubt, wait, now));
            }
        }
    }
}

/// What a join says of its sender.
struct Asker<'a> {
    /// Octets of the datagram.
    octets: u64,
    address: SocketAddr,
    local: Option<IpAddr>,
    key: u64,
    sync: u32,
    control: Control,
    name: &'a str,
    socket_buffer: u32,
    maxdata: u32,
    in_rate: u64,
    service: Option<u16>,
    /// It answers to the whole group where that is asked for.
    answers_all: bool,
    /// It knows parity.
    decodes: bool,
}

impl Transmitter {
    /// Step 2: a join, the question whether this transmitter lives, or the confirmation of a datagram.
    pub(super) fn take_join(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        (control, key, port): (Control, u64, Option<u16>),
        traffic: &Traffic<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        let Traffic::Extended(specifier) = traffic else {
            return;
        };
        let Ok(terms) = GroupTerms::read(specifier.tlvs) else {
            return;
        };
        let asker = Asker {
            octets: datagram.data.len() as u64,
            address: datagram.src,
            local: datagram.dst,
            key,
            sync: header.sync,
            control,
            name: terms.name.unwrap_or_default(),
            socket_buffer: terms.socket_buffer.unwrap_or(0),
            maxdata: specifier.maxdata,
            in_rate: specifier.inrate,
            service: port,
            answers_all: specifier.caps.contains(Caps::MB),
            decodes: specifier.caps.contains(Caps::FEC),
        };
        if self.is_datagram() {
            return self.take_datagram_join(datagram, header, key, &terms, env);
        }
        let known = self.members.by_peer(asker.address, key);
        // Who lost its place to another one of its name comes again as one that is new.
        let is_replaced =
            |index: &u32| self.members.get(*index).state == MemberState::Dropped(DropReason::Replaced);
        if let Some(index) = known.filter(|index| !is_replaced(index)) {
            return self.repeat_to(index, header.sync);
        }
        if let Some(own) = self.joins.by_peer(asker.address, key) {
            return self.hear_again(own, header.sync, asker.octets, env.now);
        }
        if !self.joins.may_answer(self.options.feedback_rate, env.now) {
            return;
        }
        match self.admission(&asker, env) {
            Ok(()) => self.admit(&asker, env),
            Err(None) => {}
            Err(Some(value)) => self.replies.push(UnicastReply::refusal(
                (asker.address, asker.local),
                asker.key,
                DiagCode::JoinRefused,
                value,
            )),
        }
    }

    /// A join came again: the answer to it is on its way, or was lost.
    fn hear_again(&mut self, own: u64, sync: u32, octets: u64, now: Time) {
        if let Some(pending) = self.joins.get_mut(own) {
            pending.heard_sync = sync;
            pending.budget = (pending.budget + BUDGET * octets).min(MOST_BUDGET);
            if !pending.waits && now.since(pending.told) >= FIRST_REPEAT {
                self.replies.push(UnicastReply::Standing(own));
            }
        }
    }

    /// A member says again that it wants to join: it has not heard the answer, or asks whether we live.
    fn repeat_to(&mut self, index: u32, sync: u32) {
        let member = self.members.get_mut(index);
        member.heard_sync = sync;
        match member.state {
            MemberState::Dropped(reason) => {
                let (code, value) = super::members::diagnosis(reason);
                let to = (member.address, member.local);
                self.replies
                    .push(UnicastReply::refusal(to, member.key, code, value));
            }
            _ => self.replies.push(UnicastReply::Standing(member.own)),
        }
    }

    /// Whether somebody may join; if not why, if that is worth an answer.
    fn admission(&self, asker: &Asker<'_>, env: &PartyEnv<'_>) -> Result<(), Option<DiagValue>> {
        if asker.service != Some(self.options.service_number) || self.options.require == Require::Nobody {
            return Err(Some(DiagValue::NoListener));
        }
        let most = self.most_members();
        let is_full = self.members.alive() >= most && !self.replaces(asker);
        if is_full || self.members.len() >= most.saturating_mul(4) {
            return Err(Some(DiagValue::NoResource));
        }
        self.gives_way(asker, env)?;
        let room = asker.control.alloc.saturating_sub(asker.control.rseq);
        let silent = self.buckets.is_some() && !asker.answers_all;
        let lacks = self.terms.fec.is_some() && !asker.decodes;
        if silent || lacks || asker.maxdata < self.terms.maxdata || room < 2 * self.block_len() {
            return Err(Some(DiagValue::TrafficRefused));
        }
        if self.is_ending() || (self.options.slow == Slow::Drop && self.is_late(asker.control.rseq)) {
            return Err(Some(DiagValue::JoinDenied));
        }
        match self.claim(asker.name, asker.address, env.now) {
            // The member of a receiver that was started again is soon heard no more, and that receiver asks again.
            MemberClaim::Held => Err(None),
            MemberClaim::Free | MemberClaim::Asked => Ok(()),
        }
    }

    fn most_members(&self) -> usize {
        match self.options.mode {
            Mode::Unicast => self.options.max_members,
            Mode::Bucket(_) => self.options.max_members.min(MOST_MEMBERS as usize),
        }
    }

    /// A member would lose its place to this join.
    fn replaces(&self, asker: &Asker<'_>) -> bool {
        self.members
            .predecessors(asker.name, asker.address)
            .next()
            .is_some()
    }

    /// The join on the way that gives its place to this one, if places are short. Joins that were never confirmed refuse
    /// nothing: as long as none of them has had its time, this one is not answered, and comes again.
    fn gives_way(&self, asker: &Asker<'_>, env: &PartyEnv<'_>) -> Result<Option<u64>, Option<DiagValue>> {
        let joins = &self.joins;
        let short = self.members.alive() + joins.len() >= self.most_members()
            && !self.replaces(asker)
            && self.members.alive() + joins.newcomers().count() >= self.most_members();
        let first = match short {
            true => Joins::longest_unheard(joins.newcomers(), env.now),
            false if joins.len() < env.host.max_half_open => return Ok(None),
            false => Joins::longest_unheard(joins.pending.iter(), env.now),
        };
        first.map(Some).ok_or(None)
    }

    /// Whether who has so much can not hold the window at once. Where it can fetch what it lacks by itself, that is so soon: what the
    /// group repeats for one that comes late all others wait for (§9.10).
    fn is_late(&self, rseq: u64) -> bool {
        let begins = self.join_point(rseq);
        if begins < self.stream.lowest() {
            // The group does not repair what it does not keep.
            return true;
        }
        let lacks = self.stream.nxt.saturating_sub(begins);
        let most = match self.options.slow {
            Slow::CatchUp => self.little().min(self.window() / 2),
            Slow::Wait | Slow::Drop => self.window() / 2,
        };
        lacks > most
    }

    /// What the others hardly notice if the group repeats it.
    fn little(&self) -> u64 {
        let rate = u128::from(self.rate.octets_per_second());
        let leaves = u64::try_from(rate * LITTLE.as_nanos() / 1_000_000_000).unwrap_or(u64::MAX);
        leaves.max(FEW_BLOCKS * self.block_len())
    }

    /// Octets of a block, or of a packet where nothing is coded.
    pub(super) fn block_len(&self) -> u64 {
        self.stream
            .layout
            .map_or(u64::from(self.terms.maxdata), |layout| layout.block_len())
    }

    /// Where a receiver that has the octets below `rseq` begins.
    fn join_point(&self, rseq: u64) -> u64 {
        match self.options.from_start {
            true => rseq.clamp(self.lowest_begin(), self.stream.nxt.max(self.lowest_begin())),
            false => self.stream.nxt,
        }
    }

    fn admit(&mut self, asker: &Asker<'_>, env: &mut PartyEnv<'_>) {
        if let Ok(Some(unheard)) = self.gives_way(asker, env) {
            self.give_up(unheard, env);
        }
        let waits = self.claim(asker.name, asker.address, env.now) == MemberClaim::Asked;
        let late = self.options.slow == Slow::CatchUp && self.is_late(asker.control.rseq);
        let own = env.fresh_key();
        let pending = PendingJoin {
            address: asker.address,
            local: asker.local,
            name: asker.name.into(),
            key: asker.key,
            rseq: self.join_point(asker.control.rseq),
            alloc: asker.control.alloc,
            late,
            live: if late { self.live_from_now() } else { 0 },
            socket_buffer: asker.socket_buffer,
            in_rate: asker.in_rate,
            heard_sync: asker.sync,
            sync: env.random() as u32,
            asked: env.now,
            told: env.now,
            repeat: self.feedback().first_repeat(FIRST_REPEAT),
            doubt: None,
            budget: BUDGET * asker.octets,
            waits,
            replaces: self.replaces(asker),
        };
        self.joins.insert(own, pending);
        match waits {
            true => self.ask_holder(asker.name, asker.address, env.now),
            false => self.replies.push(UnicastReply::Standing(own)),
        }
        self.judge.begin(env.now);
    }

    /// Step 4: the answer was heard.
    pub(super) fn take_confirmation(
        &mut self,
        own: u64,
        src: SocketAddr,
        echo: u32,
        env: &mut PartyEnv<'_>,
    ) -> Option<u32> {
        let pending = self.joins.get_mut(own).filter(|pending| pending.address == src)?;
        let told = pending.told;
        let measures = pending.sync == echo && self.measures(told);
        let answered = measures.then(|| env.now.since(told));
        let pending = self.joins.remove(own)?;
        // The member whose place it was to take has gone, and another one has the place.
        let is_full = || {
            let mut before = self.members.predecessors(&pending.name, pending.address);
            before.next().is_none() && self.members.alive() >= self.most_members()
        };
        let refused = match self.is_taken(&pending.name, pending.address) {
            // It joins again, as one that lost its place.
            true => Some(super::members::diagnosis(DropReason::Replaced)),
            false => is_full().then_some((DiagCode::JoinRefused, DiagValue::NoResource)),
        };
        if let Some((code, value)) = refused {
            let to = (pending.address, pending.local);
            self.replies
                .push(UnicastReply::refusal(to, pending.key, code, value));
            env.forget_key(own);
            return None;
        }
        self.replace(&pending, env);
        let required = self.members.is_required(&pending.name, pending.address);
        let state = match pending.late {
            true => MemberState::Laggard,
            false => MemberState::Holder,
        };
        let index = self.members.add(Member {
            address: pending.address,
            local: pending.local,
            name: pending.name,
            key: pending.key,
            state,
            required,
            rseq: pending.rseq,
            alloc: pending.alloc,
            // It may report what it saw before it heard the answer.
            echo: self.line.sync.wrapping_sub(1 << 20),
            live: pending.live,
            back_at: pending.live,
            lagged: pending.late,
            since: self.stream.nxt,
            counted: self.line.sync,
            sync: pending.sync,
            heard_sync: pending.heard_sync,
            socket_buffer: pending.socket_buffer,
            in_rate: pending.in_rate,
            ..Member::new(own, env.now, answered)
        });
        env.tell(GroupEvent::Joined(MemberId(index)));
        if let Some(known) = answered.filter(|_| index == 0) {
            self.round_trip = known;
        }
        self.gather(env);
        self.rate.members_changed(&self.members, env.now);
        Some(index)
    }

    /// Those under whose name a new one joined are out.
    fn replace(&mut self, pending: &PendingJoin, env: &mut PartyEnv<'_>) {
        let before = self.members.predecessors(&pending.name, pending.address);
        let out: Vec<u32> = before.map(|(index, _)| index).collect();
        for index in out {
            self.drop_member(index, DropReason::Replaced, env);
        }
    }

    /// Nobody will hear the answer to this join.
    pub(super) fn give_up(&mut self, own: u64, env: &mut PartyEnv<'_>) {
        if self.joins.remove(own).is_some() {
            env.forget_key(own);
        }
    }
}

#[cfg(test)]
#[path = "admit_tests.rs"]
mod tests;
