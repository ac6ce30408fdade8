//! Hosts with a mesh each, and a network between them that delays, loses and repeats.

#![allow(dead_code, reason = "each test uses a part of it")]

use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;
use xtp_engine::{Datagram, Driver, Ecn, Engine, EngineConfig, Outlet, Time, TransmitBatch};
use xtp_mesh::{Mesh, MeshCompletion, MeshOptions, PeerNumber};

pub(crate) const MS: Duration = Duration::from_millis(1);
/// Of the network, one way.
const DELAY: Duration = Duration::from_micros(500);

/// What leaves a host.
#[derive(Default)]
struct Outbox(Vec<(SocketAddr, Vec<u8>)>);

impl Outlet for Outbox {
    fn send(&mut self, _: Time, _: &mut Engine, out: &mut TransmitBatch) {
        out.for_each_datagram(|train, octets| self.0.push((train.dst, octets.to_vec())));
        *out = TransmitBatch::new();
    }
}

/// What is over, with the memory as it came.
pub(crate) type Done = MeshCompletion<Vec<u8>>;

pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) driver: Driver,
    pub(crate) mesh: Mesh<Vec<u8>>,
    pub(crate) done: Vec<Done>,
    /// It neither reads nor runs timers.
    pub(crate) paused: bool,
    inbox: Vec<(SocketAddr, Vec<u8>)>,
    /// Datagrams it sent.
    pub(crate) sent: usize,
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) hosts: Vec<Host>,
    options: MeshOptions,
    lives: u8,
    /// By arrival; a number keeps what arrives together in order.
    flying: BTreeMap<(Time, u64), (SocketAddr, SocketAddr, Vec<u8>)>,
    count: u64,
    /// What this host opens without knowing the session of its peer is late.
    pub(crate) delays_opening: Option<usize>,
    held: Vec<(SocketAddr, SocketAddr, Vec<u8>)>,
    /// Datagrams of a hundred that are lost.
    pub(crate) loss: u64,
    /// Pairs of hosts between which nothing comes through, by direction.
    pub(crate) cut: BTreeSet<(usize, usize)>,
    draw: u64,
    /// Octets that a host's link carries in a millisecond, and when it is free; beyond 5 ms of it packets are lost.
    pub(crate) rate: Option<u64>,
    free: BTreeMap<usize, Time>,
}

pub(crate) fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host as u8 + 1], 36_036))
}

impl World {
    pub(crate) fn new(count: usize) -> Self {
        Self::with(count, MeshOptions::default())
    }

    pub(crate) fn with(count: usize, options: MeshOptions) -> Self {
        let mut world = Self {
            now: Time::ZERO + Duration::from_secs(1),
            hosts: Vec::new(),
            options,
            lives: 0,
            flying: BTreeMap::new(),
            count: 0,
            delays_opening: None,
            held: Vec::new(),
            loss: 0,
            cut: BTreeSet::new(),
            draw: 1,
            rate: None,
            free: BTreeMap::new(),
        };
        for number in 0..count {
            let host = world.life(number);
            world.hosts.push(host);
        }
        world
    }

    /// A program that begins at a host's address.
    fn life(&mut self, number: usize) -> Host {
        self.lives += 1;
        let mut config = EngineConfig::new([self.lives; 32]);
        config.own_addresses = vec![address(number).ip()];
        let mut driver = Driver::new(Engine::new(config).unwrap());
        let mesh = Mesh::new(&mut driver, self.options.clone(), u64::from(self.lives)).unwrap();
        Host {
            address: address(number),
            driver,
            mesh,
            done: Vec::new(),
            paused: false,
            inbox: Vec::new(),
            sent: 0,
        }
    }

    /// The program at a host is killed and begun again, without a packet that says so.
    pub(crate) fn restart(&mut self, number: usize) {
        self.hosts[number] = self.life(number);
    }

    /// What was held arrives.
    pub(crate) fn release_held(&mut self) {
        self.delays_opening = None;
        for flying in core::mem::take(&mut self.held) {
            self.count += 1;
            self.flying.insert((self.now, self.count), flying);
        }
    }

    pub(crate) fn peer(&mut self, host: usize, other: usize) -> PeerNumber {
        self.hosts[host].mesh.peer(address(other)).unwrap()
    }

    pub(crate) fn send(&mut self, from: usize, to: usize, tag: u64, octets: &[u8], token: u64) {
        let peer = self.peer(from, to);
        let octets = Bytes::copy_from_slice(octets);
        self.hosts[from].mesh.send(peer, tag, 0, octets, token).unwrap();
    }

    /// Runs until `until`, or until nothing is left to do.
    pub(crate) fn run_until(&mut self, until: Time) {
        loop {
            (0..self.hosts.len()).for_each(|host| self.turn(host));
            let next = self.next();
            match next {
                Some(at) if at <= until => self.now = self.now.max(at),
                _ => break,
            }
            self.deliver();
        }
        self.now = self.now.max(until);
    }

    pub(crate) fn run(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    /// Runs until `done` holds of the world, at most this long.
    pub(crate) fn until(&mut self, most: Duration, done: impl Fn(&Self) -> bool) {
        let end = self.now + most;
        while !done(self) {
            assert!(self.now < end, "not done within {most:?}: {}", self.told());
            self.run(MS);
        }
    }

    /// What hosts have been told, for failures.
    fn told(&self) -> String {
        let hosts = self.hosts.iter().enumerate();
        hosts
            .map(|(number, host)| {
                format!(
                    "\n{number}: {} over, {:?}",
                    host.done.len(),
                    host.done.last().map(shortly)
                )
            })
            .collect()
    }

    fn next(&self) -> Option<Time> {
        let flying = self.flying.keys().next().map(|(at, _)| *at);
        let hosts = self.hosts.iter().filter(|host| !host.paused);
        let due = hosts.filter_map(|host| match host.mesh.is_pressing() || !host.inbox.is_empty() {
            true => Some(self.now),
            false => [host.driver.deadline(), host.mesh.deadline()]
                .into_iter()
                .flatten()
                .min(),
        });
        due.chain(flying).min()
    }

    fn deliver(&mut self) {
        while let Some(entry) = self.flying.first_entry()
            && entry.key().0 <= self.now
        {
            let (src, dst, octets) = entry.remove();
            if let Some(host) = self.hosts.iter_mut().find(|host| host.address == dst) {
                host.inbox.push((src, octets));
            }
        }
    }

    fn turn(&mut self, number: usize) {
        let now = self.now;
        let host = &mut self.hosts[number];
        if host.paused {
            return;
        }
        for (src, octets) in core::mem::take(&mut host.inbox) {
            let data = Bytes::from(octets);
            host.driver.command().receive(
                now,
                Datagram {
                    src,
                    dst: None,
                    ecn: Ecn::Ect0,
                    data: &data,
                    backing: Some(&data),
                },
            );
        }
        let mut outbox = Outbox::default();
        for _ in 0..2 {
            host.events(now);
            host.mesh.turn(now, &mut host.driver);
            host.driver.turn(now, &mut outbox);
        }
        host.events(now);
        while !host.driver.release_detached(now).is_empty() {
            host.driver.turn(now, &mut outbox);
            host.events(now);
        }
        host.driver.tidy(now);
        while let Some(done) = host.mesh.poll() {
            host.done.push(done);
        }
        host.sent += outbox.0.len();
        let src = host.address;
        for (dst, octets) in outbox.0 {
            let to = self.hosts.iter().position(|host| host.address == dst);
            let is_cut = to.is_none_or(|to| self.cut.contains(&(number, to)));
            self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if is_cut || octets.len() > 1_472 || (self.draw >> 33) % 100 < self.loss {
                continue;
            }
            if self.delays_opening == Some(number) && opens_to_any(&octets) {
                self.held.push((src, dst, octets));
                continue;
            }
            let mut leaves = now;
            if let Some(rate) = self.rate {
                let free = self.free.entry(number).or_insert(now);
                leaves = (*free).max(now) + MS.mul_f64(octets.len() as f64 / rate as f64);
                if leaves.since(now) > 5 * MS {
                    continue;
                }
                *free = leaves;
            }
            self.count += 1;
            self.flying
                .insert((leaves + DELAY, self.count), (src, dst, octets));
        }
    }
}

/// Whether there is a preface in a packet that believes no session.
fn opens_to_any(octets: &[u8]) -> bool {
    let mut places = octets.windows(32).filter(|place| place.starts_with(b"XTPM"));
    places.any(|preface| preface[16..24] == [0; 8])
}

impl Host {
    fn events(&mut self, now: Time) {
        while let Some((id, event)) = self.driver.poll_event() {
            self.mesh.event(now, &mut self.driver, id, &event);
        }
    }

    /// Messages that were received, oldest first: token and octets.
    pub(crate) fn received(&self) -> Vec<(u64, Vec<u8>)> {
        let all = self.done.iter().filter_map(|done| match done {
            MeshCompletion::Received {
                token,
                memory,
                outcome: Ok(arrival),
            } => Some((*token, memory[..arrival.taken as usize].to_vec())),
            _ => None,
        });
        all.collect()
    }

    /// Tokens of messages that were sent.
    pub(crate) fn told_sent(&self) -> Vec<u64> {
        let all = self.done.iter().filter_map(|done| match done {
            MeshCompletion::Sent {
                token,
                outcome: Ok(()),
            } => Some(*token),
            _ => None,
        });
        all.collect()
    }
}

/// A completion without its octets.
pub(crate) fn shortly(done: &Done) -> String {
    match done {
        MeshCompletion::Received { token, outcome, .. } => format!("received {token}: {outcome:?}"),
        other => format!("{other:?}"),
    }
}
