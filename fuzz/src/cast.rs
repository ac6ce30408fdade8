//! One transmitter of a group and two receivers on a wire the input controls.

use crate::{Choices, Flight, PORT, mend, payload};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use xtp_engine::group::{
    BucketOptions, Cycle, Fec, GroupId, Mode, ReceiverOptions, Require, Slow, Target, TransmitterOptions,
};
use xtp_engine::{Confirm, Datagram, Driver, Ecn, Engine, EngineConfig, Outlet, Read, Time, TransmitBatch};
use xtp_wire::Packet;

/// Hosts: the transmitter, and the receivers.
const HOSTS: usize = 3;
/// Packets under way; more are dropped, as by a full queue.
const QUEUE: usize = 256;
/// Packets of one run; more are a storm.
const STORM: usize = 50_000;

/// What a turn sends.
#[derive(Default)]
struct Leaving(Vec<(SocketAddr, Ecn, Vec<u8>)>);

impl Outlet for Leaving {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        out.for_each_datagram(|train, octets| {
            let packet = Packet::parse(octets);
            assert!(packet.is_ok(), "an engine sent a malformed packet: {packet:?}");
            self.0.push((train.dst, train.ecn, octets.to_vec()));
        });
        out.clear();
    }
}

/// A packet under way, and whether it was sent to the group or to its receiver alone.
#[derive(Clone)]
struct Travelling {
    flight: Flight,
    to_group: bool,
}

/// The hosts, each with one party.
pub struct Cast {
    hosts: Vec<Driver>,
    parties: Vec<Option<GroupId>>,
    now: Time,
    wire: VecDeque<Travelling>,
    /// Members answer to the group, so the transmitter hears what is sent there.
    collects: bool,
    group: Option<SocketAddr>,
    sent: usize,
}

fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1 + host as u8], 36_036))
}

fn join_options(group: Option<SocketAddr>, kind: u8, host: usize) -> ReceiverOptions {
    let mut join = ReceiverOptions::default();
    join.group = group;
    join.service_number = PORT;
    if kind & 1 != 0 {
        join.name = format!("receiver {host}");
    }
    if kind & 2 != 0 {
        join.confirm = Confirm::Delivered;
    }
    if kind & 4 != 0 {
        join.capacity = 1 << 16;
    }
    join
}

/// What the transmitter is like; whether it sends one datagram and no stream.
fn cast_options(choices: &mut Choices<'_>) -> (TransmitterOptions, bool) {
    let (kind, more) = (choices.octet(), choices.octet());
    let mut cast = TransmitterOptions::default();
    cast.service_number = PORT;
    cast.wait = Duration::from_millis(100);
    cast.expect = (more & 1 != 0).then_some(2);
    cast.datagram = 576;
    cast.require = match kind & 3 {
        0 => Require::All,
        1 => Require::AnyOf(1),
        2 => Require::List(vec!["receiver 1".to_owned()]),
        _ => Require::Nobody,
    };
    cast.slow = [Slow::CatchUp, Slow::Wait, Slow::Drop, Slow::CatchUp][usize::from(kind >> 2 & 3)];
    cast.fec = (kind & 16 != 0).then_some(Fec {
        symbols: 4,
        rows: 8,
        proactive: kind >> 5 & 1,
    });
    if kind & 64 != 0 {
        cast.confirm = Confirm::Delivered;
    }
    if kind & 128 != 0 {
        cast.keep = 4_096;
    }
    if more & 2 != 0 {
        cast.window = 1 << 14;
    }
    if more & 4 != 0 {
        let more = choices.octet();
        cast.mode = Mode::Bucket(BucketOptions {
            buckets: 1 + more % 4,
            cycle: if more & 4 != 0 {
                Cycle::Message
            } else {
                Cycle::Timer
            },
            classic: more & 8 != 0,
            slotting: more & 16 == 0,
            damping: more & 32 == 0,
            go_back_n: more & 64 != 0,
        });
    }
    if more & 8 != 0 {
        cast.from_start = false;
    }
    (cast, more & 16 != 0)
}

impl Cast {
    /// A transmitter and receivers as the input wants them; who may not be what it wants is nobody.
    pub fn new(choices: &mut Choices<'_>) -> Self {
        let group = (choices.octet() & 1 == 0).then(|| SocketAddr::from(([239, 0, 0, 1], 36_036)));
        let engine = |host: u8| {
            let mut config = EngineConfig::new([host + 1; 32]);
            config.checksum_payload = false;
            Driver::new(Engine::new(config).expect("a valid configuration"))
        };
        let mut hosts: Vec<Driver> = (0..HOSTS as u8).map(engine).collect();
        let now = Time::from_nanos(1_000_000_000);
        let target = match group {
            Some(group) => Target::Group(group),
            None => Target::Each((1..HOSTS).map(address).collect()),
        };
        let (options, one_datagram) = cast_options(choices);
        let collects = matches!(options.mode, Mode::Bucket(_)) && group.is_some();
        let cast = match one_datagram {
            true => hosts[0]
                .command()
                .cast_datagram(now, target, options, payload(choices.octet().into())),
            false => hosts[0].command().cast(now, target, options),
        };
        let mut parties = vec![cast.ok()];
        for (host, engine) in hosts.iter_mut().enumerate().skip(1) {
            let kind = choices.octet();
            // One that comes late joins when its user is chosen.
            let joined = (kind & 8 == 0).then(|| engine.command().join(now, join_options(group, kind, host)));
            parties.push(joined.and_then(Result::ok));
        }
        Self {
            hosts,
            parties,
            now,
            wire: VecDeque::new(),
            collects,
            group,
            sent: 0,
        }
    }

    /// One choice of the input: what a user does, what the network does, or what somebody else does.
    pub fn step(&mut self, choices: &mut Choices<'_>) {
        let at = choices.index(self.wire.len().max(1));
        match choices.octet() % 16 {
            0 => self.write(choices),
            1 => self.finish(choices),
            2 | 3 => self.settle(1 + choices.index(16)),
            4 => self.now = self.now + Duration::from_nanos(choices.number() % (1 << 36)),
            5 => self.sleep(),
            6 => drop(self.wire.remove(at)),
            7 => self.inject(choices),
            8 => self.receive_users(choices),
            kind => {
                if let Some(travelling) = self.wire.get(at).cloned() {
                    self.arrive(travelling, at, kind, choices);
                }
            }
        }
    }

    fn write(&mut self, choices: &mut Choices<'_>) {
        let Some(id) = self.parties[0] else { return };
        let (now, kind) = (self.now, choices.octet());
        if kind & 1 != 0 {
            let _ = self.hosts[0].command().group_tag(now, id, choices.number());
        }
        let octets = payload(usize::from(choices.word()) % 8_192);
        let _ = self.hosts[0].command().group_send(now, id, octets, kind & 2 != 0);
    }

    fn finish(&mut self, choices: &mut Choices<'_>) {
        let Some(id) = self.parties[0] else { return };
        match choices.octet() % 4 {
            0 => {
                let _ = self.hosts[0].command().group_release(self.now, id);
                self.parties[0] = None;
            }
            1 => drop(self.hosts[0].command().group_members(self.now, id)),
            _ => drop(self.hosts[0].command().group_finish(self.now, id)),
        }
    }

    fn receive_users(&mut self, choices: &mut Choices<'_>) {
        let host = 1 + choices.index(HOSTS - 1);
        let Some(id) = self.parties[host] else {
            let options = join_options(self.group, choices.octet(), host);
            self.parties[host] = self.hosts[host].command().join(self.now, options).ok();
            return;
        };
        let engine = &mut self.hosts[host];
        match choices.octet() % 8 {
            0 => drop(engine.command().group_reject(self.now, id, "no room")),
            1 => {
                let _ = engine.command().group_release(self.now, id);
                self.parties[host] = None;
            }
            2 => drop(engine.command().group_confirm(self.now, id)),
            _ => drop(
                engine
                    .command()
                    .group_read(self.now, id, usize::from(choices.word())),
            ),
        }
    }

    /// Octets of the attacker's own making.
    fn inject(&mut self, choices: &mut Choices<'_>) {
        let (to, from) = (choices.index(HOSTS), choices.octet());
        let mut octets = choices.octets(128).to_vec();
        mend(&mut octets);
        self.deliver(&Travelling {
            to_group: from & 0x80 != 0 || to > 0 && !is_returned(&octets),
            flight: Flight {
                to,
                src: address(usize::from(from) % HOSTS),
                ecn: Ecn::NotEct,
                octets,
            },
        });
    }

    /// A packet under way arrives: out of order, twice, elsewhere, from elsewhere, or damaged.
    fn arrive(&mut self, mut travelling: Travelling, at: usize, kind: u8, choices: &mut Choices<'_>) {
        let flight = &mut travelling.flight;
        match kind {
            9 | 10 => drop(self.wire.remove(at)),
            11 => flight.src = address(choices.index(HOSTS)),
            12 => flight.to = choices.index(HOSTS),
            13 => {
                flight.octets.truncate(usize::from(choices.word()));
                mend(&mut flight.octets);
            }
            _ => {
                for _ in 0..=choices.index(4) {
                    let (place, value) = (usize::from(choices.octet()), choices.octet());
                    // The first 128 octets hold everything but data.
                    if let Some(octet) = flight.octets.get_mut(place % 128) {
                        *octet = value;
                    }
                }
                mend(&mut flight.octets);
            }
        }
        self.deliver(&travelling);
    }

    fn deliver(&mut self, travelling: &Travelling) {
        let flight = &travelling.flight;
        let datagram = Datagram {
            src: flight.src,
            dst: None,
            ecn: flight.ecn,
            data: &flight.octets,
            backing: None,
        };
        let host = &mut self.hosts[flight.to];
        match self.group {
            Some(group) if travelling.to_group => host.command().receive_group(self.now, group, datagram),
            _ => host.command().receive(self.now, datagram),
        }
        self.turn(flight.to);
    }

    fn turn(&mut self, from: usize) {
        let mut leaving = Leaving::default();
        self.hosts[from].turn(self.now, &mut leaving);
        while self.hosts[from].poll_event().is_some() {}
        while self.hosts[from].command().poll_group_event().is_some() {}
        for (dst, ecn, octets) in leaving.0 {
            self.sent += 1;
            assert!(self.sent < STORM, "a storm of packets");
            let to_group = Some(dst) == self.group;
            let hears = |to: &usize| to_group && (*to > 0 || self.collects) || dst == address(*to);
            for to in (0..HOSTS).filter(hears) {
                if self.wire.len() < QUEUE {
                    self.wire.push_back(Travelling {
                        to_group,
                        flight: Flight {
                            to,
                            src: address(from),
                            ecn,
                            octets: octets.clone(),
                        },
                    });
                }
            }
        }
    }

    /// Everything arrives, and what that causes, for some rounds; receivers read what there is.
    pub fn settle(&mut self, rounds: usize) {
        for _ in 0..rounds {
            (0..HOSTS).for_each(|host| self.turn(host));
            if self.wire.is_empty() {
                return;
            }
            self.now = self.now + Duration::from_millis(1);
            for travelling in std::mem::take(&mut self.wire) {
                self.deliver(&travelling);
            }
            for host in 1..HOSTS {
                let Some(id) = self.parties[host] else { continue };
                while let Ok(Read::Data { .. } | Read::Tag { .. }) =
                    self.hosts[host].command().group_read(self.now, id, 1 << 20)
                {}
            }
        }
    }

    /// Moves the clock to the next moment an engine waits for.
    pub fn sleep(&mut self) {
        let next = self.hosts.iter().filter_map(Driver::deadline).min();
        self.now = self.now.max(next.unwrap_or(self.now));
    }

    /// The transmitter's user has nothing more to send.
    pub fn end(&mut self) {
        if let Some(id) = self.parties[0] {
            let _ = self.hosts[0].command().group_finish(self.now, id);
        }
    }
}

/// Whether the key of a packet is its receiver's.
fn is_returned(octets: &[u8]) -> bool {
    octets.first().is_some_and(|first| first & 0x80 != 0)
}
