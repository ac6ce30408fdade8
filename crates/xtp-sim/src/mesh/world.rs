//! The world of one mesh: hosts with a program each, and the bridge between them.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use bytes::Bytes;
use xtp_engine::{Driver, EngineConfig, Time};
use xtp_mesh::{From, Mesh, MeshCompletion, MeshOptions, PeerNumber, ReceiveId, Tags};

use super::liar::Liar;
use super::oracle::Oracle;
use super::plan::{MeshPlan, Mishap, Moment, SECOND};
use crate::cast::{Bridge, Machine, Travelling};
use crate::clock::Clock;
use crate::rng::Rng;

/// Packets after which something is wrong.
const PACKET_LIMIT: u64 = 20_000_000;
/// How long the world runs on when all that was planned has happened: a peer that was away is tried every few seconds.
const REST: Moment = 60 * SECOND;
/// Longest, if something is still under way.
const LONGEST_REST: Moment = 900 * SECOND;

struct Host {
    machine: Machine,
    /// `None` while its program is killed.
    mesh: Option<Mesh<Vec<u8>>>,
    /// Mishaps of each kind that hold.
    pauses: u32,
    kills: u32,
    cuts_out: u32,
    cuts_in: u32,
    /// Its program leaves.
    leaves: bool,
    /// Posted receives by number.
    posted: BTreeMap<usize, ReceiveId>,
}

/// Something that happens at a moment.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Send(usize),
    Post(usize),
    Cancel(usize),
    Begins(usize),
    Ends(usize),
}

pub(super) struct MeshWorld {
    plan: MeshPlan,
    pub(super) now: Moment,
    hosts: Vec<Host>,
    pub(super) bridge: Bridge,
    pub(super) oracle: Oracle,
    pub(super) failure: Option<String>,
    happenings: BTreeMap<(Moment, usize), Happening>,
    rng: Rng,
    lives: u8,
    liar: Option<Liar>,
}

pub(super) fn address(host: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 1, host as u8 + 1], 36_036))
}

impl MeshWorld {
    pub(super) fn new(plan: MeshPlan, seed: u64) -> Result<Self, String> {
        let mut rng = Rng::new(seed, 404);
        let all = plan.hosts + usize::from(plan.liar);
        let links = vec![(plan.link.clone(), plan.link.clone()); all];
        let bridge = Bridge::new(&links, rng.number()).map_err(|error| error.to_string())?;
        let mut world = Self {
            oracle: Oracle::new(&plan),
            liar: None,
            plan,
            now: 0,
            hosts: Vec::new(),
            bridge,
            failure: None,
            happenings: BTreeMap::new(),
            rng,
            lives: 0,
        };
        for number in 0..world.plan.hosts {
            let (machine, mesh) = world.life(number)?;
            world.hosts.push(Host {
                machine,
                mesh: Some(mesh),
                pauses: 0,
                kills: 0,
                cuts_out: 0,
                cuts_in: 0,
                leaves: false,
                posted: BTreeMap::new(),
            });
        }
        if world.plan.liar {
            let number = world.plan.hosts;
            let machine = world.machine(number)?;
            world.liar = Some(Liar::new(machine, number, seed));
        }
        world.schedule();
        Ok(world)
    }

    fn machine(&mut self, number: usize) -> Result<Machine, String> {
        self.lives += 1;
        let mut config = EngineConfig::new(self.rng.entropy());
        config.own_addresses = vec![address(number).ip()];
        config.utc_offset_ms = 1_790_000_000_000 + (self.now / 1_000_000) as i64;
        let look = self.rng.pick(&[0, 0, 1_000_000]);
        Machine::new(config, address(number), Clock::default(), 4 << 20, look)
            .map_err(|error| error.to_string())
    }

    /// A program that begins.
    fn life(&mut self, number: usize) -> Result<(Machine, Mesh<Vec<u8>>), String> {
        let mut machine = self.machine(number)?;
        let mut options = MeshOptions::default();
        options.patience = std::time::Duration::from_secs(3_000);
        let mut mesh =
            Mesh::new(&mut machine.driver, options, self.rng.number()).map_err(|error| error.to_string())?;
        // Numbers of peers are those of the hosts; its own is 0, so that others are one higher.
        for other in 0..self.plan.hosts {
            mesh.peer(address(other)).map_err(|error| error.to_string())?;
        }
        Ok((machine, mesh))
    }

    fn schedule(&mut self) {
        let mut all = Vec::new();
        for (number, send) in self.plan.sends.iter().enumerate() {
            all.push((send.at, Happening::Send(number)));
        }
        for (number, receive) in self.plan.receives.iter().enumerate() {
            all.push((receive.at, Happening::Post(number)));
            if let Some(after) = receive.cancelled {
                all.push((receive.at + after, Happening::Cancel(number)));
            }
        }
        for (number, mishap) in self.plan.mishaps.iter().enumerate() {
            all.push((mishap.at, Happening::Begins(number)));
            all.push((mishap.until, Happening::Ends(number)));
        }
        for (order, (at, happening)) in all.into_iter().enumerate() {
            self.happenings.insert((at, order), happening);
        }
    }

    /// Runs until all is over, or nothing comes of it.
    pub(super) fn settle(&mut self) {
        let end = self.plan.end();
        while self.failure.is_none() {
            let next = self.next();
            let idle = self.oracle.is_settled();
            let limit = end + if idle { REST } else { LONGEST_REST };
            match next {
                Some(at) if at <= limit => self.now = self.now.max(at),
                _ => break,
            }
            self.step();
            if self.bridge.sent > PACKET_LIMIT {
                self.failure = Some("more packets than anything explains".to_owned());
            }
        }
        if self.failure.is_none() {
            self.failure = self.oracle.judge().err();
        }
    }

    fn next(&self) -> Option<Moment> {
        let happening = self.happenings.keys().next().map(|(at, _)| *at);
        let runs = self.hosts.iter().filter(|host| host.runs());
        let wake = runs.map(|host| host.machine.wake).min();
        let liar = self.liar.as_ref().map(Liar::wake);
        let all = [happening, wake, self.bridge.next(), liar];
        all.into_iter().flatten().filter(|at| *at != Moment::MAX).min()
    }

    fn step(&mut self) {
        while let Some(entry) = self.happenings.first_entry()
            && entry.key().0 <= self.now
        {
            let happening = entry.remove();
            self.happen(happening);
        }
        self.carry();
        for number in 0..self.hosts.len() {
            if self.hosts[number].runs() && self.hosts[number].machine.wake <= self.now {
                self.turn(number);
            }
        }
        if let Some(liar) = &mut self.liar
            && liar.wake() <= self.now
        {
            let (now, host) = (self.now, liar.host);
            let mut left = Vec::new();
            liar.turn(now, |datagram| left.push(datagram));
            for datagram in left {
                self.bridge.send(now, host, datagram);
            }
        }
    }

    /// Datagrams move.
    fn carry(&mut self) {
        while let Some((to, datagram)) = self.bridge.receive(self.now) {
            let Some(host) = to else {
                let own = (0..self.hosts.len() + 1).find(|host| address(*host) == datagram.dst);
                if let Some(host) =
                    own.filter(|host| *host < self.hosts.len() + usize::from(self.liar.is_some()))
                {
                    self.bridge.forward(self.now, host, datagram);
                }
                continue;
            };
            match (self.hosts.get_mut(host), &mut self.liar) {
                (Some(host), _) if host.cuts_in > 0 || host.mesh.is_none() => {}
                (Some(host), _) => _ = host.machine.deliver(datagram),
                (None, Some(liar)) => liar.deliver(datagram),
                (None, None) => {}
            }
        }
    }

    /// A host's program runs.
    fn turn(&mut self, number: usize) {
        let (now, host) = (self.now, &mut self.hosts[number]);
        let Some(mesh) = &mut host.mesh else { return };
        let local = host.machine.local(now);
        host.machine.take_input(now, SocketAddr::from(([0, 0, 0, 0], 0)));
        let mut left: Vec<Travelling> = Vec::new();
        for _ in 0..3 {
            let machine = &mut host.machine;
            events(&mut machine.driver, mesh, local);
            mesh.turn(local, &mut machine.driver);
            machine.turn_with(
                now,
                |driver| events(driver, mesh, local),
                |datagram| left.push(datagram),
            );
            if !mesh.is_pressing() {
                break;
            }
        }
        while let Some(done) = mesh.poll() {
            if let Err(what) = self.oracle.note(now, number, done) {
                self.failure.get_or_insert(what);
            }
        }
        if mesh.is_gone() {
            // What left last still travels.
            host.end();
            self.oracle.gone(number);
            return self.send(number, left);
        }
        let (_, held) = mesh.unexpected();
        if held > (64 << 10) * (self.plan.hosts as u64 + 1) + self.oracle.own_octets(number) {
            self.failure.get_or_insert(format!(
                "host {number} holds {held} octets of unexpected messages"
            ));
        }
        let user = match mesh.is_pressing() {
            true => now,
            false => mesh.deadline().map_or(Moment::MAX, Time::as_nanos),
        };
        host.machine.plan(user);
        self.send(number, left);
    }

    /// What left a host goes on its way.
    fn send(&mut self, number: usize, left: Vec<Travelling>) {
        if self.hosts[number].cuts_out == 0 {
            for datagram in left {
                self.bridge.send(self.now, number, datagram);
            }
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Send(number) => {
                let send = &self.plan.sends[number];
                let (from, to) = (send.from, send.to);
                let peer = peer_number(from, to);
                let octets = Bytes::from(self.oracle.content(number));
                let tag = send.tag;
                let host = &mut self.hosts[from];
                let Some(mesh) = host.mesh.as_mut().filter(|_| !host.leaves) else {
                    return;
                };
                self.oracle.sent(number);
                let Ok(peer) = peer.map_or(Ok(PeerNumber::OWN), |other| mesh.peer(address(other))) else {
                    return;
                };
                if let Err(error) = mesh.send(peer, tag, number as u64, octets, number as u64) {
                    self.failure.get_or_insert(error.to_string());
                }
                self.wake(from);
            }
            Happening::Post(number) => self.post(number),
            Happening::Cancel(number) => {
                let host = self.plan.receives[number].host;
                let known = self.hosts[host].posted.get(&number).copied();
                if let (Some(id), Some(mesh)) = (known, &mut self.hosts[host].mesh)
                    && mesh.cancel(id).is_some()
                {
                    self.oracle.cancelled(number);
                }
            }
            Happening::Begins(number) => self.begins(number),
            Happening::Ends(number) => self.ends(number),
        }
    }

    fn post(&mut self, number: usize) {
        let receive = self.plan.receives[number].clone();
        let host = &mut self.hosts[receive.host];
        let Some(mesh) = host.mesh.as_mut().filter(|_| !host.leaves) else {
            return;
        };
        let from = match receive.from {
            None => From::Any,
            Some(other) if other == receive.host => From::Peer(PeerNumber::OWN),
            Some(other) => match mesh.peer(address(other)) {
                Ok(peer) => From::Peer(peer),
                Err(_) => return,
            },
        };
        self.oracle.posted(number);
        let tags = Tags::like(receive.tag, receive.mask);
        match mesh.receive(from, tags, vec![0; receive.room], number as u64) {
            Ok(Some(id)) => _ = host.posted.insert(number, id),
            Ok(None) => {}
            Err((error, _)) => _ = self.failure.get_or_insert(error.to_string()),
        }
        self.wake(receive.host);
    }

    fn begins(&mut self, number: usize) {
        let mishap = self.plan.mishaps[number];
        let host = &mut self.hosts[mishap.host];
        match mishap.what {
            Mishap::Pause => host.pauses += 1,
            Mishap::CutOut => host.cuts_out += 1,
            Mishap::CutIn => host.cuts_in += 1,
            Mishap::Killed => {
                host.kills += 1;
                host.end();
                self.oracle.killed(mishap.host);
            }
            Mishap::Leaves => {
                host.kills += 1;
                let local = host.machine.local(self.now);
                if let (false, Some(mesh)) = (host.leaves, &mut host.mesh) {
                    mesh.leave(local, &mut host.machine.driver);
                    host.leaves = true;
                    self.oracle.leaves(mishap.host);
                    self.wake(mishap.host);
                }
            }
        }
    }

    fn ends(&mut self, number: usize) {
        let mishap = self.plan.mishaps[number];
        let host = &mut self.hosts[mishap.host];
        match mishap.what {
            Mishap::Pause => host.pauses -= 1,
            Mishap::CutOut => host.cuts_out -= 1,
            Mishap::CutIn => host.cuts_in -= 1,
            Mishap::Killed | Mishap::Leaves => {
                host.kills -= 1;
                if host.kills == 0 {
                    if core::mem::take(&mut host.leaves) {
                        host.end();
                        self.oracle.killed(mishap.host);
                    }
                    match self.life(mishap.host) {
                        Ok((machine, mesh)) => {
                            let host = &mut self.hosts[mishap.host];
                            (host.machine, host.mesh) = (machine, Some(mesh));
                        }
                        Err(error) => _ = self.failure.get_or_insert(error),
                    }
                }
            }
        }
        self.wake(mishap.host);
    }

    fn wake(&mut self, host: usize) {
        let machine = &mut self.hosts[host].machine;
        machine.wake = machine.wake.min(self.now);
    }
}

impl Host {
    /// Its program is there no more.
    fn end(&mut self) {
        self.mesh = None;
        self.leaves = false;
        self.posted.clear();
    }

    fn runs(&self) -> bool {
        self.pauses == 0 && self.mesh.is_some()
    }
}

/// The host at the other end; `None` for oneself.
fn peer_number(from: usize, to: usize) -> Option<usize> {
    (from != to).then_some(to)
}

/// Events of the engine go to the mesh.
fn events(driver: &mut Driver, mesh: &mut Mesh<Vec<u8>>, now: Time) {
    while let Some((id, event)) = driver.poll_event() {
        mesh.event(now, driver, id, &event);
    }
}

/// What is over, as the oracle takes it.
pub(super) type Done = MeshCompletion<Vec<u8>>;
