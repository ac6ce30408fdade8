//! The world of one group: time, hosts, the bridge, and what goes wrong.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::VecDeque;
use std::time::Duration;

use xtp_engine::group::{Require, Target as Addresses};
use xtp_engine::{EngineConfig, Error, Failure};
use xtp_link::LinkConfig;

use super::liar::Liar;
use super::machine::{Gone, Machine};
use super::member::Receiving;
use super::network::{Bridge, Travelling};
use super::plan::{CastPlan, Disturbance, Target, Trouble};
use super::sender::Sending;
use super::twin::Twin;
use super::watch::Watch;
use crate::app::nanos;
use crate::check::stream::Promise;
use crate::content;
use crate::rng::Rng;

/// Port of the group and of the transmitter.
const PORT: u16 = xtp_wire::UDP_PORT;
/// Port of a receiver's endpoint; a program that takes its place has the next one.
pub const MEMBER_PORT: u16 = 40_000;
/// Ports of receivers that have the host address of another one, and how many each has.
const NEIGHBOUR_PORT: u16 = 50_000;
const NEIGHBOUR_PORTS: u16 = 100;
/// Packets before a run counts as a storm.
const PACKET_LIMIT: u64 = 400_000;
/// Steps within one moment before that counts as standing still.
const MAX_STEPS: u32 = 20_000;
/// How long "port unreachable" is under way, nanoseconds.
const REFUSAL: u64 = 1_000_000;

/// The group's address.
pub fn group_address() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(239, 1, 2, 3)), PORT)
}

/// The transmitter's address.
pub fn transmitter_address() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), PORT)
}

/// Address of the endpoint of receiver `member`, of its program `instance` (the first is 0).
pub fn member_address(member: usize, instance: u16) -> SocketAddr {
    let low = member as u8 + 1;
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 1, low)), MEMBER_PORT + instance)
}

/// Address of receiver `member` on the host of receiver `host`, of its program `instance`.
pub(super) fn neighbour_address(host: usize, member: usize, instance: u16) -> SocketAddr {
    let port = NEIGHBOUR_PORT + NEIGHBOUR_PORTS * member as u16 + instance;
    SocketAddr::new(member_address(host, 0).ip(), port)
}

/// The receiver that has this address: by its host, unless that is another's.
pub(super) fn receiver_at(address: SocketAddr) -> Option<usize> {
    if let Some(port) = address.port().checked_sub(NEIGHBOUR_PORT) {
        return Some((port / NEIGHBOUR_PORTS).into());
    }
    match address.ip() {
        IpAddr::V4(ip) => match ip.octets() {
            [10, 0, 1, low] => usize::from(low).checked_sub(1),
            _ => None,
        },
        IpAddr::V6(_) => None,
    }
}

/// Everything there is.
pub struct GroupWorld {
    /// Time, nanoseconds since it began.
    pub now: u64,
    /// What is planned.
    pub plan: CastPlan,
    /// Links.
    pub bridge: Bridge,
    /// The transmitter.
    pub sender: Sending,
    /// The receivers.
    pub members: Vec<Receiving>,
    /// The first rule that was broken.
    pub failure: Option<String>,
    /// What an observer at the bridge saw.
    pub watch: Watch,
    /// When the transmitter's program or host ended.
    pub sender_gone: Option<u64>,
    /// Datagrams that found a receiver's socket full.
    pub full_sockets: u64,
    /// Troubles that had an effect.
    pub happened: Vec<Trouble>,
    troubles: VecDeque<(u64, Trouble, bool)>,
    refusals: VecDeque<(u64, usize, SocketAddr)>,
    rng: Rng,
    twin: Option<Twin>,
    /// The member that lies, if there is one.
    pub(super) liar: Option<Liar>,
    steps_at: (u64, u32),
}

impl GroupWorld {
    /// The world of `plan`; `seed` decides what is left to chance.
    ///
    /// # Errors
    /// A setting outside its range, in words.
    pub fn new(plan: CastPlan, seed: u64) -> Result<Self, String> {
        let mut rng = Rng::new(seed, 60);
        let mut links = vec![(plan.uplink.clone(), plan.downlink.clone())];
        links.extend(
            plan.members
                .iter()
                .map(|member| (member.up.clone(), member.down.clone())),
        );
        let bridge = Bridge::new(&links, rng.number()).map_err(|error| error.to_string())?;
        let refused = |error: Error| error.to_string();
        let mut members = Vec::new();
        let promise = match plan.options.require {
            Require::Nobody => Promise::Gaps,
            _ => Promise::Reliable,
        };
        for (number, member) in plan.members.iter().enumerate() {
            let machine = receiver_machine(&plan, number, 0, &mut rng).map_err(refused)?;
            let mut receiving = Receiving::new(machine, member.clone(), promise);
            receiving.begins_anywhere |= plan.forgets();
            members.push(receiving);
        }
        let config = EngineConfig::new(rng.entropy());
        let machine = Machine::new(config, transmitter_address(), plan.clock, plan.socket_buffer, 0)
            .map_err(refused)?;
        let addresses = match plan.target {
            Target::Group => Addresses::Group(group_address()),
            Target::Each => Addresses::Each(
                (0..members.len())
                    .map(|number| plan.address_of(number, 0))
                    .collect(),
            ),
        };
        let sender = transmitter(&plan, machine, addresses, rng.number()).map_err(refused)?;
        let mut world = Self {
            now: 0,
            watch: Watch::new(&plan),
            twin: Twin::of(&plan),
            liar: Liar::of(&plan, seed),
            troubles: VecDeque::new(),
            plan,
            bridge,
            sender,
            members,
            failure: None,
            sender_gone: None,
            full_sockets: 0,
            happened: Vec::new(),
            refusals: VecDeque::new(),
            rng,
            steps_at: (0, 0),
        };
        world.lay_out();
        Ok(world)
    }

    fn lay_out(&mut self) {
        let mut all = Vec::new();
        for trouble in &self.plan.troubles {
            all.push((nanos(trouble.at), *trouble, true));
            if trouble.what.span() > Duration::ZERO {
                all.push((nanos(trouble.at + trouble.what.span()), *trouble, false));
            }
        }
        all.sort_by_key(|(at, _, begins)| (*at, *begins));
        self.troubles = all.into();
    }

    /// Remembers the first failure.
    pub fn fail(&mut self, what: &str) {
        if self.failure.is_none() {
            self.failure = Some(format!("at {:.6} s: {what}", self.now as f64 / 1e9));
        }
    }

    fn check(&mut self, whose: Option<usize>, result: Result<(), String>) {
        if let Err(what) = result {
            match whose {
                None => self.fail(&format!("transmitter: {what}")),
                Some(member) => self.fail(&format!("receiver {member}: {what}")),
            }
        }
    }

    /// Whether everybody is through.
    pub fn is_over(&self) -> bool {
        let sender = self.sender.closed.is_some() || self.sender_gone.is_some();
        let heard = |member: &Receiving| member.found || !self.troubles.is_empty();
        let mut members = self.members.iter();
        let over = |member: &Receiving| member.is_over() && !member.is_reading();
        sender && members.all(|member| over(member) || member.id.is_some() && !heard(member))
    }

    /// Runs until everybody is through, for at most `limit` of the world's time; whether everybody is.
    pub fn settle(&mut self, limit: Duration) -> bool {
        while !self.is_over() && self.failure.is_none() && self.step(nanos(limit)) {}
        self.is_over()
    }

    /// Runs for `span`, whatever happens.
    pub fn run_for(&mut self, span: Duration) {
        let end = self.now.saturating_add(nanos(span));
        while self.failure.is_none() && self.step(end) {}
    }

    /// Goes to the next moment at which anything happens; `false` if that is after `end`.
    pub fn step(&mut self, end: u64) -> bool {
        let Some(next) = self.next().filter(|&next| next <= end) else {
            self.now = self.now.max(end);
            return false;
        };
        self.now = self.now.max(next);
        self.count_step();
        self.disturb();
        self.refuse();
        if let Some(join) = self.twin.as_mut().and_then(|twin| twin.pose(self.now)) {
            self.bridge.forward(self.now, 0, join);
        }
        if let Some(word) = self.liar.as_mut().and_then(|liar| liar.speak(self.now)) {
            self.hear_liar(word);
        }
        while let Some((to, datagram)) = self.bridge.receive(self.now) {
            match to {
                None => self.distribute(datagram),
                Some(host) => self.arrive(host, datagram),
            }
        }
        if self.sender.machine.wake <= self.now {
            self.run_sender();
        }
        for member in 0..self.members.len() {
            if self.members[member].machine.wake <= self.now {
                self.run_member(member);
            }
        }
        if self.bridge.sent > PACKET_LIMIT {
            self.fail(&format!("a storm: more than {PACKET_LIMIT} packets"));
        }
        true
    }

    fn next(&self) -> Option<u64> {
        let members = self.members.iter().filter(|member| member.machine.runs());
        let hosts = members.map(|member| member.machine.wake);
        let sender = Some(self.sender.machine.wake).filter(|_| self.sender.machine.runs());
        hosts
            .chain(sender)
            .chain(self.bridge.next())
            .chain(self.troubles.front().map(|trouble| trouble.0))
            .chain(self.refusals.front().map(|refusal| refusal.0))
            .chain(self.twin.as_ref().and_then(Twin::next))
            .chain(self.liar.as_ref().and_then(Liar::next))
            .min()
            .filter(|&at| at != u64::MAX)
    }

    fn count_step(&mut self) {
        if self.steps_at.0 != self.now {
            self.steps_at = (self.now, 0);
        }
        self.steps_at.1 += 1;
        if self.steps_at.1 > MAX_STEPS {
            let receivers = self
                .members
                .iter()
                .position(|member| member.machine.wake <= self.now);
            let sender = self.sender.machine.wake <= self.now;
            let standing = format!("time stands still (transmitter {sender}, receiver {receivers:?})");
            self.fail(&standing);
        }
    }

    /// The bridge sends a datagram on to whom it is for.
    fn distribute(&mut self, datagram: Travelling) {
        let now = self.now;
        if datagram.dst == group_address() {
            let whose = self.owner(datagram.src);
            for member in (0..self.members.len()).filter(|member| whose != Some(*member)) {
                if !self.bridge.forward(now, member + 1, datagram.clone()) {
                    self.watch.lost(datagram.number, member);
                }
            }
            if whose.is_some() {
                self.hear_answer(datagram);
            }
        } else if datagram.dst == transmitter_address() {
            if let Err(what) = self.watch.feedback(now, &datagram) {
                self.fail(&what);
            }
            self.bridge.forward(now, 0, datagram);
        } else if let Some(member) = self.owner(datagram.dst)
            && !self.bridge.forward(now, member + 1, datagram.clone())
        {
            self.watch.lost(datagram.number, member);
        }
    }

    /// An answer to the whole group is one to the transmitter, too.
    fn hear_answer(&mut self, datagram: Travelling) {
        if let Err(what) = self.watch.feedback(self.now, &datagram) {
            self.fail(&what);
        }
        self.bridge.forward(self.now, 0, datagram);
    }

    /// What a liar says reaches the bridge: it has no link of its own.
    fn hear_liar(&mut self, word: Travelling) {
        if word.dst == group_address() {
            for member in 0..self.members.len() {
                self.bridge.forward(self.now, member + 1, word.clone());
            }
        }
        self.bridge.forward(self.now, 0, word);
    }

    fn owner(&self, address: SocketAddr) -> Option<usize> {
        receiver_at(address).filter(|&member| member < self.members.len())
    }

    fn arrive(&mut self, host: usize, datagram: Travelling) {
        let number = datagram.number;
        let (dst, src) = (datagram.dst, datagram.src);
        let group = dst == group_address();
        let machine = match host.checked_sub(1) {
            None => &mut self.sender.machine,
            Some(member) => &mut self.members[member].machine,
        };
        if machine.gone == Some(Gone::Off) {
            return;
        }
        if machine.gone.is_some() || !group && machine.address != dst {
            // Packets to a group raise no error.
            if !group {
                let from = if src == transmitter_address() {
                    Some(0)
                } else {
                    self.owner(src).map(|member| member + 1)
                };
                self.refusals
                    .extend(from.map(|from| (self.now + REFUSAL, from, dst)));
            }
            return;
        }
        match (machine.deliver(datagram.clone()), host.checked_sub(1)) {
            (true, None) => self.watch.reported(&datagram),
            (false, Some(member)) => {
                self.full_sockets += 1;
                self.watch.lost(number, member);
            }
            _ => {}
        }
    }

    fn refuse(&mut self) {
        while self.refusals.front().is_some_and(|refusal| refusal.0 <= self.now) {
            let Some((_, host, peer)) = self.refusals.pop_front() else {
                return;
            };
            let now = self.now;
            let machine = match host.checked_sub(1) {
                None => &mut self.sender.machine,
                Some(member) if self.members[member].cut => continue,
                Some(member) => &mut self.members[member].machine,
            };
            if machine.runs() {
                let local = machine.local(now);
                machine
                    .driver
                    .command()
                    .failed(local, peer, Failure::PortUnreachable);
                machine.wake = now;
            }
        }
    }

    fn run_sender(&mut self) {
        if !self.sender.machine.runs() {
            return;
        }
        let now = self.now;
        self.sender.machine.take_input(now, group_address());
        let result = self.sender.hear(now);
        self.check(None, result);
        self.judge_news();
        let result = self.sender.act(now);
        self.check(None, result);
        let mut out = Vec::new();
        self.sender.machine.turn(now, |datagram| out.push(datagram));
        for datagram in out {
            self.depart(datagram);
        }
        let result = self.sender.remember(now).and_then(|()| self.sender.hear(now));
        self.check(None, result);
        self.judge_news();
        let user = self.sender.user_at();
        self.sender.machine.plan(user);
        let result = self.watch.sender_stores(&mut self.sender, now);
        self.check(None, result);
    }

    /// A datagram of the transmitter goes onto its link.
    fn depart(&mut self, mut datagram: Travelling) {
        let now = self.now;
        match self.watch.departs(now, &datagram, self.plan.target) {
            Ok(number) => datagram.number = number,
            Err(what) => self.fail(&what),
        }
        if let Some(twin) = &mut self.twin {
            twin.overhear(&datagram.data);
        }
        let number = datagram.number;
        let to = datagram.dst;
        let refused = datagram.refused;
        if let Some(liar) = &mut self.liar {
            liar.overhear(now, to, &datagram.data);
        }
        if refused || !self.bridge.send(now, 0, datagram) {
            match self.plan.target {
                Target::Group => (0..self.members.len()).for_each(|member| self.watch.lost(number, member)),
                Target::Each => {
                    if let Some(member) = self.owner(to) {
                        self.watch.lost(number, member);
                    }
                }
            }
        }
    }

    fn run_member(&mut self, member: usize) {
        let now = self.now;
        let receiving = &mut self.members[member];
        if !receiving.machine.runs() {
            return;
        }
        let ledger = &self.sender.ledger;
        receiving.machine.take_input(now, group_address());
        let result = receiving
            .begin(now)
            .and_then(|()| receiving.hear(now, ledger))
            .and_then(|()| receiving.act(now, ledger));
        let mut out = Vec::new();
        receiving.machine.turn(now, |datagram| out.push(datagram));
        let result = result.and_then(|()| receiving.hear(now, ledger));
        let user = receiving.user_at();
        receiving.machine.plan(user);
        let result = result.and_then(|()| self.watch.receiver_stores(receiving));
        self.check(Some(member), result);
        for datagram in out {
            if datagram.refused {
                continue;
            }
            if let Err(what) = self.watch.answers(now, member, &datagram) {
                self.fail(&format!("receiver {member}: {what}"));
            }
            if datagram.dst == group_address() {
                // Whoever sends to a group it listens to hears itself.
                self.members[member].machine.deliver(datagram.clone());
            }
            self.bridge.send(now, member + 1, datagram);
        }
    }

    fn disturb(&mut self) {
        while self.troubles.front().is_some_and(|trouble| trouble.0 <= self.now) {
            let Some((_, trouble, begins)) = self.troubles.pop_front() else {
                return;
            };
            let result = match begins {
                true => self.begin_trouble(trouble),
                false => self.end_trouble(trouble),
            };
            self.check(trouble.what.member(), result);
        }
    }

    fn begin_trouble(&mut self, trouble: Trouble) -> Result<(), String> {
        let now = self.now;
        let over = match trouble.what.member() {
            Some(member) => self.members[member].is_over(),
            None => self.sender_gone.is_some() || self.sender.closed.is_some(),
        };
        if over {
            return Ok(());
        }
        self.happened.push(trouble);
        match trouble.what {
            Disturbance::Pause { member, .. } => self.members[member].machine.paused = true,
            Disturbance::Kill { member } | Disturbance::Restart { member, .. } => {
                self.members[member].end(Gone::Killed)?;
            }
            Disturbance::SwitchOff { member } => self.members[member].end(Gone::Off)?,
            Disturbance::Cut { member, .. } => self.cut(member, true),
            Disturbance::Deaf { member, octets, .. } => self.deafen(member, Some(octets))?,
            Disturbance::Refused { member, .. } => self.members[member].machine.refuse(true),
            Disturbance::TransmitterRefused { .. } => self.sender.machine.refuse(true),
            Disturbance::Leave { member } => {
                self.members[member].leave(now)?;
                self.members[member].machine.wake = now;
            }
            Disturbance::TransmitterKilled | Disturbance::TransmitterOff => {
                self.sender.note()?;
                let off = trouble.what == Disturbance::TransmitterOff;
                self.sender
                    .machine
                    .end(if off { Gone::Off } else { Gone::Killed });
                self.sender_gone = Some(now);
            }
            Disturbance::TransmitterPause { .. } => self.sender.machine.paused = true,
        }
        Ok(())
    }

    fn cut(&mut self, member: usize, cut: bool) {
        self.members[member].cut = cut;
        self.bridge.up_mut(member + 1).set_up(!cut);
        self.bridge.down_mut(member + 1).set_up(!cut);
    }

    fn deafen(&mut self, member: usize, octets: Option<usize>) -> Result<(), String> {
        let link = self.bridge.down_mut(member + 1);
        let config = LinkConfig {
            mtu: octets,
            ..link.config().clone()
        };
        link.set_config(config).map_err(|error| error.to_string())
    }

    fn end_trouble(&mut self, trouble: Trouble) -> Result<(), String> {
        if !self.happened.contains(&trouble) {
            return Ok(());
        }
        let now = self.now;
        match trouble.what {
            Disturbance::Pause { member, .. } => {
                self.members[member].machine.paused = false;
                if self.members[member].machine.gone.is_none() {
                    self.members[member].machine.wake = now;
                }
            }
            Disturbance::Cut { member, .. } => self.cut(member, false),
            Disturbance::Deaf { member, .. } => self.deafen(member, None)?,
            Disturbance::Refused { member, .. } => self.members[member].machine.refuse(false),
            Disturbance::TransmitterRefused { .. } => self.sender.machine.refuse(false),
            Disturbance::Restart { member, .. } => {
                let instance = match self.plan.target {
                    Target::Group => self.members[member].before.len() as u16 + 1,
                    Target::Each => 0,
                };
                let machine = receiver_machine(&self.plan, member, instance, &mut self.rng)
                    .map_err(|error| error.to_string())?;
                self.members[member].restart(now, machine);
            }
            Disturbance::TransmitterPause { .. } => {
                self.sender.machine.paused = false;
                self.sender.machine.wake = now;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The transmitter begins at once; of a datagram that is all its user does.
fn transmitter(
    plan: &CastPlan,
    mut machine: Machine,
    addresses: Addresses,
    key: u64,
) -> Result<Sending, Error> {
    let (now, options) = (machine.local(0), plan.options.clone());
    if !plan.is_datagram {
        let id = machine.driver.command().cast(now, addresses, options)?;
        return Ok(Sending::new(machine, id, plan, key));
    }
    let data = content::make(key, 0, plan.octets() as usize);
    let id = machine
        .driver
        .command()
        .cast_datagram(now, addresses, options, data)?;
    Ok(Sending::of_datagram(machine, id, plan, key))
}

fn receiver_machine(plan: &CastPlan, member: usize, instance: u16, rng: &mut Rng) -> Result<Machine, Error> {
    let own = &plan.members[member];
    let mut config = EngineConfig::new(rng.entropy());
    let address = plan.address_of(member, instance);
    config.own_addresses = vec![address.ip()];
    let mut machine = Machine::new(config, address, own.clock, own.socket_buffer, nanos(own.look))?;
    machine.batch = own.batch;
    Ok(machine)
}
