//! A real transmitter and so many receivers that only their feedback is played.
//!
//! Each of them is what decides what comes to the transmitter: which symbols of which block it has, what it was told, and
//! the delays that the engine's own [`Feedback`] gives it. They read nothing and decode nothing.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::group::{
    CastStats, Fec, Feedback, GroupClose, GroupEvent, GroupId, Target, TransmitterOptions,
};
use xtp_engine::{Datagram, Driver, Ecn, Engine, EngineConfig, Rate, Time, TransmitBatch};
use xtp_wire::{Body, Packet, ToGroup, ToMember};

use super::throng_receiver::{Act, LightReceiver, Said};
use super::world::{group_address, transmitter_address};
use crate::content;
use crate::rng::Rng;

/// One way, to and from everybody.
const DELAY: u64 = 5_000_000;
const SECOND: u64 = 1_000_000_000;

/// What is played.
#[derive(Clone, Copy, Debug)]
pub struct Throng {
    /// How many receivers.
    pub receivers: usize,
    /// Share of the group's packets that each of them loses by itself.
    pub loss: f64,
    /// Blocks that are sent.
    pub blocks: u32,
    /// Symbols of a block.
    pub symbols: u8,
    /// Whether the transmitter is told how many there are.
    pub told: bool,
    /// Most that leaves, octets a second.
    pub rate: u64,
    /// Decides the losses and delays.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct ThrongFigures {
    /// Most joins within a second.
    pub joins: usize,
    /// Most answers to polls, needs and third steps of joins within a second.
    pub answers: usize,
    /// Most packets within a second that said for the first time that all is there.
    pub confirmations: usize,
    /// Most packets of all kinds within a second.
    pub packets: usize,
    /// Needs told unasked, a block.
    pub needs_a_block: f64,
    /// Needs told unasked of the block with the most.
    pub most_needs: u32,
    /// Packets that came to the transmitter.
    pub feedback: u64,
    /// How it ended, and after how long.
    pub closed: Option<(Duration, GroupClose)>,
    /// Members that the transmitter knows to be done.
    pub done: usize,
    /// Counters of the transmitter.
    pub stats: CastStats,
}

enum Happening {
    Group(Bytes),
    Transmitter(usize, Bytes),
    Receiver(usize, Bytes),
    Act(usize, Act),
}

struct Play {
    now: u64,
    rng: Rng,
    lost: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    next: u64,
    receivers: Vec<LightReceiver>,
    times: BTreeMap<Said, Vec<u64>>,
    all: Vec<u64>,
    needs: BTreeMap<u32, u32>,
}

/// Address of receiver `number`.
fn receiver_address(number: usize) -> SocketAddr {
    let [_, high, middle, low] = (number as u32 + 1).to_be_bytes();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, high + 1, middle, low)), 40_000)
}

fn receiver_of(address: SocketAddr) -> Option<usize> {
    match address.ip() {
        IpAddr::V4(ip) => match ip.octets() {
            [10, high, middle, low] => {
                let number = u32::from_be_bytes([0, high.checked_sub(1)?, middle, low]);
                usize::try_from(number).ok()?.checked_sub(1)
            }
            _ => None,
        },
        IpAddr::V6(_) => None,
    }
}

impl Throng {
    fn options(&self) -> TransmitterOptions {
        let mut options = TransmitterOptions::default();
        options.expect = self.told.then_some(self.receivers as u32);
        options.wait = Duration::from_secs(if self.told { 60 } else { 15 });
        options.fec = Some(Fec {
            symbols: self.symbols,
            rows: self.symbols,
            proactive: 0,
        });
        options.rate = Rate {
            octets_per_second: self.rate,
            burst: 24_000,
        };
        options.send_capacity = 1 << 40;
        options
    }

    /// Plays it until the transmitter ends, or for five minutes of its time.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn play(&self) -> Result<ThrongFigures, String> {
        let mut rng = Rng::new(self.seed, 70);
        let engine = Engine::new(EngineConfig::new(rng.entropy())).map_err(|error| error.to_string())?;
        let mut driver = Driver::new(engine);
        let options = self.options();
        let symbol = options.datagram as u64 - 32 - 24;
        let octets = u64::from(self.blocks) * u64::from(self.symbols) * symbol;
        let id = driver
            .command()
            .cast(Time::ZERO, Target::Group(group_address()), options)
            .map_err(|error| error.to_string())?;
        let key = rng.number();
        let all = content::make(key, 0, octets as usize);
        let sent = driver
            .command()
            .group_send(Time::ZERO, id, all, true)
            .map_err(|error| error.to_string())?;
        if sent as u64 != octets {
            return Err(format!("{sent} of {octets} octets were taken"));
        }
        driver
            .command()
            .group_finish(Time::ZERO, id)
            .map_err(|error| error.to_string())?;
        let receivers = (0..self.receivers)
            .map(|_| LightReceiver::new(rng.number() >> 1, self.blocks, self.symbols, symbol))
            .collect();
        let mut play = Play {
            now: 0,
            lost: (self.loss * u64::MAX as f64) as u64,
            rng,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            next: 0,
            receivers,
            times: BTreeMap::new(),
            all: Vec::new(),
            needs: BTreeMap::new(),
        };
        let closed = play.run(&mut driver, id);
        play.figures(self, &mut driver, id, closed)
    }
}

impl Play {
    fn at(&mut self, at: u64, what: Happening) {
        self.next += 1;
        self.queue.push(Reverse((at, self.next)));
        self.happenings.insert(self.next, what);
    }

    fn run(&mut self, driver: &mut Driver, id: GroupId) -> Option<(Duration, GroupClose)> {
        while self.now < 300 * SECOND {
            self.turn(driver);
            while let Some((of, event)) = driver.command().poll_group_event() {
                if let GroupEvent::Closed(why) = event
                    && of == id
                {
                    return Some((Duration::from_nanos(self.now), why));
                }
            }
            let timer = driver.deadline().map_or(u64::MAX, |at| at.as_nanos());
            let queued = self.queue.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
            let next = timer.min(queued);
            if next == u64::MAX {
                return None;
            }
            self.now = self.now.max(next);
            while let Some(&Reverse((at, number))) = self.queue.peek()
                && at <= self.now
            {
                self.queue.pop();
                if let Some(what) = self.happenings.remove(&number) {
                    self.happen(driver, what);
                }
            }
        }
        None
    }

    fn turn(&mut self, driver: &mut Driver) {
        let mut batch = TransmitBatch::new();
        let now = Time::from_nanos(self.now);
        driver.command().flush(now, &mut batch);
        let mut leaving = Vec::new();
        batch.for_each_datagram(|train, octets| leaving.push((train.dst, Bytes::copy_from_slice(octets))));
        for (dst, octets) in leaving {
            let what = match receiver_of(dst) {
                _ if dst == group_address() => Happening::Group(octets),
                Some(number) => Happening::Receiver(number, octets),
                None => continue,
            };
            self.at(self.now + DELAY, what);
        }
    }

    fn happen(&mut self, driver: &mut Driver, what: Happening) {
        match what {
            Happening::Group(octets) => self.group(&octets),
            Happening::Receiver(number, octets) => {
                if self.rng.number() >= self.lost {
                    self.unicast(number, &octets);
                }
            }
            Happening::Transmitter(number, octets) => {
                let datagram = Datagram {
                    src: receiver_address(number),
                    dst: Some(transmitter_address().ip()),
                    ecn: Ecn::NotEct,
                    data: &octets,
                    backing: None,
                };
                driver.command().receive(Time::from_nanos(self.now), datagram);
            }
            Happening::Act(number, act) => self.act(number, act),
        }
    }

    /// A packet to the group, for each that does not lose it.
    fn group(&mut self, octets: &Bytes) {
        let Ok(packet) = Packet::parse(octets) else {
            return;
        };
        let Ok(said) = ToGroup::of(&packet) else {
            return;
        };
        let now = Time::from_nanos(self.now);
        for number in 0..self.receivers.len() {
            if self.rng.number() < self.lost {
                continue;
            }
            let random = self.rng.number();
            let wanted = self.receivers[number].hear(now, &packet.header, &said, random);
            for (after, act) in wanted {
                self.at(self.now + after.as_nanos() as u64, Happening::Act(number, act));
            }
        }
    }

    fn unicast(&mut self, number: usize, octets: &Bytes) {
        let Ok(packet) = Packet::parse(octets) else {
            return;
        };
        if let Body::Jcntl { .. } = packet.body
            && let Ok(ToMember::Answer { xkey, .. }) = ToMember::of(&packet)
        {
            self.receivers[number].joined(xkey, packet.header.sync);
            self.act(number, Act::Third);
        }
    }

    fn act(&mut self, number: usize, act: Act) {
        let now = Time::from_nanos(self.now);
        let random = self.rng.number();
        let receiver = &mut self.receivers[number];
        let (said, again) = receiver.act(now, act, random);
        if let Some((after, act)) = again {
            self.at(self.now + after.as_nanos() as u64, Happening::Act(number, act));
        }
        for (said, blocks, octets) in said {
            self.times.entry(said).or_default().push(self.now);
            self.all.push(self.now);
            for block in blocks {
                *self.needs.entry(block).or_default() += 1;
            }
            if self.rng.number() >= self.lost {
                self.at(self.now + DELAY, Happening::Transmitter(number, octets));
            }
        }
    }

    fn figures(
        mut self,
        throng: &Throng,
        driver: &mut Driver,
        id: GroupId,
        closed: Option<(Duration, GroupClose)>,
    ) -> Result<ThrongFigures, String> {
        let now = Time::from_nanos(self.now);
        let members = driver
            .command()
            .group_members(now, id)
            .map_err(|error| error.to_string())?;
        let is_done = |state| matches!(state, xtp_engine::group::MemberState::Done(_));
        let mut of = |said: &[Said]| {
            let mut times: Vec<u64> = said
                .iter()
                .filter_map(|said| self.times.remove(said))
                .flatten()
                .collect();
            busiest(&mut times)
        };
        let answers = of(&[Said::Answer, Said::Third, Said::Need]);
        Ok(ThrongFigures {
            joins: of(&[Said::Join]),
            answers,
            confirmations: of(&[Said::Complete]),
            packets: busiest(&mut self.all),
            needs_a_block: f64::from(self.needs.values().sum::<u32>()) / f64::from(throng.blocks),
            most_needs: self.needs.values().max().copied().unwrap_or(0),
            feedback: self.all.len() as u64,
            done: members.iter().filter(|member| is_done(member.state)).count(),
            stats: driver
                .command()
                .cast_stats(now, id)
                .map_err(|error| error.to_string())?,
            closed,
        })
    }
}

/// Most of these times within a second.
fn busiest(times: &mut [u64]) -> usize {
    times.sort_unstable();
    let mut from = 0;
    let mut most = 0;
    for (place, &at) in times.iter().enumerate() {
        while times[from] + SECOND <= at {
            from += 1;
        }
        most = most.max(place + 1 - from);
    }
    most
}

/// What a receiver knows before it was told.
pub(super) const fn nothing_told() -> Feedback {
    Feedback {
        size: 1_024,
        rate: 2_000,
        round_trip: Duration::from_millis(100),
        hold: Duration::from_millis(100),
    }
}
