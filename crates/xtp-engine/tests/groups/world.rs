//! Hosts on one wire, on which a test decides the fate of every copy of every packet.

use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use xtp_engine::group::{
    GroupClose, GroupEvent, GroupId, HistoryItem, MemberReport, MemberState, Mode, ReceiverOptions, Target,
    TransmitterOptions,
};
use xtp_engine::{Datagram, Driver, Engine, EngineConfig, HistoryWish, Outlet, Read, Time, TransmitBatch};
use xtp_wire::{Format, Packet};

/// How long a packet is under way.
pub(crate) const DELAY: Duration = Duration::from_millis(1);
/// When a world that is not over is given up.
const LIMIT: Duration = Duration::from_secs(120);
/// Packets before that counts as a storm.
const STORM: usize = 20_000;
/// Steps within one moment before that counts as standing still.
const STANDSTILL: usize = 1_000;

/// One copy of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    /// Who sent it.
    pub(crate) from: usize,
    /// Whom this copy is for.
    pub(crate) to: usize,
    /// The how-manieth packet of its sender, from 0; the copies of one packet have the same number.
    pub(crate) packet: usize,
    /// The how-manieth copy of all, from 0.
    pub(crate) copy: usize,
    /// What it is.
    pub(crate) format: Format,
    /// To a group.
    pub(crate) multicast: bool,
}

/// What becomes of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It does not arrive.
    Lost,
    /// It arrives so long after it was sent.
    After(Duration),
}

/// It arrives as usual.
pub(crate) const ARRIVES: Fate = Fate::After(DELAY);

/// A packet that left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    pub(crate) src: SocketAddr,
    pub(crate) dst: SocketAddr,
    pub(crate) octets: Vec<u8>,
}

/// A party and what its user knows of it.
#[derive(Debug, Default)]
pub(crate) struct Party {
    /// What was read.
    pub(crate) octets: Vec<u8>,
    /// Where messages ended.
    pub(crate) ends: Vec<usize>,
    /// Tags, by where they stood.
    pub(crate) tags: Vec<(usize, u64)>,
    /// The end of the stream was read.
    pub(crate) ended: bool,
    /// What it was told.
    pub(crate) events: Vec<GroupEvent>,
    /// When it was told that it has everything, and that it is over.
    pub(crate) complete_at: Option<Time>,
    pub(crate) closed_at: Option<Time>,
}

impl Party {
    fn told(&mut self, event: GroupEvent, now: Time) {
        match &event {
            GroupEvent::Complete => self.complete_at = Some(now),
            GroupEvent::Closed(_) => self.closed_at = Some(now),
            _ => {}
        }
        self.events.push(event);
    }

    /// How it ended.
    pub(crate) fn closed(&self) -> Option<&GroupClose> {
        self.events.iter().find_map(|event| match event {
            GroupEvent::Closed(why) => Some(why),
            _ => None,
        })
    }
}

struct Host {
    engine: Driver,
    address: SocketAddr,
    groups: BTreeSet<SocketAddr>,
    parties: BTreeMap<GroupId, Party>,
    readers: Vec<GroupId>,
    sent: usize,
}

/// What a turn sends.
#[derive(Default)]
struct Leaving(VecDeque<(SocketAddr, Vec<u8>)>);

impl Outlet for Leaving {
    fn send(&mut self, _now: Time, _engine: &mut Engine, out: &mut TransmitBatch) {
        out.for_each_datagram(|train, octets| self.0.push_back((train.dst, octets.to_vec())));
        out.clear();
    }
}

type Judge<'a> = Box<dyn FnMut(&Copy) -> Fate + 'a>;

/// What the user of a transmitter gives back of its past.
type History<'a> = Box<dyn FnMut(u64, usize) -> Option<HistoryItem> + 'a>;

/// A packet on its way: to which host, from where, to where, and its octets.
type Travelling = (usize, SocketAddr, SocketAddr, Vec<u8>);

/// Hosts, a wire, and time.
pub(crate) struct World<'a> {
    /// Time since it began.
    pub(crate) now: Time,
    /// Packets that left, by the host that sent them and their format.
    pub(crate) counts: BTreeMap<(usize, u8), usize>,
    /// Every packet that left, where that is to be known.
    pub(crate) tap: Option<Vec<Sent>>,
    hosts: Vec<Host>,
    wire: BTreeMap<(Time, usize), Travelling>,
    copies: usize,
    packets: usize,
    /// Steps within this moment.
    steps: usize,
    judge: Judge<'a>,
    history: Option<History<'a>>,
    /// What a transmitter's user was asked for that says nothing.
    pub(crate) unanswered: Option<HistoryWish>,
}

/// A group's address.
pub(crate) fn group(number: u8) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 0, 0, number)), 36_036)
}

/// A host's address.
pub(crate) fn address(host: usize) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host as u8 + 1)), 36_036)
}

impl<'a> World<'a> {
    /// So many hosts; `judge` is asked about every copy.
    pub(crate) fn new(hosts: usize, judge: impl FnMut(&Copy) -> Fate + 'a) -> Self {
        Self::with(hosts, |_| {}, judge)
    }

    /// The same of engines whose configurations `change` changes.
    pub(crate) fn with(
        hosts: usize,
        change: impl Fn(&mut EngineConfig),
        judge: impl FnMut(&Copy) -> Fate + 'a,
    ) -> Self {
        let engine = |number: usize| {
            let mut config = EngineConfig::new([number as u8 + 1; 32]);
            change(&mut config);
            Driver::new(Engine::new(config).unwrap())
        };
        let host = |number: usize| Host {
            engine: engine(number),
            address: address(number),
            groups: BTreeSet::new(),
            parties: BTreeMap::new(),
            readers: Vec::new(),
            sent: 0,
        };
        Self {
            now: Time::from_nanos(1_000_000_000),
            counts: BTreeMap::new(),
            tap: None,
            hosts: (0..hosts).map(host).collect(),
            wire: BTreeMap::new(),
            copies: 0,
            packets: 0,
            steps: 0,
            judge: Box::new(judge),
            history: None,
            unanswered: None,
        }
    }

    /// Transmitters' users have the past of their streams.
    pub(crate) fn remember(&mut self, history: impl FnMut(u64, usize) -> Option<HistoryItem> + 'a) {
        self.history = Some(Box::new(history));
    }

    /// A transmitter on `host`.
    pub(crate) fn cast(&mut self, host: usize, target: Target, options: TransmitterOptions) -> GroupId {
        let host = &mut self.hosts[host];
        if let (Target::Group(group), Mode::Bucket(_)) = (&target, options.mode) {
            // Its members answer to the group.
            host.groups.insert(*group);
        }
        let id = host.engine.command().cast(self.now, target, options).unwrap();
        host.parties.insert(id, Party::default());
        id
    }

    /// A transmitter of one datagram on `host`.
    pub(crate) fn datagram(
        &mut self,
        host: usize,
        target: Target,
        options: TransmitterOptions,
        data: Bytes,
    ) -> GroupId {
        let host = &mut self.hosts[host];
        let id = host
            .engine
            .command()
            .cast_datagram(self.now, target, options, data)
            .unwrap();
        host.parties.insert(id, Party::default());
        id
    }

    /// A receiver on `host`.
    pub(crate) fn join(&mut self, host: usize, options: ReceiverOptions) -> GroupId {
        let host = &mut self.hosts[host];
        host.groups.extend(options.group);
        let id = host.engine.command().join(self.now, options).unwrap();
        host.parties.insert(id, Party::default());
        host.readers.push(id);
        id
    }

    /// A listener on `host`: what it hears is read.
    pub(crate) fn listen(&mut self, host: usize, options: ReceiverOptions) -> GroupId {
        let host = &mut self.hosts[host];
        host.groups.extend(options.group);
        let id = host.engine.command().listen_group(self.now, options).unwrap();
        host.parties.insert(id, Party::default());
        id
    }

    /// The receivers of a listener, oldest first.
    pub(crate) fn heard(&self, host: usize, listener: GroupId) -> Vec<GroupId> {
        let events = self.party(host, listener).events.iter();
        events
            .filter_map(|event| match event {
                GroupEvent::Heard(receiver) => Some(*receiver),
                _ => None,
            })
            .collect()
    }

    /// The engine of `host`, for commands.
    pub(crate) fn engine(&mut self, host: usize) -> &mut Engine {
        self.hosts[host].engine.command()
    }

    /// The same behind its driver.
    pub(crate) fn driver(&mut self, host: usize) -> &mut Driver {
        &mut self.hosts[host].engine
    }

    /// Associations of `host` that are not over.
    pub(crate) fn associations(&self, host: usize) -> u64 {
        let stores = self.hosts[host].engine.view().stores();
        let contexts = stores.iter().find(|store| store.name == "contexts");
        contexts.expect("a store of every engine").held
    }

    /// A party of `host`.
    pub(crate) fn party(&self, host: usize, id: GroupId) -> &Party {
        &self.hosts[host].parties[&id]
    }

    /// What a transmitter says of its members.
    pub(crate) fn members(&mut self, host: usize, id: GroupId) -> Vec<MemberReport> {
        self.hosts[host]
            .engine
            .command()
            .group_members(self.now, id)
            .unwrap()
    }

    /// Writes a whole message.
    pub(crate) fn write(&mut self, host: usize, id: GroupId, message: &[u8], eom: bool) {
        let data = Bytes::copy_from_slice(message);
        let engine = &mut self.hosts[host].engine;
        let taken = engine.command().group_send(self.now, id, data, eom).unwrap();
        assert_eq!(taken, message.len(), "a small message is taken whole");
    }

    /// A user lets go of a party.
    pub(crate) fn release(&mut self, host: usize, id: GroupId) {
        self.rest(host, id);
        self.hosts[host]
            .engine
            .command()
            .group_release(self.now, id)
            .unwrap();
    }

    /// A user reads nothing any more.
    pub(crate) fn rest(&mut self, host: usize, id: GroupId) {
        self.hosts[host].readers.retain(|reader| *reader != id);
    }

    /// It reads again.
    pub(crate) fn read_on(&mut self, host: usize, id: GroupId) {
        self.hosts[host].readers.push(id);
    }

    /// A datagram arrives now at the host, or the group, that has the address `dst`; nobody here need have sent it.
    pub(crate) fn inject(&mut self, src: SocketAddr, dst: SocketAddr, octets: &[u8]) {
        for to in 0..self.hosts.len() {
            if self.hosts[to].address == dst || self.hosts[to].groups.contains(&dst) {
                self.arrive(to, src, dst, octets);
            }
        }
    }

    /// The same at one of the hosts only.
    pub(crate) fn inject_at(&mut self, to: usize, src: SocketAddr, dst: SocketAddr, octets: &[u8]) {
        self.arrive(to, src, dst, octets);
    }

    /// Runs until every party is over; whether all are.
    pub(crate) fn run(&mut self) -> bool {
        let end = self.now + LIMIT;
        loop {
            // What came last may have ended the last party: it is over now, and not at the next timer.
            (0..self.hosts.len()).for_each(|host| self.turn(host));
            if self.is_over() || !self.step(end) {
                return self.is_over();
            }
        }
    }

    /// Runs for so long.
    pub(crate) fn run_for(&mut self, span: Duration) {
        let end = self.now + span;
        while self.step(end) {}
        self.now = end;
    }

    pub(crate) fn is_over(&self) -> bool {
        let mut parties = self.hosts.iter().flat_map(|host| host.parties.values());
        parties.all(|party| party.closed().is_some())
    }

    /// Goes on to the next moment; false if there is none before `end`.
    fn step(&mut self, end: Time) -> bool {
        for host in 0..self.hosts.len() {
            self.turn(host);
        }
        let timers = self.hosts.iter().filter_map(|host| host.engine.deadline());
        let arrival = self.wire.keys().next().map(|(at, _)| *at);
        let Some(next) = timers.chain(arrival).min().filter(|&at| at <= end) else {
            return false;
        };
        self.steps = if next > self.now { 0 } else { self.steps + 1 };
        assert!(self.steps < STANDSTILL, "time stands still at {:?}", self.now);
        self.now = self.now.max(next);
        while let Some(entry) = self.wire.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (to, src, dst, data) = entry.remove();
            self.arrive(to, src, dst, &data);
        }
        true
    }

    fn arrive(&mut self, to: usize, src: SocketAddr, dst: SocketAddr, data: &[u8]) {
        let datagram = Datagram {
            src,
            dst: Some(dst.ip()),
            ecn: xtp_engine::Ecn::NotEct,
            data,
            backing: None,
        };
        let host = &mut self.hosts[to];
        if dst == host.address {
            host.engine.command().receive(self.now, datagram);
        } else {
            host.engine.command().receive_group(self.now, dst, datagram);
        }
    }

    fn turn(&mut self, number: usize) {
        self.hear(number);
        let host = &mut self.hosts[number];
        let mut leaving = Leaving::default();
        host.engine.turn(self.now, &mut leaving);
        while host.engine.poll_event().is_some() {}
        while let Some(wish) = host.engine.poll_history() {
            match self.history.as_mut() {
                Some(history) => {
                    let item = history(wish.from(), wish.most());
                    host.engine.history(&wish, item);
                }
                None => self.unanswered = Some(wish),
            }
        }
        for (dst, octets) in leaving.0 {
            self.leave(number, dst, &octets);
        }
        self.hear(number);
    }

    fn leave(&mut self, from: usize, dst: SocketAddr, octets: &[u8]) {
        let format = Packet::parse(octets).expect("well-formed").header.format;
        *self.counts.entry((from, format as u8)).or_default() += 1;
        let (src, packet) = (self.hosts[from].address, self.hosts[from].sent);
        self.hosts[from].sent += 1;
        self.packets += 1;
        if let Some(tap) = &mut self.tap {
            let octets = octets.to_vec();
            tap.push(Sent {
                at: self.now,
                src,
                dst,
                octets,
            });
        }
        assert!(self.packets < STORM, "a storm of packets");
        for to in 0..self.hosts.len() {
            let multicast = self.hosts[to].groups.contains(&dst);
            if self.hosts[to].address != dst && !multicast {
                continue;
            }
            let copy = Copy {
                from,
                to,
                packet,
                copy: self.copies,
                format,
                multicast,
            };
            self.copies += 1;
            if let Fate::After(span) = (self.judge)(&copy) {
                let place = (self.now + span, self.copies);
                self.wire.insert(place, (to, src, dst, octets.to_vec()));
            }
        }
    }

    /// Users hear what there is to hear, and read what there is to read.
    fn hear(&mut self, number: usize) {
        let now = self.now;
        let host = &mut self.hosts[number];
        while let Some((id, event)) = host.engine.command().poll_group_event() {
            if let GroupEvent::Heard(receiver) = event {
                host.parties.insert(receiver, Party::default());
                host.readers.push(receiver);
            }
            host.parties.get_mut(&id).expect("a known party").told(event, now);
        }
        for id in &host.readers {
            let party = host.parties.get_mut(id).expect("a known party");
            loop {
                match host
                    .engine
                    .command()
                    .group_read(now, *id, usize::MAX)
                    .expect("a receiver")
                {
                    Read::Data { offset, bytes, eom } => {
                        let before = party.octets.len() + 8 * party.tags.len();
                        assert_eq!(offset, before as u64, "octets in order");
                        party.octets.extend_from_slice(&bytes);
                        if eom {
                            party.ends.push(party.octets.len());
                        }
                    }
                    Read::Tag { tag, .. } => party.tags.push((party.octets.len(), tag)),
                    Read::Gap { .. } => panic!("a gap in a reliable stream"),
                    Read::Pending => break,
                    Read::End => {
                        party.ended = true;
                        break;
                    }
                }
            }
        }
    }
}

/// Whether a report says that the member has everything.
pub(crate) fn is_done(report: &MemberReport) -> bool {
    matches!(report.state, MemberState::Done(_))
}
