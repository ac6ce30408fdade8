//! Exchanges of one message, one after the other, between the same two hosts: what the engine's short ways are for.
//!
//! Each of them is a flow of its own, with its own content, but they have one listener. Which one an association is of
//! says the first thing its user reads.

use core::time::Duration;

use bytes::Bytes;
use xtp_engine::{ContextId, Event, Expectation, Read, Unit, paradigm};

use crate::app::{Script, Step, Task};
use crate::content;
use crate::flow::{Flow, FlowSpec};
use crate::habits::{Habits, Posts};
use crate::paradigm::Paradigm;
use crate::rng::Rng;
use crate::seed::Plan;
use crate::trace::Side;
use crate::trouble::FaultClass;
use crate::world::World;

/// Longest message taken as it comes.
const LIMIT: usize = 1 << 20;

/// The stream that sleepers are drawn from.
const SLEEPERS: u64 = 93;

/// What is exchanged.
const KINDS: [Paradigm; 6] = [
    Paradigm::OneShot,
    Paradigm::AcknowledgedDatagram,
    Paradigm::AcknowledgedDelivered,
    Paradigm::Transaction,
    Paradigm::Transaction,
    Paradigm::TransactionUnconfirmed,
];

impl Plan {
    /// What a seed draws, without all that is no series of exchanges, of which there is one at least.
    pub(crate) fn of_exchanges(seed: u64) -> Self {
        let mut plan = Self::draw(seed);
        if plan.flows.iter().all(|(_, flow)| flow.series.is_none()) {
            plan.draw_one_series(&mut Rng::new(seed, 22));
        }
        for (_, flow) in &mut plan.flows {
            flow.left_out |= flow.series.is_none();
        }
        plan.draw_sleepers(&mut Rng::new(seed, SLEEPERS));
        plan
    }

    /// In some seeds hosts of exchanges do not run for 10 ms to two minutes: what they asked, answered and remember waits meanwhile.
    fn draw_sleepers(&mut self, rng: &mut Rng) {
        if !rng.percent(40) {
            return;
        }
        self.classes.insert(FaultClass::PausedReader);
        for _ in 0..rng.range(1, 3) {
            let flows = self.flows.iter().map(|(_, flow)| flow);
            let exchanges: Vec<_> = flows.filter(|flow| !flow.left_out).collect();
            let flow = exchanges[rng.range(0, exchanges.len() as u64 - 1) as usize];
            let host = rng.pick(&[flow.initiator, flow.responder]);
            let begun = flow.start.as_millis() as u64;
            let latest = rng.pick(&[20, 200, 1_500, 6_000]);
            let at = begun + rng.range(0, latest);
            let span = rng.pick(&[10, 100, 1_000, 10_000]) * rng.range(1, 12);
            self.pause(host, at, span);
        }
    }

    /// Draws how hosts are driven, and series of exchanges between them.
    pub(crate) fn draw_series(&mut self, seed: u64) {
        let rng = &mut Rng::new(seed, 20);
        for host in &mut self.hosts {
            host.habits = Habits::draw(rng);
        }
        for _ in 0..rng.pick(&[0, 1, 1, 1, 2, 2, 3]) {
            self.draw_one_series(rng);
        }
    }

    fn draw_one_series(&mut self, rng: &mut Rng) {
        let first = self.flows.len();
        let hosts = self.hosts.len() as u64;
        let initiator = rng.range(0, hosts - 1) as usize;
        let responder = (initiator + rng.range(1, hosts - 1) as usize) % self.hosts.len();
        let kind = rng.pick(&KINDS);
        let (message, answer) = (draw_octets(rng), draw_octets(rng));
        // One after the other, or a few at a time.
        let window = rng.pick(&[1, 1, 1, 2, 4]);
        let start = Duration::from_millis(rng.range(0, 1_500));
        let pause = Duration::from_micros(rng.pick(&[0, 0, 0, 500, 20_000]));
        let work = Duration::from_micros(rng.pick(&[0, 0, 0, 0, 1_000, 8_000, 300_000]));
        let tired = rng.percent(60);
        for number in 0..rng.range(3, 24) as usize {
            // Now and then one is not like the others.
            let odd = rng.percent(8);
            let (message, answer) = match odd {
                true => (draw_octets(rng), draw_octets(rng)),
                false => (message, answer),
            };
            let work = if rng.percent(5) {
                Duration::from_millis(9)
            } else {
                work
            };
            let mut spec = exchange(kind, message, answer, work, tired && !rng.percent(10));
            spec.open.status_on_first = odd && rng.percent(30);
            (spec.initiator, spec.responder) = (initiator, responder);
            spec.start = start + pause * number as u32;
            spec.series = Some(first);
            spec.after = number.checked_sub(window).map(|before| first + before);
            self.flows.push((kind, spec));
        }
    }
}

/// Mostly a packet; long enough to tell one from another.
fn draw_octets(rng: &mut Rng) -> u32 {
    match rng.range(0, 9) {
        0..=4 => rng.range(16, 300) as u32,
        5..=7 => rng.range(900, 1_380) as u32,
        8 => rng.range(1_300, 3_000) as u32,
        _ => rng.range(3_000, 40_000) as u32,
    }
}

/// One exchange; `leaves`: its users go as soon as they have what they wanted.
pub(crate) fn exchange(kind: Paradigm, message: u32, answer: u32, work: Duration, leaves: bool) -> FlowSpec {
    let send = Step::Send {
        octets: message,
        eom: true,
    };
    let mut asks = vec![send, Step::CloseWriter];
    let mut serves = vec![Step::AwaitMessages(1)];
    let open = match kind {
        Paradigm::Transaction | Paradigm::TransactionUnconfirmed => {
            asks.push(Step::AwaitMessages(1));
            if work > Duration::ZERO {
                serves.push(Step::Wait(work));
            }
            serves.push(Step::Respond {
                octets: answer,
                unconfirmed: kind == Paradigm::TransactionUnconfirmed,
            });
            paradigm::transaction(0)
        }
        Paradigm::OneShot => paradigm::one_shot(0),
        kind => {
            let mut open = paradigm::acknowledged_datagram(0);
            if kind == Paradigm::AcknowledgedDelivered {
                open.confirm = xtp_engine::Confirm::Delivered;
            }
            open
        }
    };
    if leaves {
        serves.push(Step::LetGo);
        if asks.len() > 2 {
            asks.push(Step::LetGo);
        }
    }
    let mut spec = FlowSpec::new(
        open,
        Script::new(asks).on_demand(),
        Script::new(serves).on_demand(),
    );
    spec.listening = false;
    spec
}

impl World {
    /// Whether a new flow of a series is the one that listens for all of them.
    pub(crate) fn leads(&self, new: &Flow) -> bool {
        let before = |flow: &Flow| flow.spec.series == new.spec.series && !flow.spec.left_out;
        !self.flows.iter().any(before)
    }

    /// Whether the flow this one comes after is over for its initiator.
    pub(crate) fn may_follow(&self, flow: &Flow) -> bool {
        let Some(before) = flow.spec.after.and_then(|before| self.flows.get(before)) else {
            return true;
        };
        let over = |task: usize| self.tasks[task].is_over();
        before.opened && before.initiator_task.is_none_or(over)
    }

    /// What the program that drives the host waits for now.
    pub(crate) fn expected(&mut self, host: usize) -> Expectation {
        let any = Expectation::Anything;
        let posts = match self.hosts[host].config.habits.posts {
            Posts::Mixed => {
                let all = [Posts::Nothing, Posts::OneByOne, Posts::One, Posts::One];
                self.hosts[host].rng.pick(&all)
            }
            posts => posts,
        };
        match posts {
            Posts::Nothing | Posts::Mixed => return any,
            Posts::OneByOne => return Expectation::OneByOne,
            Posts::One => {}
        }
        let mut candidates: Vec<Expectation> = self
            .tasks
            .iter()
            .filter(|task| task.host == host)
            .filter_map(|task| task.wants(LIMIT, self.peer_writes_plain_octets(task)))
            .collect();
        let own = &self.hosts[host];
        for (&listener, &flow) in &own.listeners {
            if self.flows[flow].spec.series.is_some() {
                let limit = LIMIT;
                candidates.push(Expectation::Message { listener, limit });
            }
        }
        match candidates.is_empty() {
            true => any,
            false => self.hosts[host].rng.pick(&candidates),
        }
    }

    fn peer_writes_plain_octets(&self, task: &Task) -> bool {
        let spec = &self.flows[task.flow].spec;
        let script = match task.side {
            Side::Initiator => &spec.responder_script,
            Side::Responder => &spec.initiator_script,
        };
        script.writes_plain_octets()
    }

    /// An association came with its whole message, for whoever waited for one.
    pub(crate) fn hand_first(&mut self, host: usize) {
        let Some((_, welcomed)) = self.hosts[host].engine.take_message() else {
            self.fail(format!("host {host}: no message where one was to be"));
            return;
        };
        let Some(flow) = self.flow_with(welcomed.port, &welcomed.message) else {
            self.fail(format!("host {host}: a message that nobody wrote"));
            return;
        };
        let task = self.accept(host, welcomed.id, flow);
        self.give(task, 0, &welcomed.message, Unit::Message);
        self.user(task);
    }

    /// Something happened to an association of a series of which nothing was read yet.
    pub(crate) fn name(&mut self, host: usize, id: ContextId, event: &Event) -> Option<usize> {
        let now = self.hosts[host].local(self.now);
        let own = &mut self.hosts[host];
        let series = *own.nameless.get(&id)?;
        let (offset, bytes, eom) = match own.engine.command().read(now, id, LIMIT) {
            Ok(Read::Data { offset, bytes, eom }) => (offset, bytes, eom),
            // It came to nothing.
            _ if matches!(event, Event::Closed(_)) => {
                own.nameless.remove(&id);
                own.engine.release(now, id);
                return None;
            }
            _ => return None,
        };
        own.nameless.remove(&id);
        let port = self.flows[series].port;
        let Some(flow) = self.flow_with(port, &bytes) else {
            self.fail(format!("host {host}: octets at {offset} that nobody wrote"));
            return None;
        };
        let task = self.accept(host, id, flow);
        let item = Read::Data { offset, bytes, eom };
        let ledger = &self.flows[flow].ledgers[0];
        if let Err(what) = self.tasks[task].reads(&item, ledger) {
            self.fail_task(task, &what);
        }
        // What was told of it before is told again, now that there is somebody to hear it.
        if let Event::Closed(_) = event
            && let Err(what) = self.tasks[task].event(event, self.now)
        {
            self.fail_task(task, &what);
        }
        Some(task)
    }

    /// The flow to this port whose initiator's stream begins like this.
    fn flow_with(&self, port: u16, octets: &Bytes) -> Option<usize> {
        self.flows.iter().position(|flow| {
            flow.port == port && content::first_difference(flow.ledgers[0].key, 0, octets).is_none()
        })
    }
}
