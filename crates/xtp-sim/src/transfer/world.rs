//! The hosts of one transfer and the wire between them.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::group::{GroupClose, GroupEvent, GroupId, ReceiverOptions, Target};
use xtp_engine::{
    CloseReason, ContextId, Datagram, Driver, Ecn, Engine, EngineConfig, Event, ListenOptions, Outlet, Read,
    Time, TransmitBatch,
};
use xtp_wire::{Body, Format, Packet};

use super::{Transfer, TransferFigures, Way};

/// Number of the service that the stream goes to.
pub(super) const SERVICE: u16 = 7;
/// After this a transfer counts as hanging.
const LIMIT: Duration = Duration::from_secs(600);

/// Turns in one moment before that counts as standing still.
const MOST_STEPS: u32 = 20_000;

/// What a host takes part in.
enum Party {
    Group(GroupId),
    Stream(ContextId),
    Listening,
}

struct Host {
    engine: Driver,
    address: SocketAddr,
    party: Party,
    /// Whether its association has said that there is something to read, and nothing looked since.
    readable: bool,
}

#[derive(Default)]
struct Leaving(VecDeque<(SocketAddr, Vec<u8>)>);

impl Outlet for Leaving {
    fn send(&mut self, _now: Time, _engine: &mut Engine, out: &mut TransmitBatch) {
        out.for_each_datagram(|train, octets| self.0.push_back((train.dst, octets.to_vec())));
        out.clear();
    }
}

/// To which host, from where, to which address, and what.
type Copy = (usize, SocketAddr, SocketAddr, Vec<u8>);

pub(super) struct World {
    transfer: Transfer,
    now: Time,
    hosts: Vec<Host>,
    wire: BTreeMap<(Time, u64), Copy>,
    copies: u64,
    /// What is still to be written.
    left: usize,
    /// How many parties are over.
    over: usize,
    began: Option<Time>,
    newest: (u64, Time),
    figures: TransferFigures,
    /// The first thing that went wrong.
    failure: Option<String>,
}

fn group() -> SocketAddr {
    SocketAddr::from(([239, 0, 0, 1], 36_036))
}

/// Looks random, and is the same each time.
fn number(copy: u64) -> u64 {
    let mut number = copy.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        number = (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    number >> 33
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

impl World {
    pub(super) fn new(transfer: Transfer) -> Result<Self, String> {
        let now = Time::from_nanos(1_000_000_000);
        let hosts = (0..=transfer.receivers).map(|place| host(&transfer, now, place));
        Ok(Self {
            transfer,
            now,
            hosts: hosts.collect::<Result<_, _>>()?,
            wire: BTreeMap::new(),
            copies: 0,
            left: transfer.octets,
            over: 0,
            began: None,
            newest: (0, now),
            figures: TransferFigures::default(),
            failure: None,
        })
    }

    pub(super) fn run(mut self) -> Result<TransferFigures, String> {
        let end = self.now + LIMIT;
        let (mut moment, mut steps) = (self.now, 0);
        while self.over < self.hosts.len() && self.now < end {
            for place in 0..self.hosts.len() {
                self.turn(place)?;
            }
            if let Some(failure) = self.failure {
                return Err(failure);
            }
            let timers = self.hosts.iter().filter_map(|host| host.engine.deadline());
            let arrival = self.wire.keys().next().map(|(at, _)| *at);
            let Some(next) = timers.chain(arrival).min() else {
                break;
            };
            self.now = self.now.max(next);
            steps = if self.now == moment { steps + 1 } else { 0 };
            moment = self.now;
            if steps > MOST_STEPS {
                return Err("time stands still".to_owned());
            }
            self.arrivals();
        }
        if self.over < self.hosts.len() {
            return Err(format!("{} of {} parties are over", self.over, self.hosts.len()));
        }
        let began = self.began.ok_or("nothing left")?;
        let took = self.newest.1.since(began).as_secs_f64();
        Ok(TransferFigures {
            octets_per_second: self.transfer.octets as f64 / took.max(1e-9),
            ..self.figures
        })
    }

    fn arrivals(&mut self) {
        while let Some(entry) = self.wire.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, src, dst, data) = entry.remove();
            let datagram = Datagram {
                src,
                dst: Some(dst.ip()),
                ecn: Ecn::NotEct,
                data: &data,
                backing: None,
            };
            let host = &mut self.hosts[to];
            match dst == host.address {
                true => host.engine.command().receive(self.now, datagram),
                false => host.engine.command().receive_group(self.now, dst, datagram),
            }
        }
    }

    fn turn(&mut self, place: usize) -> Result<(), String> {
        if place == 0 {
            self.write()?;
        }
        let host = &mut self.hosts[place];
        let mut leaving = Leaving::default();
        host.engine.turn(self.now, &mut leaving);
        host.engine.tidy(self.now);
        let ended = host
            .events(self.now, place)
            .map_err(|what| format!("host {place}: {what}"))?;
        self.over += usize::from(ended);
        if place > 0 {
            host.read(self.now)?;
        }
        for (dst, octets) in leaving.0 {
            self.leave(place, dst, &octets);
        }
        Ok(())
    }

    /// The user of the transmitter writes whole messages as long as there is room for one.
    fn write(&mut self) -> Result<(), String> {
        let (host, now) = (&mut self.hosts[0], self.now);
        let was_left = self.left;
        while self.left > 0 && host.has_room()? {
            let message = Bytes::from(vec![self.left as u8; self.transfer.message.min(self.left)]);
            let length = message.len();
            let taken = match host.party {
                Party::Group(id) => host.engine.command().group_send(now, id, message, true),
                Party::Stream(id) => host.engine.command().send(now, id, message, true),
                Party::Listening => return Err("the transmitter listens".to_owned()),
            };
            let taken = taken.map_err(said)?;
            // What was taken of a message goes on with the next one: the end of a message less.
            self.left -= taken;
            if taken < length {
                break;
            }
        }
        if was_left > 0 && self.left == 0 {
            match host.party {
                Party::Group(id) => host.engine.command().group_finish(now, id),
                Party::Stream(id) => host.engine.command().close_writer(now, id),
                Party::Listening => Ok(()),
            }
            .map_err(said)?;
        }
        Ok(())
    }

    fn leave(&mut self, from: usize, dst: SocketAddr, octets: &[u8]) {
        let Packet { header, body, .. } = match Packet::parse(octets) {
            Ok(packet) => packet,
            Err(error) => {
                self.failure = Some(format!("host {from} sent what is no packet: {error}"));
                return;
            }
        };
        // A group is announced by FIRST without octets, while it sends, too.
        let carries = match body {
            Body::First(first) => !first.data.data.is_empty(),
            _ => matches!(header.format, Format::Data | Format::Xdata),
        };
        if from == 0 && carries && header.seq >= self.newest.0 {
            if self.began.is_some() {
                let pause = self.now.since(self.newest.1);
                self.figures.longest_pause = self.figures.longest_pause.max(pause);
            }
            self.began.get_or_insert(self.now);
            self.newest = (header.seq + 1, self.now);
        }
        if from > 0 && self.began.is_some() && header.format != Format::Jcntl {
            self.figures.control_packets += 1;
        }
        for to in 0..self.hosts.len() {
            if dst != group() && dst != self.hosts[to].address || to == from {
                continue;
            }
            self.copies += 1;
            if number(self.copies) % 1_000 >= self.transfer.lost {
                let entry = (to, self.hosts[from].address, dst, octets.to_vec());
                self.wire
                    .insert((self.now + self.transfer.delay, self.copies), entry);
            }
        }
    }
}

fn address(place: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, place as u8 + 1], 36_036))
}

/// The transmitter is at place 0.
fn host(transfer: &Transfer, now: Time, place: usize) -> Result<Host, String> {
    let config = EngineConfig::new([place as u8 + 1; 32]);
    let mut engine = Driver::new(Engine::new(config).map_err(said)?);
    let party = match (transfer.way, place) {
        (Way::Stream, 0) => engine
            .command()
            .open(now, address(1), transfer.open_options())
            .map(Party::Stream)
            .map_err(said)?,
        (Way::Stream, _) => {
            let mut listen = ListenOptions::streams(SERVICE);
            listen.tuning.recv_capacity = transfer.window;
            engine.command().listen(listen).map_err(said)?;
            Party::Listening
        }
        (_, 0) => engine
            .command()
            .cast(now, Target::Group(group()), transfer.cast_options())
            .map(Party::Group)
            .map_err(said)?,
        (_, _) => {
            let mut join = ReceiverOptions::default();
            join.group = Some(group());
            engine.command().join(now, join).map(Party::Group).map_err(said)?
        }
    };
    Ok(Host {
        engine,
        address: address(place),
        party,
        readable: false,
    })
}

impl Host {
    /// Whether its party ended just now, and well.
    fn events(&mut self, now: Time, place: usize) -> Result<bool, String> {
        let mut ended = false;
        while let Some((id, event)) = self.engine.poll_event() {
            match event {
                Event::Accepted { .. } if place > 0 => {
                    self.engine.command().accepted(id).map_err(said)?;
                    self.party = Party::Stream(id);
                    self.readable = true;
                    self.engine.command().close_writer(now, id).map_err(said)?;
                }
                Event::Readable => self.readable = true,
                Event::Closed(CloseReason::Normal) => ended = true,
                Event::Closed(other) => return Err(said(other)),
                _ => {}
            }
        }
        while let Some((_, event)) = self.engine.command().poll_group_event() {
            match event {
                GroupEvent::Closed(GroupClose::Normal) => ended = true,
                GroupEvent::Closed(other) => return Err(said(other)),
                _ => {}
            }
        }
        Ok(ended)
    }

    /// Whether it would take some of a message. An association that is asked in vain has something to do, and so no rest.
    fn has_room(&self) -> Result<bool, String> {
        match self.party {
            Party::Stream(id) => Ok(self
                .engine
                .view()
                .context(id)
                .map(|context| context.writable())
                .map_err(said)?
                > 0),
            Party::Group(_) | Party::Listening => Ok(true),
        }
    }

    /// The user takes what is there.
    fn read(&mut self, now: Time) -> Result<(), String> {
        loop {
            let read = match self.party {
                Party::Group(id) => self.engine.command().group_read(now, id, usize::MAX),
                Party::Stream(id) if self.readable => self.engine.command().read(now, id, usize::MAX),
                Party::Stream(_) | Party::Listening => return Ok(()),
            };
            if !matches!(read, Ok(Read::Data { .. } | Read::Tag { .. })) {
                self.readable = false;
                return Ok(());
            }
        }
    }
}
