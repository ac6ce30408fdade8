//! What an observer sees while a group runs, and the rules that hold at every moment.

use std::collections::{BTreeMap, VecDeque};

use xtp_wire::{Body, Format, GroupTerms, Header, Options, Packet, Traffic};

use super::liar;
use super::member::Receiving;
use super::network::Travelling;
use super::plan::{CastPlan, Target};
use super::requests::Requests;
use super::sender::Sending;
use super::world::{GroupWorld, group_address, receiver_at};
use crate::check::stream::Promise;

/// One second, nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// A repair that left longer after what was before it did not wait for its turn, nanoseconds.
const LONGEST_TURN: u64 = SECOND / 10;
/// Packets for one receiver alone and for the group that are no data, within a second: announcements and polls, of which
/// the quickest leave every 5 ms, rows announced, and what each member is told (§9.4).
const CONTROL_A_SECOND: usize = 260;

/// Data that left for the first time.
#[derive(Clone, Copy, Debug)]
pub struct FirstCopy {
    /// Its position.
    pub seq: u64,
    /// Octets of sequence space.
    pub len: u64,
    /// Receivers it was lost on the way to, or that had said that they have no room for it, a bit each.
    pub lost: u64,
}

/// How the stream is coded, as the transmitter announced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// Octets of a block.
    pub block: u64,
    /// Octets of a symbol.
    pub symbol: u64,
}

/// What was seen.
pub struct Watch {
    /// Data that left for the first time.
    pub firsts: Vec<FirstCopy>,
    /// How the stream is coded, if it is.
    pub coding: Option<Coding>,
    /// Packets to the group that are neither data nor parity.
    pub control: u64,
    /// Data that left again, and parity.
    pub repairs: u64,
    /// Data that left for the first time.
    pub data: u64,
    /// Their octets, those of symbols.
    pub repaired: u64,
    /// How long repairs kept new data waiting, nanoseconds.
    pub repairing: u64,
    /// Packets of data for each of which one without may leave besides: a message is at least one (§9.17).
    data_a_question: usize,
    /// When something of the stream left last.
    last: u64,
    /// Datagrams that receivers sent.
    pub answers: u64,
    /// The most that came to the transmitter within a second.
    pub busiest: usize,
    /// Option bits seen.
    pub options: u32,
    /// What was asked for, and what is sent again.
    requests: Requests,
    /// Every packet, if wanted.
    pub trace: Option<Vec<String>>,
    limit: usize,
    recent: VecDeque<u64>,
    control_recent: VecDeque<u64>,
    /// Members that are told something: a liar is one.
    told: usize,
    /// Rows that left beside a liar: one that asks for a row each millisecond has each announced.
    announced: u64,
    /// Number of a packet and its place in `firsts`.
    places: BTreeMap<u64, usize>,
    number: u64,
    farthest: u64,
    members: usize,
    /// Up to where each receiver said that it has room: who is left behind is sent more, and throws it away.
    rooms: Vec<Option<u64>>,
    last_group: Option<(Vec<u8>, u64)>,
}

impl Watch {
    /// An observer of `plan`.
    pub fn new(plan: &CastPlan) -> Self {
        let members = plan.members.len();
        Self {
            firsts: Vec::new(),
            coding: None,
            control: 0,
            repairs: 0,
            repaired: 0,
            data: 0,
            repairing: 0,
            last: 0,
            answers: 0,
            busiest: 0,
            options: 0,
            requests: Requests::new(plan.goes_back()),
            trace: None,
            // Answers to polls and needs each fill the rate at most; small groups answer at once (§9.13).
            limit: 2 * plan.options.feedback_rate as usize + 40 * members.min(16) + 8 * members,
            recent: VecDeque::new(),
            announced: 0,
            data_a_question: if plan.asks_behind_messages() { 1 } else { 4 },
            told: members + usize::from(plan.liar.is_some()),
            control_recent: VecDeque::new(),
            places: BTreeMap::new(),
            number: 0,
            farthest: 0,
            members,
            rooms: vec![None; members],
            last_group: None,
        }
    }

    /// A datagram of the transmitter departs; the number by which its losses are noted.
    ///
    /// # Errors
    /// It is not well-formed, or there are too many.
    pub fn departs(&mut self, now: u64, datagram: &Travelling, target: Target) -> Result<u64, String> {
        let packet = Packet::parse(&datagram.data)
            .map_err(|error| format!("the transmitter sent a malformed packet: {error}"))?;
        self.note(now, "T", datagram, &packet);
        let to_group = datagram.dst == group_address()
            || target == Target::Each
                && !packet.header.key.is_returned()
                && packet.header.format != Format::Diag;
        if datagram.dst == liar::address() {
            // What a liar is answered is counted beside what it says.
            return Ok(0);
        }
        if !to_group {
            // Catch-ups are associations as any other.
            if packet.header.options.contains(Options::MULTI) {
                self.count_control(now)?;
            }
            return Ok(0);
        }
        // The copies of one packet follow each other.
        if target == Target::Each
            && let Some((octets, number)) = &self.last_group
            && octets[..] == datagram.data[..]
        {
            return Ok(*number);
        }
        self.number += 1;
        if target == Target::Each {
            self.last_group = Some((datagram.data.to_vec(), self.number));
        }
        let is_of_stream = matches!(packet.body, Body::Data(_) | Body::Parity(_));
        match &packet.body {
            Body::Data(data) => {
                let len = data.data.len() as u64 + if data.tag.is_some() { 8 } else { 0 };
                let seq = packet.header.seq;
                if seq >= self.farthest {
                    self.farthest = seq + len;
                    self.places.insert(self.number, self.firsts.len());
                    let lost = self.without_room(seq + len);
                    self.firsts.push(FirstCopy { seq, len, lost });
                    self.data += 1;
                    self.requests.sent(seq, seq + len, packet.header.sync);
                } else {
                    self.repair(now, len);
                    let coding = self.coding;
                    let blocks = coding.map(|coding| [seq, seq + len - 1].map(|at| at / coding.block));
                    self.requests
                        .again((seq, seq + len), packet.header.sync, blocks)?;
                }
            }
            Body::Parity(parity) => {
                self.announced += (self.told - self.members) as u64;
                let unasked = parity.flags & xtp_wire::Parity::PROACTIVE != 0;
                let coding = self.coding.ok_or("parity, and nobody said how it is coded")?;
                self.repair(now, coding.symbol);
                self.requests
                    .row(packet.header.seq / coding.block, packet.header.sync, unasked)?;
            }
            Body::First(first) => {
                self.count_control(now)?;
                let Traffic::Extended(traffic) = first.traffic else {
                    return Err("an announcement without terms".to_owned());
                };
                let terms = GroupTerms::read(traffic.tlvs).map_err(|error| error.to_string())?;
                self.coding = self.coding.or(terms.fec.map(|fec| Coding {
                    block: u64::from(fec.k) * u64::from(fec.symbol_len),
                    symbol: fec.symbol_len.into(),
                }));
            }
            _ => self.count_control(now)?,
        }
        if is_of_stream {
            self.last = now;
        }
        Ok(self.number)
    }

    /// Something leaves again: it took its turn since what left before it.
    fn repair(&mut self, now: u64, octets: u64) {
        self.repairs += 1;
        self.repaired += octets;
        self.repairing += (now - self.last).min(LONGEST_TURN);
    }

    /// The receivers that have no room up to there, by what they said, a bit each.
    fn without_room(&self, past: u64) -> u64 {
        let full = |room: &Option<u64>| room.is_some_and(|room| room < past);
        let bits = self
            .rooms
            .iter()
            .enumerate()
            .map(|(member, room)| u64::from(full(room)) << member);
        bits.sum()
    }

    fn count_control(&mut self, now: u64) -> Result<(), String> {
        self.control += 1;
        self.control_recent.push_back(now);
        while self.control_recent.front().is_some_and(|&at| at + SECOND < now) {
            self.control_recent.pop_front();
        }
        // Rows are announced, and in buckets each repair that is asked for answers a question.
        let sent = self.data as usize / self.data_a_question + self.repairs as usize / 2;
        let most = CONTROL_A_SECOND + 24 * self.told + sent + self.announced as usize;
        match self.control_recent.len() > most {
            true => Err(format!(
                "{} packets without data within a second for {} members",
                self.control_recent.len(),
                self.members
            )),
            false => Ok(()),
        }
    }

    /// A copy of a packet to the group will not reach this receiver.
    pub fn lost(&mut self, number: u64, member: usize) {
        if let Some(&place) = self.places.get(&number) {
            self.firsts[place].lost |= 1 << member;
        }
    }

    /// A datagram of a receiver departs.
    ///
    /// # Errors
    /// It is not well-formed.
    pub fn answers(&mut self, now: u64, member: usize, datagram: &Travelling) -> Result<(), String> {
        let packet =
            Packet::parse(&datagram.data).map_err(|error| format!("sent a malformed packet: {error}"))?;
        self.answers += 1;
        self.note(now, &format!("R{member}"), datagram, &packet);
        Ok(())
    }

    /// A datagram of a receiver reaches the bridge on its way to the transmitter.
    ///
    /// # Errors
    /// That is more than the transmitter takes.
    pub fn feedback(&mut self, now: u64, datagram: &Travelling) -> Result<(), String> {
        let header = Header::parse(&datagram.data).map_err(|error| error.to_string())?;
        if !header.options.contains(Options::MULTI) {
            return Ok(());
        }
        self.recent.push_back(now);
        while self.recent.front().is_some_and(|&at| at + SECOND < now) {
            self.recent.pop_front();
        }
        self.busiest = self.busiest.max(self.recent.len());
        match self.recent.len() > self.limit {
            true => Err(format!(
                "{} packets of {} receivers came to the transmitter within a second",
                self.recent.len(),
                self.members
            )),
            false => Ok(()),
        }
    }

    /// A datagram of a receiver reached the transmitter's socket.
    pub fn reported(&mut self, datagram: &Travelling) {
        if let Ok(packet) = Packet::parse(&datagram.data)
            && packet.header.options.contains(Options::MULTI)
            && packet.header.key.is_returned()
        {
            self.requests.reported(&packet);
            let room = receiver_at(datagram.src).and_then(|member| self.rooms.get_mut(member));
            if let (Some(room), Some(alloc)) = (room, alloc(&packet.body)) {
                *room = (*room).max(Some(alloc));
            }
        }
    }

    /// The transmitter keeps to what its user allowed.
    ///
    /// # Errors
    /// It holds more.
    pub fn sender_stores(&mut self, sender: &mut Sending, _now: u64) -> Result<(), String> {
        if sender.closed.is_some() {
            return Ok(());
        }
        let stats = sender
            .machine
            .driver
            .command()
            .cast_stats(xtp_engine::Time::ZERO, sender.id)
            .map_err(|error| format!("no counters: {error}"))?;
        sender.stats = stats;
        if stats.acknowledged > stats.position || stats.position > sender.ledger.written {
            return Err(format!(
                "acknowledged {} of {} sent of {} written",
                stats.acknowledged, stats.position, sender.ledger.written
            ));
        }
        Ok(())
    }

    /// A receiver keeps to what its user allowed.
    ///
    /// # Errors
    /// It holds more.
    pub fn receiver_stores(&self, receiving: &mut Receiving) -> Result<(), String> {
        receiving.measure()?;
        if receiving.check.promise() == Promise::Gaps {
            // What can be read includes gaps, which hold nothing.
            return Ok(());
        }
        if receiving.begins_anywhere && receiving.check.next == 0 {
            // Where its stream begins is seen when something of it is read.
            return Ok(());
        }
        let held = receiving.now.had.saturating_sub(receiving.now.read);
        let capacity = receiving.plan.join.capacity;
        match held > capacity {
            true => Err(format!("holds {held} octets with a capacity of {capacity}")),
            false => Ok(()),
        }
    }

    fn note(&mut self, now: u64, who: &str, datagram: &Travelling, packet: &Packet<'_>) {
        self.options |= packet.header.options.bits();
        if let Some(trace) = &mut self.trace {
            let header = &packet.header;
            let options: Vec<_> = [
                (Options::SREQ, "SREQ"),
                (Options::EOM, "EOM"),
                (Options::BTAG, "BTAG"),
                (Options::WCLOSE, "WCLOSE"),
                (Options::RCLOSE, "RCLOSE"),
                (Options::END, "END"),
                (Options::NOERR, "NOERR"),
                (Options::MULTI, "MULTI"),
            ]
            .into_iter()
            .filter(|(bit, _)| header.options.contains(*bit))
            .map(|(_, name)| name)
            .collect();
            trace.push(format!(
                "{:>12.6} {who:>4} > {} {:?} key {:x} sync {} seq {} {{{}}} {}",
                now as f64 / 1e9,
                datagram.dst,
                header.format,
                header.key.value() & 0xffff,
                header.sync,
                header.seq,
                options.join(" "),
                body(&packet.body)
            ));
        }
    }
}

/// Up to where a receiver's packet says that it has room.
fn alloc(body: &Body<'_>) -> Option<u64> {
    match body {
        Body::Cntl(control) | Body::Ecntl { control, .. } | Body::Jcntl { control, .. } => {
            Some(control.alloc)
        }
        Body::Xcntl(xcntl) => Some(xcntl.control.alloc),
        Body::Gnack(gnack) => Some(gnack.control.alloc),
        _ => None,
    }
}

/// What matters of a body.
fn body(body: &Body<'_>) -> String {
    match body {
        Body::Data(data) => format!("{} octets", data.data.len()),
        Body::First(first) => format!("{} octets", first.data.data.len()),
        Body::Parity(parity) => format!("row {} of {}, last {}", parity.row, parity.k, parity.flags),
        Body::Cntl(control) => format!("{control:?}"),
        Body::Ecntl { control, spans } => format!("{control:?} {spans:?}"),
        Body::Xcntl(xcntl) => format!("{xcntl:?}"),
        Body::Gnack(gnack) => format!("{gnack:?}"),
        Body::Diag(diag) => format!("{diag:?}"),
        Body::Jcntl { control, xkey, .. } => format!("{control:?} xkey {:x}", xkey & 0xffff),
        _ => String::new(),
    }
}

impl GroupWorld {
    /// What the transmitter was told is true at the moment it is told.
    pub(super) fn judge_news(&mut self) {
        for event in self.sender.take_news() {
            if let xtp_engine::group::GroupEvent::Done(member) = event
                && let Err(what) = self.judge_done(member)
            {
                self.fail(&what);
            }
        }
    }

    /// What is wrong with that news.
    #[cfg(test)]
    pub(super) fn news_of(&mut self, news: &[xtp_engine::group::GroupEvent]) -> Option<String> {
        let mut results = news.iter().map(|event| match event {
            xtp_engine::group::GroupEvent::Done(member) => self.judge_done(*member).err(),
            _ => None,
        });
        results.find_map(|wrong| wrong)
    }

    /// Whoever is done has everything, and where it was asked its user has had it.
    fn judge_done(&mut self, id: xtp_engine::group::MemberId) -> Result<(), String> {
        let now = xtp_engine::Time::ZERO;
        let reports = self
            .sender
            .machine
            .driver
            .command()
            .group_members(now, self.sender.id);
        let reports = reports.map_err(|error| format!("no report: {error}"))?;
        let report = reports.iter().find(|report| report.member == id);
        let report = report.ok_or_else(|| format!("{id:?} is done, and in no report"))?;
        // What a liar says of itself is believed, to nobody's cost (§9.18).
        if report.address == liar::address() {
            return Ok(());
        }
        let written = self.sender.ledger.written;
        if !self.sender.ledger.closed {
            return Err(format!("{id:?} is done before the stream is"));
        }
        let receiving = receiver_at(report.address)
            .and_then(|member| self.members.get_mut(member))
            .ok_or_else(|| format!("{id:?} at {} is nobody", report.address))?;
        receiving.measure()?;
        let confirms = receiving.plan.join.confirm;
        let instance = receiving
            .instance(report.address, written)
            .ok_or_else(|| format!("{id:?} at {} never was", report.address))?;
        if instance.had != written {
            return Err(format!(
                "{id:?} ({}) is said to be done and has {} of {written}",
                report.name, instance.had
            ));
        }
        let own = instance.address == receiving.machine.address;
        let asked = self.plan.options.confirm == xtp_engine::Confirm::Delivered;
        // A program may confirm before it has read all. What it said may be read when the next one has its address.
        let read = match core::ptr::eq(instance, &raw const receiving.now) {
            true => receiving.check.next,
            false => instance.read,
        };
        // Where its stream begins is seen when something of it is read: one that came last has nothing to read.
        let begins_unseen = receiving.begins_anywhere && read == 0;
        if own && asked && !instance.confirmed && read != written && !begins_unseen {
            return Err(format!(
                "{id:?} is said to be done and its user has read {read} of {written}"
            ));
        }
        if confirms == xtp_engine::Confirm::Delivered && !instance.confirmed {
            return Err(format!(
                "{id:?} is said to be done and its user has not confirmed"
            ));
        }
        // Who confirms what was received may still reject what it reads.
        if instance.rejected && confirms == xtp_engine::Confirm::Delivered {
            return Err(format!("{id:?} is said to be done and its user has rejected"));
        }
        Ok(())
    }
}
