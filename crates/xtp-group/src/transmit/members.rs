//! Who joined, where each stands, and what all who hold the window have (§9.10).

use super::asleep::later;
use super::hearing::Hearing;
use crate::{DropReason, MemberId, MemberIndex, MemberReport, MemberState, Require};
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::BTreeMap;
use xtp_core::path::hint::Reports;
use xtp_core::time::Time;

/// What is known of one member.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) address: SocketAddr,
    /// Where it was when it was counted, once another program speaks for it: nothing proves the address of that one.
    pub(super) counted_at: Option<SocketAddr>,
    /// Our own address, as the member's packets name it.
    pub(super) local: Option<IpAddr>,
    pub(super) name: Box<str>,
    /// R, which the member chose.
    pub(super) key: u64,
    /// T, which this end chose for it.
    pub(super) own: u64,
    pub(super) state: MemberState,
    /// Without it the transmitter is not done (§9.10).
    pub(super) required: bool,
    /// One past what it has without a gap.
    pub(super) rseq: u64,
    /// One past what it has room for.
    pub(super) alloc: u64,
    /// The newest packet of the group it has seen.
    pub(super) echo: u32,
    /// Smoothed.
    pub(super) round_trip: Option<Duration>,
    /// It is that of one step of joining alone, in which the member's host may have slept.
    pub(super) is_rough: bool,
    /// The least one.
    pub(super) least_round_trip: Duration,
    /// What it says it receives, octets a second; 0 unknown.
    pub(super) rate: u64,
    /// When it said that last, or joined: it is measured since then.
    pub(super) rated: Time,
    /// Which packets of the stream came to it.
    pub(super) hearing: Hearing,
    /// Packets that came to it as ECT(0), ECT(1) and CE, by what it said last.
    pub(super) marks: [u32; 3],
    /// Polls in a row that it did not answer.
    pub(super) misses: u32,
    /// When the first of these left: time in which it was asked nothing is no silence.
    pub(super) missed: Time,
    pub(super) heard: Time,
    /// What the carrier says about its port since then.
    pub(super) doubt: Option<Reports>,
    /// When it was asked first because another one wants to join by its name; void when it is heard.
    pub(super) claimed: Option<Time>,
    pub(super) joined: Time,
    /// When it was done or dropped.
    pub(super) ended: Option<Time>,
    /// From here on the group repairs what it lacks.
    pub(super) live: u64,
    /// What a laggard must have to hold the window again: `live`, or for one that is repaired nothing where that would have been.
    pub(super) back_at: u64,
    /// Since when it is too far behind to hold the window.
    pub(super) behind: Option<Time>,
    /// When it last had more than before.
    pub(super) progressed: Time,
    /// It was a laggard once.
    pub(super) lagged: bool,
    /// It fetches what it lacks by an association of its own.
    pub(super) fetches: bool,
    /// Octets it asked for since it joined, and where the stream was then: the account of its whole life.
    pub(super) asked: u64,
    pub(super) since: u64,
    /// Of packets up to this one it is counted what it lacked of them (§9.17).
    pub(super) counted: u32,
    /// Numbers of packets to it alone, the newest of its own that it sent so, and when it was last told where it stands.
    pub(super) sync: u32,
    pub(super) heard_sync: u32,
    pub(super) told: Time,
    pub(super) tell_after: Duration,
    /// Octets of its socket's buffer, 0 unknown; what it takes a second, 0 without limit.
    pub(super) socket_buffer: u32,
    pub(super) in_rate: u64,
    /// What its user said when it rejected.
    pub(super) text: Box<str>,
}

impl Member {
    /// It says how much it receives a second, unless that is 0; since when that is measured.
    pub(super) fn note_rate(&mut self, rate: u64, now: Time) -> Time {
        if rate == 0 {
            return now;
        }
        self.rate = rate;
        core::mem::replace(&mut self.rated, now)
    }

    /// One that this T names, and of which nothing else is known.
    pub(super) fn new(own: u64, now: Time, round_trip: Option<Duration>) -> Self {
        Self {
            address: SocketAddr::from(([0; 4], 0)),
            counted_at: None,
            local: None,
            name: Box::default(),
            key: 0,
            own,
            state: MemberState::Holder,
            required: true,
            rseq: 0,
            alloc: 0,
            echo: 0,
            round_trip,
            is_rough: true,
            least_round_trip: round_trip.unwrap_or(Duration::MAX),
            rate: 0,
            hearing: Hearing::default(),
            marks: [0; 3],
            misses: 0,
            missed: now,
            heard: now,
            rated: now,
            doubt: None,
            claimed: None,
            joined: now,
            ended: None,
            live: 0,
            back_at: 0,
            behind: None,
            progressed: now,
            lagged: false,
            fetches: false,
            asked: 0,
            since: 0,
            counted: 0,
            sync: 0,
            heard_sync: 0,
            told: now,
            tell_after: Duration::from_millis(250),
            socket_buffer: 0,
            in_rate: 0,
            text: Box::default(),
        }
    }

    /// A round trip of a packet to the group.
    pub(super) fn note_round_trip(&mut self, sample: Duration) {
        self.least_round_trip = self.least_round_trip.min(sample);
        let known = self.round_trip.filter(|_| !self.is_rough);
        self.round_trip = Some(known.map_or(sample, |known| (known * 7 + sample) / 8));
        self.is_rough = false;
    }

    /// This transmitter was stopped for `span`, until `now`.
    pub(super) fn excuse(&mut self, span: Duration, now: Time) {
        self.heard = later(self.heard, span, now);
        self.missed = later(self.missed, span, now);
        self.progressed = later(self.progressed, span, now);
        self.behind = self.behind.map(|since| later(since, span, now));
        self.claimed = self.claimed.map(|since| later(since, span, now));
        self.doubt = None;
    }

    /// Whether it is neither done nor dropped.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, MemberState::Holder | MemberState::Laggard)
    }

    pub(super) fn is_holder(&self) -> bool {
        self.state == MemberState::Holder
    }

    pub(super) fn is_laggard(&self) -> bool {
        self.state == MemberState::Laggard
    }

    pub(super) fn is_done(&self) -> bool {
        matches!(self.state, MemberState::Done(_))
    }
}

/// All members of a group.
pub(super) struct Members {
    list: Vec<Member>,
    by_own: BTreeMap<u64, u32>,
    by_peer: BTreeMap<(SocketAddr, u64), u32>,
    /// The newest of each name.
    by_name: BTreeMap<Box<str>, u32>,
    require: Require,
    /// Required holders by what they have, and by what they have room for.
    holding: MemberIndex,
    credit: MemberIndex,
    /// All who hold the window or are done, by what they have: the quorum is theirs (§9.10).
    standing: MemberIndex,
    count: Count,
}

/// How many there are of each kind.
#[derive(Copy, Clone, Debug, Default)]
struct Count {
    /// Neither done nor dropped; of these required ones, holders, and both.
    alive: usize,
    open: usize,
    holders: usize,
    waited_for: usize,
    done: usize,
    /// Required ones that are not dropped.
    here: usize,
}

impl Count {
    /// The counters in which a member is.
    fn each(&mut self, member: &Member, change: impl Fn(&mut usize)) {
        let required = member.required;
        let of = [
            (member.is_open(), &mut self.alive),
            (member.is_open() && required, &mut self.open),
            (member.is_holder(), &mut self.holders),
            (member.is_holder() && required, &mut self.waited_for),
            (member.is_done(), &mut self.done),
            (required && (member.is_open() || member.is_done()), &mut self.here),
        ];
        of.into_iter()
            .filter(|(is_in, _)| *is_in)
            .for_each(|(_, count)| change(count));
    }
}

impl Members {
    pub(super) fn new(require: Require) -> Self {
        Self {
            list: Vec::new(),
            by_own: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            by_name: BTreeMap::new(),
            require,
            holding: MemberIndex::new(),
            credit: MemberIndex::new(),
            standing: MemberIndex::new(),
            count: Count::default(),
        }
    }

    /// Everybody who ever joined.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Those neither done nor dropped.
    pub(super) fn alive(&self) -> usize {
        self.count.alive
    }

    /// Those not dropped.
    pub(super) fn present(&self) -> usize {
        self.count.alive + self.count.done
    }

    /// Required ones that are not dropped.
    pub(super) fn required_here(&self) -> usize {
        self.count.here
    }

    pub(super) fn get(&self, member: u32) -> &Member {
        &self.list[member as usize]
    }

    pub(super) fn get_mut(&mut self, member: u32) -> &mut Member {
        &mut self.list[member as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Member)> {
        (0..).zip(&self.list)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Member)> {
        (0..).zip(&mut self.list)
    }

    /// Whom T names.
    pub(super) fn by_own(&self, own: u64) -> Option<u32> {
        self.by_own.get(&own).copied()
    }

    /// Who joined from there under this R.
    pub(super) fn by_peer(&self, address: SocketAddr, key: u64) -> Option<u32> {
        self.by_peer.get(&(address, key)).copied()
    }

    /// Whether a member at this address is there, or is done.
    pub(super) fn is_heard_from(&self, address: SocketAddr) -> bool {
        let mut there = self.by_peer.range((address, 0)..=(address, u64::MAX));
        there.any(|(_, index)| {
            let member = self.get(*index);
            member.is_open() || member.is_done()
        })
    }

    /// Who of those that are neither done nor dropped has this address, and whether nobody else has; of several the first.
    pub(super) fn by_address(&self, address: SocketAddr) -> Option<(u32, bool)> {
        let open = self.iter().filter(|(_, member)| member.is_open());
        let mut there = open.filter(|(_, member)| member.address == address);
        let (first, _) = there.next()?;
        Some((first, there.next().is_none()))
    }

    /// Whether a member of this name and address is among those without whom nothing is done.
    pub(super) fn is_required(&self, name: &str, address: SocketAddr) -> bool {
        match &self.require {
            Require::All | Require::AnyOf(_) => true,
            Require::List(list) => {
                let host = address.ip().to_string();
                list.iter()
                    .any(|one| *one == host || (one == name && !name.is_empty()))
            }
            Require::Nobody => false,
        }
    }

    /// Adds one, as a holder or a laggard; says which number it has.
    pub(super) fn add(&mut self, member: Member) -> u32 {
        let index = self.list.len() as u32;
        self.by_own.insert(member.own, index);
        self.by_peer.insert((member.address, member.key), index);
        if !member.name.is_empty() {
            self.by_name.insert(member.name.clone(), index);
        }
        self.count.each(&member, |count| *count += 1);
        self.list.push(member);
        self.place(index);
        index
    }

    /// Another program speaks for a member from now on, by keys of its own; T of the one before is told.
    pub(super) fn speaks_as(
        &mut self,
        index: u32,
        (address, local): (SocketAddr, Option<IpAddr>),
        (key, own): (u64, u64),
    ) -> u64 {
        let member = &mut self.list[index as usize];
        let before = core::mem::replace(&mut member.own, own);
        self.by_peer.remove(&(member.address, member.key));
        self.by_own.remove(&before);
        member.counted_at.get_or_insert(member.address);
        (member.address, member.local, member.key) = (address, local, key);
        self.by_own.insert(own, index);
        self.by_peer.insert((address, key), index);
        before
    }

    /// Changes a member's state; the counts and the order follow.
    pub(super) fn turn(&mut self, index: u32, state: MemberState, now: Time) {
        let member = &mut self.list[index as usize];
        self.count.each(member, |count| *count -= 1);
        member.state = state;
        self.count.each(member, |count| *count += 1);
        if !member.is_open() && member.ended.is_none() {
            member.ended = Some(now);
        }
        self.place(index);
    }

    /// What a member says it has and has room for; neither ever falls. Whether it has more than before.
    pub(super) fn advance(&mut self, index: u32, rseq: u64, alloc: u64) -> bool {
        let member = &mut self.list[index as usize];
        let progress = rseq > member.rseq;
        let more = progress || alloc > member.alloc;
        member.rseq = member.rseq.max(rseq);
        member.alloc = member.alloc.max(alloc);
        if more {
            self.place(index);
        }
        progress
    }

    /// Puts a member where it belongs in the orders.
    fn place(&mut self, index: u32) {
        let member = &self.list[index as usize];
        let any = matches!(self.require, Require::AnyOf(_));
        let holds = member.required && (member.is_holder() || (any && member.is_done()));
        let alloc = if member.is_done() { u64::MAX } else { member.alloc };
        put(&mut self.holding, index, holds.then_some(member.rseq));
        put(&mut self.credit, index, holds.then_some(alloc));
        let stands = member.is_holder() || member.is_done();
        put(&mut self.standing, index, stands.then_some(member.rseq));
    }

    /// How many of the holders the window is for: all, or so many as are required.
    fn counted(&self) -> usize {
        match self.require {
            Require::AnyOf(least) => self.holding.len().min(least as usize).max(1),
            _ => self.holding.len(),
        }
    }

    /// Whether somebody holds the window: without a holder nothing new is sent [D-72].
    pub(super) fn anybody_holds(&self) -> bool {
        self.count.holders > 0
    }

    /// Whether no other member holds the window: of those that are waited for, if it is one of them.
    pub(super) fn nobody_holds_but(&self, member: &Member) -> bool {
        let holders = match member.required {
            true => self.count.waited_for,
            false => self.count.holders,
        };
        holders == usize::from(member.is_holder())
    }

    /// One past what all have who are to have it; `None` without such a one.
    pub(super) fn acknowledged(&self) -> Option<u64> {
        self.holding.reached_by(self.counted())
    }

    /// One past what all of these have room for.
    pub(super) fn credit(&self) -> u64 {
        self.credit.reached_by(self.counted()).unwrap_or(u64::MAX)
    }

    /// What half of these have room for.
    pub(super) fn credit_quorum(&self) -> Option<u64> {
        self.credit.quorum()
    }

    /// What half of those who hold the window or are done have.
    pub(super) fn quorum(&self) -> Option<u64> {
        self.standing.quorum()
    }

    /// Whether no holder that is required is left to wait for.
    pub(super) fn nobody_to_wait_for(&self) -> bool {
        match self.require {
            Require::AnyOf(least) => self.count.waited_for == 0 || self.count.done >= least as usize,
            _ => self.count.waited_for == 0,
        }
    }

    /// Whether everybody required is done or dropped.
    pub(super) fn all_settled(&self) -> bool {
        match self.require {
            Require::AnyOf(least) => self.count.open == 0 || self.count.done >= least as usize,
            _ => self.count.open == 0,
        }
    }

    /// Whether all who are neither done nor dropped are laggards, and there are such.
    pub(super) fn only_laggards(&self) -> bool {
        self.count.open > 0 && self.count.waited_for == 0
    }

    /// The greatest round trip of the holders.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        let holders = self.list.iter().filter(|member| member.is_holder());
        holders.filter_map(|member| member.round_trip).max()
    }

    /// The greatest of the least round trips of members that are done: what the paths themselves take.
    pub(super) fn least_round_trip(&self) -> Option<Duration> {
        let done = self.list.iter().filter(|member| member.is_done());
        done.map(|member| member.least_round_trip)
            .filter(|least| *least < Duration::MAX)
            .max()
    }

    /// The least buffer of a holder's socket, of those that told it.
    pub(super) fn socket_buffer(&self) -> Option<u32> {
        let holders = self.list.iter().filter(|member| member.is_holder());
        holders
            .map(|member| member.socket_buffer)
            .filter(|octets| *octets > 0)
            .min()
    }

    /// The least rate a holder takes.
    pub(super) fn in_rate(&self) -> Option<u64> {
        let holders = self.list.iter().filter(|member| member.is_holder());
        holders
            .map(|member| member.in_rate)
            .filter(|rate| *rate > 0)
            .min()
    }

    /// Every receiver that joined. One that lost its place and joined again under its own key is one receiver: its last entry counts.
    pub(super) fn reports(&self, now: Time) -> Vec<MemberReport> {
        self.iter()
            .filter(|(index, member)| self.by_peer(member.address, member.key) == Some(*index))
            .map(|(index, member)| MemberReport {
                member: MemberId(index),
                address: member.counted_at.unwrap_or(member.address),
                name: member.name.to_string(),
                state: member.state,
                octets: member.rseq,
                time: member.ended.unwrap_or(now).since(member.joined),
                text: member.text.to_string(),
            })
            .collect()
    }

    /// The keys by which members are found.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.by_own.keys().copied()
    }

    /// Who has this name, or, without one, this very address.
    pub(super) fn same_receiver(&self, name: &str, address: SocketAddr) -> Option<u32> {
        match name.is_empty() {
            true => {
                let mut there = self.by_peer.range((address, 0)..=(address, u64::MAX));
                there.next().map(|(_, index)| *index)
            }
            false => self.by_name.get(name).copied(),
        }
    }

    /// Whose place a new member of this name and address takes: that of one of the same name; without names that of
    /// one at the very same address and port. A host, or a NAT, may have many receivers.
    pub(super) fn predecessors(
        &self,
        name: &str,
        address: SocketAddr,
    ) -> impl Iterator<Item = (u32, &Member)> {
        self.iter().filter(move |(_, member)| {
            let same = match name.is_empty() {
                false => *member.name == *name,
                true => member.name.is_empty() && member.address == address,
            };
            same && member.is_open()
        })
    }
}

fn put(index: &mut MemberIndex, member: u32, at: Option<u64>) {
    match at {
        Some(position) => index.set(member, position),
        None => {
            index.remove(member);
        }
    }
}

/// The reasons for which a member is out, as its own end is told (§9.3).
pub(super) fn diagnosis(reason: DropReason) -> (xtp_wire::DiagCode, xtp_wire::DiagValue) {
    use xtp_wire::{DiagCode, DiagValue};
    match reason {
        DropReason::Behind => (DiagCode::RequestRefused, DiagValue::InvalidRetransmission),
        // It joins again, if it is there.
        DropReason::Replaced => (DiagCode::InvalidContext, DiagValue::Unspecified),
        DropReason::Silent | DropReason::Unreachable => (DiagCode::ContextAbandoned, DiagValue::Silent),
        DropReason::Slow | DropReason::TooSlow => (DiagCode::ContextAbandoned, DiagValue::TooSlow),
        DropReason::Rejected | DropReason::Left => (DiagCode::ContextAbandoned, DiagValue::Unspecified),
    }
}

#[cfg(test)]
#[path = "members_tests.rs"]
mod tests;
