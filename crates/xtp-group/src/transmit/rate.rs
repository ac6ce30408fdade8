//! How fast the group is served: one holder's reports drive the controller of unicast, and nobody gets more than it takes
//! (§9.11).
//!
//! Reports of this pacemaker come at intervals that are long beside a short round trip. For the controller every report is
//! as late as the interval of the start, so its windows cover what is sent meanwhile; how long a queue is stays as it was.

use super::line::SendRecord;
use super::losses::Losses;
use super::members::{Member, Members};
use super::received::{MEASURED, ReceivedHistory};
use crate::{Require, TransmitterOptions};
use core::time::Duration;
use std::collections::BTreeMap;
use xtp_congestion::CongestionKind;
use xtp_congestion::{Ack, CongestionControl, Controller, Lost, SentPacket};
use xtp_core::control::ecn::EcnSender;
use xtp_core::control::pacer::Pacer;
use xtp_core::control::rate::TokenBucket;
use xtp_core::time::Time;
use xtp_core::{Ecn, Rate};
use xtp_wire::size;

/// The round trip while nothing is known of it.
const UNKNOWN: Duration = Duration::from_millis(100);
/// The pacemaker is asked so often: at the start, and then; never more often than a round trip.
const STARTING: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(50);
/// It is also asked after so many octets: whoever serves a group fast hears of it in time.
const MOST_UNASKED: u64 = 1 << 20;
/// For so long it is the start.
const START: Duration = Duration::from_millis(120);
/// By so much every report counts as late.
const LATE: Duration = Duration::from_millis(4);
/// Reports that are closer than this count as one: each of them tells of less than a round trip as the controller sees it, and so of no rate.
const APART: Duration = LATE.saturating_add(Duration::from_micros(500));
/// Packets a train (§9.11).
const TRAIN: u64 = 16;
/// Who receives less than 4 in 5 of what the pacemaker receives is slower.
const SLOWER: (u64, u64) = (4, 5);
/// A queue that is twice as long as the pacemaker's, and by so much longer at least, is another bottleneck.
const QUEUE: Duration = Duration::from_millis(50);
/// A queue so long stands.
const STANDING: Duration = Duration::from_millis(20);
/// Another pacemaker is chosen for such reasons at most so often.
const SWITCH: Duration = Duration::from_millis(500);
/// Members that are few enough to be looked at whenever one changes.
const FEW: usize = 64;
/// Without a report for so many intervals the rate is halved, and again each interval.
const UNHEARD: u32 = 4;
/// Blocks of which the pacemaker's needs are remembered.
const MOST_NEEDS: usize = 256;

/// Whose reports count.
#[derive(Debug, Default)]
struct Pacemaker {
    member: Option<u32>,
    /// What had left when the newest packet that it has seen left.
    seen: u64,
    seen_sync: u32,
    /// When it was asked last, how much had left then, and whether it answered.
    asked: Option<Time>,
    asked_at: u64,
    /// When it reported last, and since when it does although nothing of the stream comes to it.
    heard: Option<Time>,
    /// When the controller was told of a report last.
    told: Option<Time>,
    deaf_since: Option<Time>,
    /// Who was asked besides when it did not answer.
    stand_in: Option<u32>,
    /// The most that it ever lacked of each block.
    needs: BTreeMap<u32, u16>,
    /// Octets it lost since its last report.
    lost: u64,
    least: Option<Duration>,
    queue: Duration,
    received: ReceivedHistory,
    /// Since when it is the one.
    since: Time,
}

/// Why another member becomes pacemaker, and so what is known of it.
#[derive(Copy, Clone, Debug)]
enum Why {
    /// It is the narrower one: it receives at most so many octets a second.
    Slower(u64),
    /// The one before does not answer. It still holds the window: what it was found to take, the group may have.
    Unheard,
    /// The one before holds the window no more, or nothing of the stream comes to it: what it took limits no other member.
    Gone,
}

/// What may leave.
pub(super) struct RateControl {
    /// The user's limit, and the least that a holder takes.
    bucket: TokenBucket,
    own: Rate,
    copies: u64,
    control: CongestionControl,
    /// Whether packets of the stream are marked, and what the pacemaker's totals mean.
    ecn: EcnSender,
    losses: Losses,
    pacer: Pacer,
    /// Octets of a full packet, and of a symbol.
    packet: u64,
    symbol: u64,
    pacemaker: Pacemaker,
    round_trip: Duration,
    /// How often the pacemaker is asked.
    interval: Duration,
    /// Half of the least socket buffer of a holder.
    buffer: Option<u64>,
    /// When the first packet of the stream left, and how much has left by now.
    began: Option<Time>,
    sent: u64,
    /// Since when it has left without a pause that is worth measuring, and when the last left.
    running: Time,
    left_at: Time,
    /// Since when something is under way.
    outstanding: Option<Time>,
    /// More than may be is under way: only a report helps.
    blocked: bool,
    until: Option<Time>,
}

impl RateControl {
    pub(super) fn new(options: &TransmitterOptions, symbol: u64, copies: u64, now: Time) -> Self {
        let packet = options.datagram as u64;
        Self {
            bucket: TokenBucket::new(options.rate, now),
            own: options.rate,
            copies,
            control: CongestionControl::new(CongestionKind::Model, size::payload(options.datagram) as u32),
            // Who hears of no marks must not ask for them.
            ecn: EcnSender::new(options.ecn && options.require != Require::Nobody),
            losses: Losses::new(size::payload(options.datagram) as u64),
            pacer: Pacer::default(),
            packet,
            symbol,
            pacemaker: Pacemaker::default(),
            round_trip: UNKNOWN,
            interval: STARTING,
            buffer: None,
            began: None,
            sent: 0,
            running: now,
            left_at: now,
            outstanding: None,
            blocked: false,
            until: None,
        }
    }

    /// What pacing and the controller take for the round trip.
    fn late_round_trip(&self) -> Option<Duration> {
        Some(self.round_trip + LATE)
    }

    pub(super) fn refill(&mut self, now: Time) {
        let young = self.began.is_none_or(|began| now.since(began) < START);
        // So long that a report tells of more than one round trip as the controller sees it.
        let least = self.round_trip + LATE + LATE / 8;
        self.interval = if young { STARTING } else { INTERVAL }.max(least);
        self.bucket.refill(now);
        let rate = self.paced(now);
        self.pacer.set(rate, TRAIN * self.packet, self.late_round_trip());
        self.pacer.budget(now);
    }

    /// Octets a second; `None` where nobody reports.
    fn paced(&self, now: Time) -> Option<u64> {
        self.pacemaker.member?;
        let rate = self.control.pacing_rate(self.late_round_trip())?;
        let unheard = self.unheard(now).as_nanos() / self.interval.as_nanos().max(1);
        let halved = u32::try_from(unheard).unwrap_or(u32::MAX).saturating_sub(UNHEARD);
        Some(rate.checked_shr(halved.min(63)).unwrap_or(0).max(self.packet))
    }

    /// For how long the pacemaker has said nothing although something is under way to it.
    fn unheard(&self, now: Time) -> Duration {
        match (self.in_flight(), self.outstanding) {
            (0, _) | (_, None) => Duration::ZERO,
            (_, Some(since)) => now.since(self.pacemaker.heard.unwrap_or(since).max(since)),
        }
    }

    /// Most octets that may have left and not be known to have been seen.
    fn most_in_flight(&self) -> u64 {
        let Some(rate) = self.control.pacing_rate(self.late_round_trip()) else {
            return u64::MAX;
        };
        let over = |time: Duration| {
            let octets = u128::from(rate) * time.as_nanos() / 1_000_000_000;
            u64::try_from(octets).unwrap_or(u64::MAX)
        };
        let open = self
            .control
            .window()
            .saturating_add(over(2 * self.interval))
            .max(TRAIN * self.packet);
        match self.buffer {
            Some(half) => {
                open.min(half.max(TRAIN * self.packet) + over(self.pacemaker.least.unwrap_or_default()))
            }
            None => open,
        }
    }

    fn in_flight(&self) -> u64 {
        self.sent.saturating_sub(self.pacemaker.seen)
    }

    /// Whether a packet of the stream may leave, as of the last `refill`.
    pub(super) fn may_send(&mut self) -> bool {
        self.blocked = self.pacemaker.member.is_some() && self.in_flight() >= self.most_in_flight();
        !self.blocked && self.bucket.may_send() && self.pacer.available() > 0
    }

    /// A packet of the stream left, of so many octets, with this number; so many have left altogether.
    pub(super) fn took(&mut self, octets: u64, (sync, sent): (u32, u64), now: Time) {
        self.bucket.take(octets * self.copies);
        self.pacer.take(octets);
        if self.began.is_none() || now.since(self.left_at) >= MEASURED {
            self.running = now;
        }
        self.began = self.began.or(Some(now));
        self.left_at = now;
        let idle = self.in_flight() == 0 || self.pacemaker.member.is_none();
        if idle {
            self.pacemaker.seen = sent - octets;
            self.outstanding = Some(now);
        }
        self.sent = sent;
        self.control.on_sent(SentPacket { now, sync, idle });
    }

    /// So many octets left that are none of the stream: they wait for no rate, and the stream waits for them.
    pub(super) fn took_beside(&mut self, octets: u64) {
        self.bucket.owe(octets);
    }

    /// The path could carry more, but there is no more to be sent, or nobody has room for it.
    pub(super) fn nothing_to_send(&mut self) {
        let in_flight = self.in_flight();
        if !self.blocked && in_flight < self.control.window() {
            self.control.on_app_limited(in_flight);
        }
    }

    /// More is to be sent. If so much may leave at once that a train of it is left, this host is behind, and how little leaves
    /// says nothing about the path.
    pub(super) fn more_to_send(&mut self) {
        if self.pacemaker.member.is_some() && !self.blocked && self.pacer.available() >= TRAIN * self.packet {
            self.control.on_app_limited(self.in_flight());
        }
    }

    /// Notes when the next may leave.
    pub(super) fn wait(&mut self, now: Time) {
        let paced = self.pacer.ready_at(now, self.late_round_trip());
        self.until = paced.max(self.bucket.ready_at(now));
        self.pacer.wait(self.until);
    }

    /// When the next packet may leave; `None`: at once.
    pub(super) fn until(&self) -> Option<Time> {
        self.until
    }

    /// Whether only a report lets more leave.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    pub(super) fn octets_per_second(&self) -> u64 {
        let paced = self.control.pacing_rate(self.late_round_trip());
        let own = self.bucket.rate().octets_per_second;
        match paced.filter(|_| self.pacemaker.member.is_some()) {
            Some(paced) if own > 0 => paced.min(own),
            Some(paced) => paced,
            None => own,
        }
    }

    /// What the holders take at most: buffers of their sockets, rates.
    pub(super) fn note_ceilings(&mut self, members: &Members, now: Time) {
        self.buffer = members.socket_buffer().map(|octets| u64::from(octets) / 2);
        let taken = members.in_rate();
        let mut rate = self.own;
        if let Some(taken) =
            taken.filter(|taken| rate.octets_per_second == 0 || *taken < rate.octets_per_second)
        {
            rate.octets_per_second = taken;
            rate.burst = rate.burst.max(TRAIN as u32 * self.packet as u32);
        }
        self.bucket.set(rate, now);
    }

    /// Somebody joined, left or fell behind. In a large group its ceilings are looked at with the next look at everybody.
    pub(super) fn members_changed(&mut self, members: &Members, now: Time) {
        if members.len() <= FEW {
            self.note_ceilings(members, now);
        }
        let holds = |member: u32| members.get(member).is_holder();
        if self.pacemaker.member.is_none_or(|member| !holds(member)) {
            let mut holders = members.iter().filter(|(_, member)| member.is_holder());
            let next = holders.next().map(|(index, _)| index);
            self.switch(next.map(|index| (index, members.get(index))), Why::Gone, now);
        }
    }

    /// Another member is listened to.
    fn switch(&mut self, to: Option<(u32, &Member)>, why: Why, now: Time) {
        let before = self.pacemaker.member;
        let (asked_at, heard) = (self.sent, self.pacemaker.heard);
        self.pacemaker = Pacemaker {
            seen: self.sent,
            seen_sync: self.pacemaker.seen_sync,
            asked_at,
            heard,
            since: now,
            ..Pacemaker::default()
        };
        self.blocked = false;
        let Some((index, member)) = to else { return };
        self.pacemaker.member = Some(index);
        self.ecn.listen_to(member.marks);
        self.round_trip = member.round_trip.unwrap_or(self.round_trip);
        let least = Some(member.least_round_trip).filter(|least| *least < Duration::MAX);
        self.pacemaker.least = least;
        if before.is_none() && self.began.is_none() {
            return;
        }
        let late = least.map(|least| least + LATE);
        match why {
            Why::Slower(rate) => self.control.on_other_member(rate, late, now),
            Why::Unheard => self.control.on_other_member(u64::MAX, late, now),
            Why::Gone => {
                self.losses = Losses::new(size::payload(self.packet as usize) as u64);
                self.control.on_member_gone(late, now);
            }
        }
    }

    /// A report: it echoes what left as `after`; its rate is measured since `before`.
    pub(super) fn on_echo(
        &mut self,
        (index, member): (u32, &Member),
        (before, after): (Time, SendRecord),
        sample: Option<Duration>,
        now: Time,
    ) {
        if !member.is_holder() {
            return;
        }
        if self.pacemaker.member == Some(index) {
            return self.on_report(member, after, sample, now);
        }
        // What a pacemaker receives that did not answer the last question is not known well enough to compare it with.
        let recent = self
            .pacemaker
            .heard
            .is_some_and(|heard| now.since(heard) < self.interval + self.interval / 2);
        let early = now.since(self.pacemaker.since) < SWITCH || self.in_flight() == 0;
        if !recent || early || member.hearing.is_deaf() {
            return;
        }
        let queue = sample.map_or(Duration::ZERO, |sample| {
            sample.saturating_sub(member.least_round_trip)
        });
        let slow = self.receives_less(member, before, now);
        if slow || queue > 2 * self.pacemaker.queue + QUEUE {
            let most = if slow { member.rate } else { u64::MAX };
            self.switch(Some((index, member)), Why::Slower(most), now);
        }
    }

    /// Whether a member received much less a second than the pacemaker since `before`, when it told its rate last. What it answered
    /// between, a letter to it alone, begins no measurement. Where that was while nothing
    /// left, a member that is further away has received less of what left since without being slower.
    fn receives_less(&self, member: &Member, before: Time, now: Time) -> bool {
        let running = self.running + member.round_trip.unwrap_or_default();
        before >= running
            && now.since(before) >= MEASURED
            && member.rate > 0
            && self.pacemaker.received.rate_since(before).is_some_and(|pace| {
                u128::from(member.rate) * u128::from(SLOWER.1) < u128::from(pace) * u128::from(SLOWER.0)
            })
    }

    fn on_report(&mut self, member: &Member, after: SendRecord, sample: Option<Duration>, now: Time) {
        self.round_trip = member.round_trip.unwrap_or(self.round_trip);
        let much = self.much();
        let pacemaker = &mut self.pacemaker;
        pacemaker.heard = Some(now);
        pacemaker.deaf_since = match member.hearing.is_deaf() {
            true => pacemaker.deaf_since.or(Some(now)),
            false => None,
        };
        if let Some(sample) = sample {
            let least = pacemaker.least.map_or(sample, |least| least.min(sample));
            pacemaker.least = Some(least);
            pacemaker.queue = sample.saturating_sub(least);
        }
        let came = after.octets.saturating_sub(pacemaker.seen);
        let soon = pacemaker.told.is_some_and(|told| now.since(told) < APART);
        if soon && !self.blocked && came < much {
            return;
        }
        pacemaker.told = Some(now);
        pacemaker.seen = pacemaker.seen.max(after.octets);
        pacemaker.seen_sync = member.echo;
        pacemaker.received.note(member.rate, pacemaker.seen, now);
        let lost = core::mem::take(&mut pacemaker.lost);
        self.blocked = false;
        if came == 0 {
            return;
        }
        // The controller counts octets of data.
        let packet = self.packet;
        let payload = size::payload(packet as usize) as u64;
        let data = |octets: u64| octets * payload / packet;
        let left = data(came);
        self.losses.note(left, lost, self.control.is_probing());
        // What was lost by chance, behind whatever queue there is, has passed it like all that came.
        let arrived = left.saturating_sub(lost) + self.losses.of_chance(left).min(lost);
        let in_flight = data(self.in_flight());
        let rate = self.control.pacing_rate(self.late_round_trip()).unwrap_or(0);
        let unreported = rate / 1_000 * LATE.as_millis() as u64;
        if lost > 0 {
            // Which packets they were it does not say.
            let gaps = u32::try_from(lost / payload.max(1)).unwrap_or(u32::MAX).max(1);
            let lost = Lost { octets: lost, gaps };
            self.control.on_loss(now, after.at, lost, in_flight);
        }
        self.control.on_ack(Ack {
            now,
            echo: member.echo,
            octets: arrived,
            rtt: sample.map(|sample| sample + LATE),
            srtt: self.late_round_trip(),
            in_flight_before: in_flight + unreported + arrived,
            app_limited: false,
        });
        self.note_standing_queue(left);
        if !self.losses.are_even()
            && let Some(most) = self.pacemaker.received.most_where_much_is_lost()
        {
            self.control.on_bandwidth(data(most));
        }
    }

    /// While packets wait, what comes is what the path carries: a bucket that let a burst pass at the beginning looked wider.
    fn note_standing_queue(&mut self, left: u64) {
        if self.pacemaker.queue < STANDING || self.control.is_probing() {
            return;
        }
        let Some(most) = self.pacemaker.received.most_of_late() else {
            return;
        };
        // What was lost by chance behind the queue has passed it.
        let lost = self.losses.of_chance(left);
        let passed = u128::from(most) * u128::from(left) / u128::from((left - lost).max(1));
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let payload = size::payload(self.packet as usize) as u64;
        self.control
            .on_bandwidth((passed + passed / 32) / self.packet * payload);
    }

    /// Whether what is lost is lost by chance, and not because it was sent too fast.
    pub(super) fn loses_by_chance(&self) -> bool {
        self.losses.are_chance()
    }

    /// What the next packet of the stream carries.
    pub(super) fn mark(&mut self) -> Ecn {
        self.ecn.mark()
    }

    /// A member says how many packets came to it with which mark; the newest that it may have had left at `sent`. Says how many more
    /// of them said that there is congestion, if it is the pacemaker.
    pub(super) fn on_marks(&mut self, index: u32, [ect0, ect1, ce]: [u32; 3], sent: Time, now: Time) -> u32 {
        if self.pacemaker.member != Some(index) {
            return 0;
        }
        let marked = self.ecn.on_status(ect0, ect1, ce);
        if marked > 0 {
            self.control.on_ce(now, sent);
        }
        marked
    }

    /// The pacemaker lacks so many symbols of a block.
    pub(super) fn note_need(&mut self, index: u32, block: u32, need: u16) {
        if self.pacemaker.member == Some(index) {
            let needs = &mut self.pacemaker.needs;
            let known = needs.entry(block).or_default();
            self.pacemaker.lost += u64::from(need.saturating_sub(*known)) * self.symbol;
            *known = need.max(*known);
            if needs.len() > MOST_NEEDS {
                needs.pop_first();
            }
        }
    }

    /// So many octets that can be sent again as they were are missing at the pacemaker.
    pub(super) fn note_missing(&mut self, index: u32, octets: u64) {
        if self.pacemaker.member == Some(index) {
            self.pacemaker.lost += octets;
        }
    }

    /// When the pacemaker is to be asked alone.
    pub(super) fn poll_at(&self) -> Option<Time> {
        self.pacemaker.member?;
        if self.sent == self.pacemaker.asked_at && !self.blocked {
            return None;
        }
        let asked = self.pacemaker.asked.or(self.began)?;
        let much = self.sent - self.pacemaker.asked_at >= self.much();
        Some(asked + if much { Duration::ZERO } else { self.interval })
    }

    /// After so many octets it is asked although it was asked just now.
    fn much(&self) -> u64 {
        let eighth = self
            .buffer
            .map_or(MOST_UNASKED, |half| (half / 4).max(TRAIN * self.packet));
        eighth.min(MOST_UNASKED)
    }

    /// It reported without having been asked alone.
    pub(super) fn reported_unasked(&mut self, index: u32, now: Time) {
        if self.pacemaker.member == Some(index) {
            (self.pacemaker.asked, self.pacemaker.asked_at) = (Some(now), self.sent);
        }
    }

    pub(super) fn pacemaker(&self) -> Option<u32> {
        self.pacemaker.member
    }

    /// The pacemaker was asked. If it answered nothing since the question before, or nothing of the stream comes to it, another holder is
    /// to be asked as well; if that was so with the question before, it gives its place to one that was heard since. Says whom to ask.
    pub(super) fn polled(&mut self, members: &Members, now: Time) -> Option<u32> {
        (self.pacemaker.asked, self.pacemaker.asked_at) = (Some(now), self.sent);
        let unheard = self.unheard(now);
        // At the start questions follow one another so closely that a queue in the making delays the answers to several.
        let long = self.interval.max(INTERVAL);
        let deaf = self.pacemaker.deaf_since.map(|since| now.since(since));
        if unheard <= long && deaf.is_none() {
            return None;
        }
        let others = || {
            let holders = members.iter().filter(|(_, member)| member.is_holder());
            holders.filter(|(index, _)| Some(*index) != self.pacemaker.member)
        };
        let heard = now - unheard.max(deaf.unwrap_or_default());
        let alive = others().filter(|(_, member)| member.heard > heard && !member.hearing.is_deaf());
        if (unheard >= 2 * long || deaf >= Some(long))
            && let Some((index, member)) = alive.max_by_key(|(_, member)| member.heard)
        {
            let why = if deaf.is_some() { Why::Gone } else { Why::Unheard };
            self.switch(Some((index, member)), why, now);
            self.pacemaker.asked = None;
            return None;
        }
        // Each time another one: those that were heard as long ago may be gone, too.
        let last = self.pacemaker.stand_in;
        let next = others().find(|(index, _)| last.is_none_or(|last| *index > last));
        self.pacemaker.stand_in = next.or_else(|| others().next()).map(|(index, _)| index);
        self.pacemaker.stand_in
    }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
