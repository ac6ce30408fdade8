//! The world: a virtual clock, hosts, links, users, and what happens to them.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use xtp_engine::{Confirm, CongestionKind, Ecn, EngineConfig};
use xtp_link::LinkConfig;

use crate::app::{Outcome, Task, nanos};
use crate::check::stores;
use crate::check::stream::Promise;
use crate::fault::{Fault, Moved, Report, Restarted, Scheduled};
use crate::flow::{Flow, FlowSpec};
use crate::host::{Host, HostConfig};
use crate::hostile::Injector;
use crate::net::{Flying, Net};
use crate::packet::Seen;
use crate::serving::Closed;
use crate::trace::{Printer, Side};

/// The UDP port every host uses.
const PORT: u16 = xtp_wire::UDP_PORT;
/// Turns hosts may take at one moment without a packet between them before that counts as an endless loop.
const MAX_TURNS: u32 = 1_000;
/// Steps within one moment before that counts as standing still.
const MAX_STEPS: u32 = 100_000;

/// A datagram of several packets is taken whole or not at all (§4.8).
const LARGEST_DATAGRAM: u64 = 1 << 20;
/// Initial allowance for the largest datagram there is (§2.4), and a datagram of several packets (§4.8).
const LARGEST_ALLOWANCE: u64 = 131_072;

/// Address of host `number`: 10.0.0.x, or fd00::x.
pub fn address(number: usize, v6: bool) -> SocketAddr {
    let low = number as u16 + 1;
    let ip = if v6 {
        IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, low))
    } else {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, low as u8))
    };
    SocketAddr::new(ip, PORT)
}

/// Everything there is.
pub struct World {
    /// Time, nanoseconds since it began.
    pub now: u64,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// The links between them.
    pub net: Net,
    /// Associations as they are meant to be.
    pub flows: Vec<Flow>,
    /// Their ends as they are.
    pub tasks: Vec<Task>,
    /// The first rule that was broken.
    pub failure: Option<String>,
    /// Whether a host that is down answers with "port unreachable".
    pub unreachable_reports: bool,
    /// Hosts that got another address, in that order.
    pub moves: Vec<Moved>,
    /// Hosts that started again, in that order.
    pub restarts: Vec<Restarted>,
    /// "Port unreachable", as hosts were told it.
    pub reports: Vec<Report>,
    /// Most packets before the run counts as a storm.
    pub packet_limit: u64,
    /// What looked wrong in a flow first, and is wrong if nothing excuses the flow.
    pub suspicions: BTreeMap<usize, String>,
    /// Who injects packets.
    pub injector: Option<Injector>,
    /// Times in which listeners did not serve their flows.
    pub(crate) closed: Vec<Closed>,
    /// How often a user was handed what it waited for next, and told nothing.
    pub handed: u64,
    /// Times in which hosts did not run.
    pub(crate) pauses: BTreeMap<usize, Pause>,
    pub(crate) next_look: u64,
    /// The newest association of each flow, and of how many associations that is known.
    pub(crate) newest: BTreeMap<usize, usize>,
    /// Those before them: what began again has another key.
    pub(crate) former: BTreeMap<usize, Vec<usize>>,
    pub(crate) named: usize,
    seed: u64,
    pub(crate) schedule: Vec<Scheduled>,
    refusals: Vec<(u64, usize, SocketAddr)>,
    pub(crate) turns_at: (u64, u32),
    steps_at: (u64, u32),
}

/// When a host did not run, nanoseconds of world time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pause {
    /// When its last pause began.
    pub(crate) began: u64,
    /// When that ended.
    pub(crate) ended: u64,
    /// The longest of all.
    pub(crate) longest: u64,
    /// From when to when, each of them.
    pub(crate) spans: Vec<(u64, u64)>,
}

impl World {
    /// Hosts as configured, each linked to each other in the same way.
    ///
    /// # Errors
    /// A setting outside its range, in words.
    pub fn new(seed: u64, configs: Vec<HostConfig>, link: &LinkConfig, v6: bool) -> Result<Self, String> {
        let addresses: Vec<_> = (0..configs.len()).map(|number| address(number, v6)).collect();
        let net = Net::new(addresses, link, seed).map_err(|error| error.to_string())?;
        let mut net = net;
        net.clocks = configs.iter().map(|config| config.clock).collect();
        let mut hosts = Vec::new();
        for (number, mut config) in configs.into_iter().enumerate() {
            config.engine.own_addresses = net.own_ips(number);
            hosts.push(Host::new(config).map_err(|error| error.to_string())?);
        }
        Ok(Self {
            now: 0,
            hosts,
            net,
            flows: Vec::new(),
            tasks: Vec::new(),
            failure: None,
            unreachable_reports: false,
            moves: Vec::new(),
            restarts: Vec::new(),
            reports: Vec::new(),
            packet_limit: 100_000,
            suspicions: BTreeMap::new(),
            injector: None,
            closed: Vec::new(),
            handed: 0,
            pauses: BTreeMap::new(),
            next_look: 0,
            newest: BTreeMap::new(),
            former: BTreeMap::new(),
            named: 0,
            seed,
            schedule: Vec::new(),
            refusals: Vec::new(),
            turns_at: (0, 0),
            steps_at: (0, 0),
        })
    }

    /// Two hosts with default engines, linked by `link`.
    ///
    /// # Panics
    /// If a setting is outside its range.
    pub fn pair(seed: u64, link: &LinkConfig) -> Self {
        let config = |number: u8| {
            let mut entropy = [number; 32];
            entropy[..8].copy_from_slice(&seed.to_be_bytes());
            HostConfig::new(EngineConfig::new(entropy))
        };
        match Self::new(seed, vec![config(1), config(2)], link, false) {
            Ok(world) => world,
            Err(error) => panic!("{error}"),
        }
    }

    /// Plans a flow: the responder listens from now on, the initiator opens at its time. Returns its number.
    pub fn add_flow(&mut self, mut spec: FlowSpec) -> usize {
        for (host, tuning) in [
            (spec.initiator, &mut spec.open.tuning),
            (spec.responder, &mut spec.listen.tuning),
        ] {
            if self.hosts[host].config.trusts && tuning.congestion == CongestionKind::Auto {
                tuning.congestion = CongestionKind::Fixed;
            }
        }
        let number = self.flows.len();
        let mut flow = Flow::new(spec, number, self.seed);
        if flow.spec.series.is_some() {
            flow.spec.listening = self.leads(&flow);
        }
        if flow.spec.listening
            && !flow.spec.left_out
            && let Err(error) = self.hosts[flow.spec.responder].listen(number, flow.spec.listen.clone())
        {
            self.fail(format!("flow {number}: listen failed: {error}"));
        }
        for (side, tuning) in [
            (Side::Initiator, &flow.spec.open.tuning),
            (Side::Responder, &flow.spec.listen.tuning),
        ] {
            let windowed = tuning.congestion != CongestionKind::Fixed;
            if windowed && flow.spec.open.service != xtp_wire::service::DATAGRAM {
                self.net.check.windowed.insert((flow.port, side.index()));
            }
        }
        self.flows.push(flow);
        number
    }

    /// Plans something to happen at `at` after the world began.
    pub fn schedule(&mut self, at: Duration, fault: Fault) {
        let at = nanos(at);
        let place = self.schedule.partition_point(|planned| planned.at <= at);
        self.schedule.insert(place, Scheduled { at, fault });
    }

    /// Remembers the first failure.
    pub fn fail(&mut self, what: String) {
        if self.failure.is_none() {
            self.failure = Some(format!("at {:.6} s: {what}", self.now as f64 / 1e9));
        }
    }

    /// Puts a datagram into a host's socket as if it came from `src`; no link and no rule is asked.
    pub fn inject(&mut self, to: usize, src: SocketAddr, octets: &[u8]) {
        let dst = self.net.address(to);
        let flying = Flying {
            src,
            dst,
            ecn: Ecn::NotEct,
            data: Bytes::copy_from_slice(octets),
            left: self.now,
        };
        self.land(to, flying);
    }

    /// A datagram reaches the socket of a host that runs.
    fn land(&mut self, to: usize, flying: Flying) {
        if let Ok(seen) = Seen::decode(&flying.data) {
            self.net.check.arrived(flying.src, flying.left, self.now, &seen);
        }
        self.hosts[to].deliver(flying);
    }

    /// Whether every flow was opened and every end of it is over.
    pub fn is_settled(&self) -> bool {
        self.flows.iter().all(|flow| flow.opened) && self.tasks.iter().all(Task::is_over)
    }

    /// Runs until every flow is over, for at most `limit` from now; whether they are.
    pub fn settle(&mut self, limit: Duration) -> bool {
        let end = self.now.saturating_add(nanos(limit));
        while !self.is_settled() && self.failure.is_none() {
            if !self.step(end) {
                break;
            }
        }
        self.is_settled()
    }

    /// Runs for `span`, whatever happens.
    pub fn run_for(&mut self, span: Duration) {
        let end = self.now.saturating_add(nanos(span));
        while self.failure.is_none() && self.step(end) {}
    }

    /// Goes to the next moment at which anything happens; `false` if that is after `end` (the clock then shows it).
    pub fn step(&mut self, end: u64) -> bool {
        let Some(next) = self.next_moment().filter(|&next| next <= end) else {
            self.now = self.now.max(end);
            return false;
        };
        self.now = self.now.max(next);
        self.count_step();
        self.watch();
        self.happen();
        self.inject_due();
        while let Some((to, flying)) = self.net.receive(self.now) {
            self.turns_at.1 = 0;
            self.arrive(to, flying);
        }
        self.open_flows();
        for host in 0..self.hosts.len() {
            self.run_host(host);
        }
        self.tap();
        self.check_stores();
        if let Some(violation) = self.net.violation.take() {
            self.fail(violation);
        }
        if self.net.packets > self.packet_limit {
            self.fail(format!("a storm: more than {} packets", self.packet_limit));
        }
        true
    }

    /// Time must pass: not everything can want to happen at once for ever.
    fn count_step(&mut self) {
        if self.steps_at.0 != self.now {
            self.steps_at = (self.now, 0);
        }
        self.steps_at.1 += 1;
        if self.steps_at.1 > MAX_STEPS {
            let wanted: Vec<_> = self.hosts.iter().map(Host::next).collect();
            self.fail(format!("time stands still (hosts want to run at {wanted:?})"));
        }
    }

    fn next_moment(&self) -> Option<u64> {
        let hosts = self.hosts.iter().filter_map(Host::next);
        let running = |task: &&Task| !self.hosts[task.host].paused && !self.hosts[task.host].down;
        let users = self.tasks.iter().filter(running).filter_map(Task::wake);
        let able = |flow: &&Flow| {
            let host = &self.hosts[flow.spec.initiator];
            !flow.opened && self.may_follow(flow) && !host.paused && !host.down
        };
        let flows = self.flows.iter().filter(able).map(|flow| nanos(flow.spec.start));
        let refusals = self.refusals.iter().map(|refusal| refusal.0);
        let faults = self.schedule.first().map(|planned| planned.at);
        hosts
            .chain(users)
            .chain(flows)
            .chain(refusals)
            .chain(faults)
            .chain(self.injector.as_ref().and_then(Injector::next))
            .chain(self.net.next_arrival())
            .min()
    }

    fn arrive(&mut self, to: usize, flying: Flying) {
        if !self.net.has_address(to, flying.dst) {
            return;
        }
        if !self.hosts[to].down {
            self.before_arrival(to, &flying);
            self.land(to, flying);
            self.inject_due();
        } else if self.unreachable_reports
            && let Some(sender) = self.net.owner(flying.src)
        {
            self.refusals.push((self.now + 1_000_000, sender, flying.dst));
        }
    }

    fn happen(&mut self) {
        while self
            .schedule
            .first()
            .is_some_and(|planned| planned.at <= self.now)
        {
            let planned = self.schedule.remove(0);
            self.apply(planned.fault);
        }
        let now = self.now;
        let (due, later) = self.refusals.iter().partition(|refusal| refusal.0 <= now);
        self.refusals = later;
        let due: Vec<(u64, usize, SocketAddr)> = due;
        for (_, host, peer) in due {
            if self.hosts[host].paused || self.hosts[host].down {
                continue;
            }
            let about = self.net.owner(peer);
            self.reports.push(Report { at: now, host, about });
            self.hosts[host].port_unreachable(now, peer);
            // Each report is an input of its own: a thousand packets of one moment are refused at one moment, too.
            self.turns_at.1 = 0;
            self.turn(host);
        }
    }

    pub(crate) fn open_flows(&mut self) {
        for number in 0..self.flows.len() {
            let flow = &self.flows[number];
            let host = flow.spec.initiator;
            if flow.opened
                || nanos(flow.spec.start) > self.now
                || self.hosts[host].down
                || self.hosts[host].paused
                || !self.may_follow(&self.flows[number])
            {
                continue;
            }
            let flow = &mut self.flows[number];
            flow.opened = true;
            flow.opened_at = self.now;
            flow.created_utc_ms = self.hosts[host].utc_ms(self.now);
            let peer = self.net.address(flow.spec.responder);
            self.begin(number, peer);
        }
    }

    fn run_host(&mut self, host: usize) {
        if self.hosts[host].paused || self.hosts[host].down {
            return;
        }
        while self.hosts[host].has_input(self.now) && self.failure.is_none() {
            self.take_input(host);
            if self.hosts[host].config.habits.follows_at_once {
                self.follow(host);
            }
            self.turn(host);
            if self.hosts[host].config.poll_period > 0 {
                break;
            }
        }
        let now = self.now;
        for task in 0..self.tasks.len() {
            if self.tasks[task].host == host && self.tasks[task].wake().is_some_and(|wake| wake <= now) {
                self.user(task);
                self.turn(host);
            }
        }
        if self.hosts[host].next().is_some_and(|next| next <= now) {
            self.hosts[host].idle(now);
            if self.hosts[host].is_due(now) {
                self.turn(host);
            }
        }
    }

    /// One turn of a host: its users hear what happened and act, its engine sends; again until nothing happens.
    pub fn turn(&mut self, host: usize) {
        if self.turns_at.0 != self.now {
            self.turns_at = (self.now, 0);
        }
        if !self.hosts[host].config.late_users {
            self.tell_users(host);
        }
        while self.failure.is_none() {
            self.turns_at.1 += 1;
            if self.turns_at.1 > MAX_TURNS {
                let due = self.hosts[host].next();
                self.fail(format!(
                    "host {host} does not come to rest (it wants to run at {due:?})"
                ));
                return;
            }
            self.flush(host);
            if !self.tell_users(host) {
                break;
            }
        }
    }

    /// "Delivered" means that the peer's user has read it: what it was given, and not what was thrown away unread.
    pub(crate) fn check_mark(&mut self, task: usize, id: xtp_engine::MarkId) {
        let Some(mark) = self.tasks[task].marks.iter().find(|mark| mark.id == id).copied() else {
            return;
        };
        if mark.what == Confirm::Delivered {
            self.check_read(task, mark.at);
        }
    }

    /// The same, of an association that ended well and was to be confirmed so.
    pub(crate) fn check_delivery(&mut self, task: usize) {
        let spec = &self.flows[self.tasks[task].flow].spec;
        let asks = self.tasks[task].side == Side::Initiator && spec.open.confirm == Confirm::Delivered;
        if asks && !spec.open.tuning.no_error {
            let written = self.tasks[task].written;
            self.check_read(task, written);
        }
    }

    fn check_read(&mut self, task: usize, written: u64) {
        let (flow, side) = (self.tasks[task].flow, self.tasks[task].side);
        let peers = self
            .tasks
            .iter()
            .filter(|other| other.flow == flow && other.side != side);
        let read = peers.map(|other| other.reader.next).max().unwrap_or(0);
        if read < written {
            let what = format!("confirmed as delivered up to {written}, the peer's user has read {read}");
            self.fail_task(task, &what);
        }
    }

    /// No engine keeps more of anything than its configuration allows.
    fn check_stores(&mut self) {
        for host in 0..self.hosts.len() {
            let engine = &self.hosts[host].engine;
            if !self.hosts[host].down
                && let Err(what) = stores::check(&engine.view().stores())
            {
                self.fail(format!("host {host}: {what}"));
            }
        }
    }

    /// A reader holds no more than its capacity, or what the initial allowance let in (§2.4, §5.1).
    pub(crate) fn check_memory(&mut self, number: usize) {
        let task = &self.tasks[number];
        let spec = &self.flows[task.flow].spec;
        let capacity = match task.side {
            Side::Initiator => spec.open.tuning.recv_limit(),
            Side::Responder => spec.listen.tuning.recv_limit(),
        };
        if let Err(what) = self.check_writer(task) {
            self.fail_task(number, &what);
            return;
        }
        if task.reader.promise() == Promise::Gaps {
            // What can be read includes gaps, which hold nothing.
            return;
        }
        let held = self.hosts[task.host]
            .engine
            .view()
            .context(task.id)
            .map_or(0, |context| context.readable());
        if held > capacity.max(LARGEST_ALLOWANCE) {
            self.fail_task(
                number,
                &format!("{held} octets held for a reader with a capacity of {capacity}"),
            );
        }
    }

    /// A writer holds no more than its capacity; a datagram is taken whole.
    fn check_writer(&self, task: &Task) -> Result<(), String> {
        let spec = &self.flows[task.flow].spec;
        let tuning = match task.side {
            Side::Initiator => &spec.open.tuning,
            Side::Responder => &spec.listen.tuning,
        };
        let engine = &self.hosts[task.host].engine;
        let Some(stats) = engine
            .view()
            .context(task.id)
            .map(|context| context.stats())
            .ok()
            .filter(|_| !tuning.no_error)
        else {
            return Ok(());
        };
        let capacity = tuning.send_limit().max(LARGEST_DATAGRAM);
        stores::check_writer(task.written, stats.octets_acknowledged, capacity)
    }

    pub(crate) fn fail_task(&mut self, number: usize, what: &str) {
        let task = &self.tasks[number];
        let text = format!("flow {} {:?} on host {}: {what}", task.flow, task.side, task.host);
        self.fail(text);
    }

    /// The packets so far as a ladder, one line each; empty unless the net records.
    pub fn ladder(&self) -> String {
        let mut printer = Printer::default();
        let records = self.net.records.as_deref().unwrap_or_default();
        records.iter().map(|record| printer.line(record) + "\n").collect()
    }

    /// The outcome of one end of a flow: the initiator's, or the last accepted responder's.
    pub fn outcome(&self, flow: usize, side: Side) -> Option<&Outcome> {
        self.task(flow, side).map(|task| &task.outcome)
    }

    /// One end of a flow: the initiator's, or the last accepted responder's.
    pub fn task(&self, flow: usize, side: Side) -> Option<&Task> {
        let flow = &self.flows[flow];
        let number = match side {
            Side::Initiator => flow.initiator_task,
            Side::Responder => flow.responder_tasks.last().copied(),
        };
        number.map(|number| &self.tasks[number])
    }
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;
