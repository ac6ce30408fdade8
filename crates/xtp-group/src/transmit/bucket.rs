//! Mode B: what members say to the whole group is collected in buckets, and moves the window (§9.17).
//!
//! From the first octet to the last but one the members are anonymous: a question opens a bucket, every reply is filed by the
//! question that its sender has seen, and what a bucket says counts for all who answered, whoever did not. Joins, the end and
//! patience are those of the other mode: with the last octet each is asked for its own status again.

use super::Transmitter;
use super::judge::TOLD;
use super::reply::UnicastReply;
use super::status::StatusReport;
use crate::groups::PartyEnv;
use crate::{
    Bucket, BucketOptions, BucketReply, Buckets, Cycle, DropReason, MOST_MEMBERS, MemberState, Mode, Slow,
    Target, TransmitterOptions,
};
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use smallvec::SmallVec;
use xtp_core::time::Time;
use xtp_core::transmit::{Datagram, TransmitBatch};
use xtp_wire::{Control, GroupBuckets, Header, Key, Options, Span, Spans, ToGroup, ToTransmitter, serial_gt};

/// Questions at intervals are not closer than this.
const LEAST_INTERVAL: Duration = Duration::from_millis(10);
/// Without an end of a message another question leaves after this time: the wait timer of 1991.
const WAIT: Duration = Duration::from_millis(55);
/// The shortest time over which replies of more than two members are spread.
const LEAST_SPREAD: Duration = Duration::from_millis(2);
/// So many buckets that change nothing are chance: what was sent again was lost again. Then questions are asked at intervals, and where what
/// they ask for is sent in vain again and again, at longer and longer ones.
const VAIN: u32 = 2;
const LONGEST: Duration = Duration::from_secs(1);
/// What is taken for the round trip at least.
const LEAST_ROUND_TRIP: Duration = Duration::from_micros(500);
/// So few members do not get out of each other's way.
const FEW: u32 = 2;

/// What replies bring together.
#[derive(Debug)]
pub(super) struct Collector {
    options: BucketOptions,
    buckets: Buckets,
    /// Members, each at the place of its bit.
    seats: SmallVec<[Option<u32>; 16]>,
    /// One past what those have room for whose bucket was applied last.
    credit: u64,
    /// When the last question left.
    opened: Time,
    /// A message ended since.
    message_ended: bool,
    /// Buckets in a row that changed nothing, one without an answer or a need counting as [`VAIN`] at least; and how
    /// much the last one asked for.
    vain: u32,
    lacked: u64,
    /// Whose losses the controller is told, and up to where they are counted.
    counted: (Option<u32>, u64),
    /// When everything had left, and each was asked for its own status again.
    named_since: Option<Time>,
}

impl Collector {
    fn new(options: BucketOptions, now: Time) -> Self {
        Self {
            options,
            buckets: Buckets::new(options.buckets.into()),
            seats: SmallVec::new(),
            credit: 0,
            opened: now,
            message_ended: false,
            vain: 0,
            lacked: 0,
            counted: (None, 0),
            named_since: None,
        }
    }

    /// The bit of a member; `None` if all are taken by members that are there.
    fn seat(&mut self, member: u32, is_there: impl Fn(u32) -> bool) -> Option<u32> {
        let seats = &mut self.seats;
        let own = seats.iter().position(|seat| *seat == Some(member));
        let free = || seats.iter().position(|seat| !seat.is_some_and(&is_there));
        let place = own.or_else(free).unwrap_or(seats.len());
        if place >= MOST_MEMBERS as usize {
            return None;
        }
        if place == seats.len() {
            seats.push(None);
        }
        seats[place] = Some(member);
        Some(place as u32)
    }
}

/// The collector of a transmitter whose members report to the whole group.
pub(super) fn collector(options: &TransmitterOptions, now: Time) -> Option<Collector> {
    match options.mode {
        Mode::Bucket(buckets) => Some(Collector::new(buckets, now)),
        Mode::Unicast => None,
    }
}

/// Why these options can not be had with buckets.
pub(super) fn refusal(target: &Target, options: &TransmitterOptions) -> Option<&'static str> {
    let Mode::Bucket(buckets) = options.mode else {
        return None;
    };
    let hears_all = match target {
        Target::Group(group) => !is_source_specific(*group),
        Target::Each(_) => false,
    };
    match () {
        () if !(1..=64).contains(&buckets.buckets) => Some("buckets: 1 to 64"),
        () if !hears_all => Some("mode: buckets need a multicast group of any source"),
        () if options.require == crate::Require::Nobody => Some("mode: buckets of nobody's reports"),
        () => None,
    }
}

fn is_source_specific(group: SocketAddr) -> bool {
    match group.ip().to_canonical() {
        IpAddr::V4(group) => group.octets()[0] == 232,
        IpAddr::V6(group) => group.segments()[0] & 0xfff0 == 0xff30,
    }
}

impl Transmitter {
    /// Whether members report to the whole group now, and the window is moved by buckets.
    pub(super) fn is_anonymous(&self) -> bool {
        self.buckets.is_some() && !self.stream.is_sent() && !self.is_ending()
    }

    /// How receivers are to answer questions, for the terms of the group.
    pub(super) fn bucket_terms(&self) -> Option<GroupBuckets> {
        let options = self.buckets.as_ref()?.options;
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        Some(GroupBuckets {
            spread_us: u32::try_from(self.bucket_spread().as_micros()).unwrap_or(u32::MAX),
            flags: flag(options.damping, GroupBuckets::DAMPING)
                | flag(options.go_back_n, GroupBuckets::GO_BACK_N),
        })
    }

    /// Members there may be.
    fn bucket_members(&self) -> u32 {
        self.feedback().size.min(MOST_MEMBERS)
    }

    /// So long the replies of all take at the rate that this end takes.
    fn bucket_pace(&self) -> Duration {
        Duration::from_secs(self.bucket_members().into()) / self.options.feedback_rate.max(1)
    }

    /// Over how long replies are spread.
    fn bucket_spread(&self) -> Duration {
        let slotting = self.buckets.as_ref().is_some_and(|all| all.options.slotting);
        match slotting && self.bucket_members() > FEW {
            true => self.bucket_pace().max(LEAST_SPREAD),
            false => Duration::ZERO,
        }
    }

    /// A bucket is ripe, whoever answered, after this time.
    fn bucket_patience(&self) -> Duration {
        self.bucket_spread() + 2 * self.round_trip.max(LEAST_ROUND_TRIP)
    }

    /// Whether ripe buckets are applied as soon as they are.
    fn applies_ripe(&self) -> bool {
        self.blocked && self.is_anonymous() && self.buckets.as_ref().is_some_and(|all| !all.options.classic)
    }

    /// When the next question is due; `None` where none is asked of all (§9.17).
    pub(super) fn question_at(&self) -> Option<Time> {
        let all = self.buckets.as_ref().filter(|_| self.is_anonymous())?;
        if self.stream.nxt <= self.acknowledged || !self.members.anybody_holds() {
            return None;
        }
        let interval = (2 * self.round_trip / u32::from(all.options.buckets)).max(LEAST_INTERVAL);
        let regular = match all.options.cycle {
            Cycle::Timer => all.opened + interval,
            Cycle::Message if all.message_ended => all.opened,
            Cycle::Message => all.opened + WAIT,
        };
        let blocked = self.blocked && !all.options.classic;
        let pause = interval.max(self.bucket_patience());
        let longer = (pause * (1 << all.vain.saturating_sub(VAIN).min(8))).min(LONGEST.max(pause));
        // Who does not answer, or has nothing new to say, is asked no more often than at intervals.
        let at = match (blocked, all.vain >= VAIN || all.buckets.is_unanswered()) {
            // A new cycle as soon as no bucket is unripe: the last octets before the window closed are asked about at once.
            (true, false) => all
                .buckets
                .all_ripe_at(self.holder_bits(), self.bucket_patience())
                .unwrap_or(all.opened),
            (true, true) => all.opened + longer,
            (false, true) if self.blocked => regular.max(all.opened + longer),
            (false, _) => regular,
        };
        Some(at.max(all.opened + self.bucket_pace()))
    }

    /// When the oldest bucket is ripe whoever answers, while that matters.
    pub(super) fn bucket_at(&self) -> Option<Time> {
        let all = self.buckets.as_ref().filter(|_| self.applies_ripe())?;
        all.buckets.deadline(self.bucket_patience())
    }

    /// Bits of those whose answers a bucket waits for; of one that never had a place a bit that nobody sets.
    fn holder_bits(&self) -> u64 {
        let Some(all) = &self.buckets else { return 0 };
        let holders = self
            .members
            .iter()
            .filter(|(_, member)| member.is_holder() && member.required);
        holders.fold(0, |bits, (index, _)| {
            let place = all.seats.iter().position(|seat| *seat == Some(index));
            bits | 1 << place.unwrap_or(MOST_MEMBERS as usize - 1)
        })
    }

    /// What those have room for who hold the window.
    pub(super) fn credit(&self) -> u64 {
        let told = self.members.credit();
        match &self.buckets {
            Some(all) if self.is_anonymous() => told.max(all.credit),
            _ => told,
        }
    }

    /// Octets that are kept beyond what is acknowledged: a bucket moves the window without hearing everybody, so at least one
    /// window stays for those whose replies were lost.
    pub(super) fn kept_beyond(&self) -> u64 {
        match self.buckets {
            Some(_) => self.options.keep.max(self.window()),
            None => self.options.keep,
        }
    }

    /// Whether what is known of a member is what it said since it is asked by name: a reply that nobody heard says nothing.
    pub(super) fn is_known(&self, heard: Time) -> bool {
        let Some(all) = &self.buckets else { return true };
        all.named_since.is_some_and(|since| heard > since)
    }

    /// A message ended with what left just now.
    pub(super) fn note_message_end(&mut self) {
        if let Some(all) = &mut self.buckets {
            all.message_ended = true;
        }
    }

    /// Asks everybody, and opens a bucket for the answers; the oldest gives way.
    pub(super) fn say_question(&mut self, env: &mut PartyEnv<'_>, out: &mut TransmitBatch) {
        let sync = self.line.next_sync();
        let Some(all) = &mut self.buckets else { return };
        let oldest = all.buckets.open(sync, env.now);
        (all.opened, all.message_ended) = (env.now, false);
        let at = (self.stream.nxt, Options::empty());
        self.line.control(ToGroup::Question, at, env.now, out);
        if let Some(bucket) = oldest {
            self.apply(&bucket);
        }
    }

    /// Applies ripe buckets, oldest first, as long as the window is closed.
    pub(super) fn serve_buckets(&mut self, now: Time) {
        if !self.is_anonymous() {
            if let Some(all) = &mut self.buckets {
                all.named_since.get_or_insert(now);
            }
            return;
        }
        while self.applies_ripe() {
            let (members, patience) = (self.holder_bits(), self.bucket_patience());
            let Some(all) = &mut self.buckets else { return };
            let Some(bucket) = all.buckets.ripe(now, members, patience) else {
                return;
            };
            self.apply(&bucket);
            self.note_blocked();
        }
    }

    /// What a bucket says: how far the window reaches, and what is to be sent again.
    fn apply(&mut self, bucket: &Bucket) {
        let nxt = self.stream.nxt;
        let Some(all) = self.buckets.as_mut().filter(|_| bucket.answered != 0) else {
            return self.note_unmoved(0);
        };
        let before = (self.acknowledged, all.credit);
        all.credit = bucket.alloc;
        let rseq = bucket.rseq.min(nxt);
        let held = match all.options.go_back_n {
            true => SmallVec::new(),
            false => bucket.spans(),
        };
        let spans: SmallVec<[Span; 8]> = held.iter().map(|held| Span::new(held.0, held.1)).collect();
        let mut due = 0;
        if let Ok(spans) = Spans::new(rseq, &spans) {
            // Of a packet that is kept in part nobody is helped who lacks the other part only.
            let from = rseq.max(self.stream.first_whole());
            due = self.repair.missing(from, spans, nxt, (bucket.sync, u64::MAX));
        }
        if all.options.go_back_n
            && due > 0
            && let Some(pacemaker) = self.rate.pacemaker()
        {
            // Who keeps nothing beyond a hole can not say how much of it was lost.
            self.rate.note_missing(pacemaker, self.terms.maxdata.into());
        }
        // Of what is on its way again nothing is due.
        let less = due > 0 && due < all.lacked;
        if due > 0 {
            all.lacked = due;
        }
        // A member that says less than it said before holds nobody up.
        let reached = self
            .members
            .acknowledged()
            .map_or(rseq, |told| told.clamp(rseq, nxt));
        let moved = less || reached > before.0 || bucket.alloc > before.1;
        self.acknowledged = self.acknowledged.max(reached);
        self.line.stats.acknowledged = self.acknowledged;
        self.forget_acknowledged();
        match moved {
            true => self.note_moved(),
            false => self.note_unmoved(due),
        }
    }

    fn note_moved(&mut self) {
        if let Some(all) = &mut self.buckets {
            all.vain = 0;
        }
    }

    /// A bucket changed nothing, and asked for so much.
    fn note_unmoved(&mut self, due: u64) {
        if let Some(all) = &mut self.buckets {
            all.vain = if due == 0 {
                all.vain.max(VAIN)
            } else {
                all.vain + 1
            };
        }
    }

    /// Whether this is the transmitter of the group `key` at that address, and hears what its members say to the group.
    pub(crate) fn collects(&self, group: SocketAddr, key: u64) -> bool {
        self.buckets.is_some() && self.line.key == key && self.line.leads_to(group)
    }

    /// Takes what a member said to the group; who it is its address tells, unless several members have the same.
    pub(crate) fn overhear(
        &mut self,
        datagram: &Datagram<'_>,
        header: &Header,
        said: &ToTransmitter<'_>,
        env: &mut PartyEnv<'_>,
    ) {
        let (control, report) = match *said {
            ToTransmitter::Status(control) => (control, StatusReport::spans(control, Spans::EMPTY)),
            ToTransmitter::Spans { control, spans } => (control, StatusReport::spans(control, spans)),
            ToTransmitter::Extended(status) => (status.control, StatusReport::extended(&status)),
            _ => return,
        };
        let there = self.members.by_address(datagram.src);
        let Some((index, is_alone)) = there.filter(|_| !self.is_over()) else {
            return;
        };
        self.line.stats.feedback_packets += 1;
        if is_alone {
            // That everything is here each says for itself.
            let by_name = Header {
                key: Key::returned(self.members.get(index).own),
                options: header.options - Options::RCLOSE,
                ..*header
            };
            self.take_report(datagram.src, &by_name, &report, env);
        }
        if !self.is_anonymous() || control.rseq > self.stream.nxt || !self.line.has_left(control.echo) {
            return;
        }
        // An answer that was overtaken by a later one says less than is known.
        let member = self.members.get(index);
        if is_alone && member.is_open() && member.rseq < self.stream.lowest() {
            if let Some(verdict) = self.verdict_below_store(index) {
                self.sentence(index, verdict, env);
            }
            return;
        }
        self.rate.reported_unasked(index, env.now);
        if is_alone {
            self.note_place(index, env.now);
            self.count_lacked(index, control, &report);
            if self.asks_too_much(index) {
                // Before it is filed: nothing is sent again for it any more.
                let slow = match self.options.slow {
                    Slow::Drop => MemberState::Dropped(DropReason::Slow),
                    Slow::Wait | Slow::CatchUp => MemberState::Laggard,
                };
                self.sentence(index, slow, env);
                return self.after_report(env);
            }
        }
        self.file(index, control, &report);
        self.serve_buckets(env.now);
    }

    /// A member that holds the window again and goes on to report to this end alone has not heard that it does: what it says is in no bucket,
    /// and moves nothing (§9.17).
    pub(super) fn remind(&mut self, own: u64, now: Time) {
        if !self.is_anonymous() {
            return;
        }
        let member = self.members.by_own(own).map(|index| self.members.get(index));
        if member.is_some_and(|member| member.is_holder() && member.lagged && now.since(member.told) >= TOLD)
        {
            self.replies.push(UnicastReply::Standing(own));
        }
    }

    /// What a member lacks of packets that it has had time to get: of each as often as it left. Where all that follows a hole is sent again nobody
    /// can say how much of it was lost. An answer that says less than its member said before counts, too, unless a later one overtook it: its
    /// bucket goes by it.
    fn count_lacked(&mut self, index: u32, control: Control, report: &StatusReport<'_>) {
        let goes_back = self.buckets.as_ref().is_some_and(|all| all.options.go_back_n);
        let member = self.members.get(index);
        if goes_back || !serial_gt(control.echo, member.counted) {
            return;
        }
        let held: SmallVec<[Span; 8]> = report
            .held()
            .iter()
            .map(|held| Span::new(held.0, held.1))
            .collect();
        let Ok(spans) = Spans::new(control.rseq, &held) else {
            return;
        };
        let between = (member.counted, control.echo);
        let lacked = self
            .repair
            .union
            .lacked(control.rseq, spans, self.stream.nxt, between);
        let member = self.members.get_mut(index);
        (member.asked, member.counted) = (member.asked + lacked, control.echo);
    }

    /// Since when a member keeps the others waiting, by what it says itself: what others say it does not.
    fn note_place(&mut self, index: u32, now: Time) {
        let marks = self.marks();
        self.members.get_mut(index).note_place(&marks, now);
    }

    fn file(&mut self, index: u32, control: Control, report: &StatusReport<'_>) {
        let member = self.members.get(index);
        if !member.is_holder() || !member.required {
            return;
        }
        let round_trip = member.round_trip;
        let members = &self.members;
        let Some(all) = &mut self.buckets else { return };
        let is_there = |seat: u32| members.get(seat).is_open();
        let Some(seat) = all.seat(index, is_there) else {
            return;
        };
        all.buckets.reply(&BucketReply {
            member: seat,
            echo: control.echo,
            rseq: control.rseq,
            alloc: control.alloc,
            round_trip,
            spans: report.held(),
        });
    }

    /// What the pacemaker newly lacks is for the controller; what is repaired the buckets say.
    pub(super) fn note_losses(&mut self, index: u32, control: Control, held: &[(u64, u64)]) {
        let Some(all) = self
            .buckets
            .as_mut()
            .filter(|_| self.rate.pacemaker() == Some(index))
        else {
            return;
        };
        if all.counted.0 != Some(index) {
            all.counted = (Some(index), self.stream.nxt);
            return;
        }
        let from = all.counted.1.max(control.rseq);
        let highest = held.last().map_or(control.rseq, |(_, right)| *right);
        let beyond = held
            .iter()
            .map(|(left, right)| right.saturating_sub(*left.max(&from)));
        let lost = highest.saturating_sub(from).saturating_sub(beyond.sum());
        all.counted.1 = highest.max(from);
        self.rate.note_missing(index, lost);
    }
}

#[cfg(test)]
#[path = "bucket_tests.rs"]
mod tests;
