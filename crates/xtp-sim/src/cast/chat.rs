//! A chat: hosts that each transmit to one group, and listen to all the others of it.
//!
//! Each host says so many things, one after the other, as messages of one stream or each as a datagram, while all others do so, too.
//! What a host hears is read as it comes and let go of at its end. Nothing may be missing in the end, nothing come twice, and what one
//! host says in a stream comes in its order.

use core::time::Duration;
use std::collections::BTreeMap;

use bytes::Bytes;
use xtp_engine::group::{GroupClose, GroupEvent, GroupId, ReceiverOptions, Target, TransmitterOptions};
use xtp_engine::{EngineConfig, Read};
use xtp_link::{LinkConfig, Loss};

use super::machine::Machine;
use super::network::{Bridge, OVERHEAD, Travelling};
use super::world::{group_address, member_address, receiver_at};
use crate::app::nanos;
use crate::clock::Clock;
use crate::rng::Rng;

/// Octets of a socket's buffer.
const SOCKET: usize = 4 << 20;
/// Bits a second of each link.
const LINK: u64 = 100_000_000;
/// The longest thing that is said, octets; the number of its host and its own come first.
const LONGEST: u64 = 400;
const NUMBERS: usize = 8;

/// What is said, by how many, and what of it is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Chat {
    /// Hosts, at least 2.
    pub hosts: usize,
    /// Things each of them says.
    pub things: u32,
    /// Time between two of one host.
    pub every: Duration,
    /// Each is a datagram; else they are messages of one stream.
    pub datagrams: bool,
    /// Transmitters that each host hears at a time.
    pub at_once: u16,
    /// What each link loses, of 1.
    pub loss: f64,
    /// One way over each of the two links between hosts.
    pub delay: Duration,
    /// When it must be over.
    pub limit: Duration,
}

/// What a chat cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatFigures {
    /// When all was over.
    pub took: Duration,
    /// Datagrams that left.
    pub packets: u64,
}

/// What a host reads of another one.
#[derive(Default)]
struct Reading {
    from: Option<usize>,
    part: Vec<u8>,
}

struct Host {
    machine: Machine,
    listener: GroupId,
    /// The stream, or the datagrams that are not confirmed.
    casts: Vec<GroupId>,
    said: u32,
    finished: bool,
    reading: BTreeMap<GroupId, Reading>,
    /// What came of each host.
    came: Vec<Vec<u32>>,
}

impl Chat {
    /// Runs it; `seed` decides what is lost.
    ///
    /// # Errors
    /// What was missing, came twice or in another order, or was not over in time.
    pub fn run(&self, seed: u64) -> Result<ChatFigures, String> {
        let mut rng = Rng::new(seed, 77);
        let link = LinkConfig {
            rate_bits_per_s: Some(LINK),
            delay: self.delay,
            loss: Loss::Random(self.loss),
            overhead_octets: OVERHEAD,
            ..LinkConfig::default()
        };
        let links = vec![(link.clone(), link); self.hosts];
        let bridge = Bridge::new(&links, rng.number()).map_err(|error| error.to_string())?;
        let mut world = World {
            now: 0,
            plan: self,
            bridge,
            hosts: Vec::new(),
            rng,
        };
        for number in 0..self.hosts {
            let host = world.host(number).map_err(|error| error.to_string())?;
            world.hosts.push(host);
        }
        world.run()?;
        Ok(ChatFigures {
            took: Duration::from_nanos(world.now),
            packets: world.bridge.sent,
        })
    }

    fn options(&self) -> TransmitterOptions {
        let mut options = TransmitterOptions::default();
        options.expect = Some(self.hosts as u32 - 1);
        options
    }

    /// What a host says, as the number of it.
    fn thing(&self, host: usize, number: u32) -> Bytes {
        let len = NUMBERS as u64 + u64::from(number).wrapping_mul(7) % LONGEST;
        let mut octets = vec![host as u8; len as usize];
        octets[..4].copy_from_slice(&(host as u32).to_be_bytes());
        octets[4..NUMBERS].copy_from_slice(&number.to_be_bytes());
        octets.into()
    }
}

struct World<'a> {
    now: u64,
    plan: &'a Chat,
    bridge: Bridge,
    hosts: Vec<Host>,
    rng: Rng,
}

impl World<'_> {
    fn host(&mut self, number: usize) -> Result<Host, xtp_engine::Error> {
        let config = EngineConfig::new(self.rng.entropy());
        let address = member_address(number, 0);
        let mut machine = Machine::new(config, address, Clock::default(), SOCKET, 0)?;
        let now = machine.local(0);
        let mut listening = ReceiverOptions::default();
        listening.group = Some(group_address());
        listening.at_once = self.plan.at_once;
        let listener = machine.driver.command().listen_group(now, listening)?;
        let mut casts = Vec::new();
        if !self.plan.datagrams {
            let target = Target::Group(group_address());
            casts.push(machine.driver.command().cast(now, target, self.plan.options())?);
        }
        Ok(Host {
            machine,
            listener,
            casts,
            said: 0,
            finished: false,
            reading: BTreeMap::new(),
            came: vec![Vec::new(); self.plan.hosts],
        })
    }

    fn run(&mut self) -> Result<(), String> {
        let limit = nanos(self.plan.limit);
        loop {
            for number in 0..self.hosts.len() {
                if self.hosts[number].machine.wake <= self.now || self.says_at(number) <= self.now {
                    self.turn(number)
                        .map_err(|what| format!("host {number}: {what}"))?;
                }
            }
            if self
                .hosts
                .iter()
                .all(|host| host.finished && host.casts.is_empty())
                && self.is_heard()
            {
                return self.judge();
            }
            let hosts =
                (0..self.hosts.len()).map(|number| self.hosts[number].machine.wake.min(self.says_at(number)));
            let next = hosts.chain(self.bridge.next()).min().unwrap_or(u64::MAX);
            if next > limit {
                self.judge()?;
                return Err(format!("it is not over after {:?}", self.plan.limit));
            }
            self.now = self.now.max(next);
            while let Some((to, datagram)) = self.bridge.receive(self.now) {
                self.carry(to, datagram);
            }
        }
    }

    /// When that host says the next thing.
    fn says_at(&self, number: usize) -> u64 {
        let host = &self.hosts[number];
        match host.said < self.plan.things {
            true => nanos(self.plan.every) * u64::from(host.said),
            false => u64::MAX,
        }
    }

    fn carry(&mut self, to: Option<usize>, datagram: Travelling) {
        if let Some(host) = to {
            self.hosts[host].machine.deliver(datagram);
            return;
        }
        let to_all = datagram.dst == group_address();
        let is_for = |number: &usize| match to_all {
            true => receiver_at(datagram.src) != Some(*number),
            false => receiver_at(datagram.dst) == Some(*number),
        };
        for number in (0..self.hosts.len()).filter(is_for) {
            self.bridge.forward(self.now, number, datagram.clone());
        }
    }

    fn turn(&mut self, number: usize) -> Result<(), String> {
        let (now, plan) = (self.now, self.plan);
        let due = self.says_at(number) <= now;
        let host = &mut self.hosts[number];
        host.machine.take_input(now, group_address());
        if due {
            host.say(plan, number, now)?;
        }
        host.hear(now)?;
        let mut out = Vec::new();
        host.machine.turn(now, |datagram| out.push(datagram));
        host.hear(now)?;
        host.machine.plan(u64::MAX);
        for datagram in out {
            if datagram.dst == group_address() {
                // Whoever sends to a group it listens to hears itself.
                self.hosts[number].machine.deliver(datagram.clone());
            }
            self.bridge.send(now, number, datagram);
        }
        Ok(())
    }

    fn is_heard(&self) -> bool {
        let all = self.plan.things as usize * (self.plan.hosts - 1);
        let mut hosts = self.hosts.iter();
        hosts.all(|host| host.came.iter().map(Vec::len).sum::<usize>() >= all)
    }

    fn judge(&self) -> Result<(), String> {
        for (to, host) in self.hosts.iter().enumerate() {
            for from in (0..self.hosts.len()).filter(|from| *from != to) {
                let mut came = host.came[from].clone();
                if !self.plan.datagrams && !came.is_sorted() {
                    return Err(format!("what {from} says comes to {to} in another order"));
                }
                came.sort_unstable();
                let before = came.len();
                came.dedup();
                if came.len() != before {
                    return Err(format!(
                        "{} things of {from} came twice to {to}",
                        before - came.len()
                    ));
                }
                if came.len() != self.plan.things as usize {
                    return Err(format!(
                        "{} of {} things of {from} came to {to}",
                        came.len(),
                        self.plan.things
                    ));
                }
            }
            if !host.came[to].is_empty() {
                return Err(format!("{to} hears itself"));
            }
        }
        Ok(())
    }
}

impl Host {
    fn say(&mut self, plan: &Chat, number: usize, world: u64) -> Result<(), String> {
        let now = self.machine.local(world);
        let thing = plan.thing(number, self.said);
        let driver = &mut self.machine.driver;
        let said = match self.casts.first() {
            // Nothing of a short thing is left over.
            Some(cast) if !plan.datagrams => driver.command().group_send(now, *cast, thing, true).map(drop),
            _ => driver
                .command()
                .cast_datagram(now, Target::Group(group_address()), plan.options(), thing)
                .map(|cast| self.casts.push(cast)),
        };
        said.map_err(|error| format!("thing {}: {error}", self.said))?;
        self.said += 1;
        if self.said == plan.things {
            self.finished = true;
            for cast in self.casts.iter().filter(|_| !plan.datagrams) {
                let finished = driver.command().group_finish(now, *cast);
                finished.map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, world: u64) -> Result<(), String> {
        let now = self.machine.local(world);
        while let Some((id, event)) = self.machine.driver.command().poll_group_event() {
            match event {
                GroupEvent::Heard(receiver) if id == self.listener => {
                    self.reading.insert(receiver, Reading::default());
                }
                GroupEvent::Found(transmitter) => {
                    let reading = self.reading.get_mut(&id).ok_or("a receiver nobody knows")?;
                    reading.from = receiver_at(transmitter);
                }
                GroupEvent::Closed(why) if self.casts.contains(&id) => {
                    self.casts.retain(|cast| *cast != id);
                    if why != GroupClose::Normal {
                        return Err(format!("a transmission ended: {why}"));
                    }
                    self.release(now, id)?;
                }
                GroupEvent::Closed(why) if why != GroupClose::Normal && self.reading.contains_key(&id) => {
                    return Err(format!("a receiver ended: {why}"));
                }
                _ => {}
            }
        }
        let open: Vec<GroupId> = self.reading.keys().copied().collect();
        for id in open {
            self.read(now, id)?;
        }
        Ok(())
    }

    fn read(&mut self, now: xtp_engine::Time, id: GroupId) -> Result<(), String> {
        loop {
            let read = self.machine.driver.command().group_read(now, id, usize::MAX);
            let reading = self.reading.get_mut(&id).ok_or("not read")?;
            match read.map_err(|error| error.to_string())? {
                Read::Data { bytes, eom, .. } => {
                    reading.part.extend_from_slice(&bytes);
                    if eom {
                        let from = reading.from.ok_or("of nobody")?;
                        let number = number_of(from, &core::mem::take(&mut reading.part))?;
                        self.came[from].push(number);
                    }
                }
                Read::End => {
                    self.reading.remove(&id);
                    return self.release(now, id);
                }
                Read::Pending => return Ok(()),
                other => return Err(format!("{other:?} in a chat")),
            }
        }
    }

    fn release(&mut self, now: xtp_engine::Time, id: GroupId) -> Result<(), String> {
        let released = self.machine.driver.command().group_release(now, id);
        released.map_err(|error| format!("release: {error}"))
    }
}

/// The number of a thing that came of that host.
fn number_of(from: usize, octets: &[u8]) -> Result<u32, String> {
    let numbers = octets.first_chunk::<NUMBERS>().ok_or("a short thing")?;
    let number =
        |at: usize| u32::from_be_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]);
    let whole = octets[NUMBERS..].iter().all(|octet| usize::from(*octet) == from);
    match number(0) as usize == from && whole {
        true => Ok(number(4)),
        false => Err(format!("what came of {from} is not what it said")),
    }
}
