//! Between a host's engine and its users: who opens, who is told what, who acts, and what then leaves.

use core::net::SocketAddr;

use bytes::Bytes;
use xtp_engine::{CloseReason, ContextId, Event, Expectation, Failure, Reply, Unit};

use crate::app::{Outcome, Task, Turn};
use crate::content;
use crate::trace::Side;
use crate::world::World;

impl World {
    /// The initiator of flow `number` opens it.
    pub(crate) fn begin(&mut self, number: usize, peer: SocketAddr) {
        let flow = &mut self.flows[number];
        let host = flow.spec.initiator;
        let now = self.hosts[host].local(self.now);
        let begins = self.hosts[host].config.habits.begins;
        let (engine, options) = (&mut self.hosts[host].engine, flow.spec.open.clone());
        let script = flow.spec.initiator_script.clone();
        let message = script.message().filter(|_| begins);
        let (opened, accepted) = match message {
            Some(octets) => {
                let mut data = content::make(flow.ledgers[0].key, 0, octets);
                let id = engine.begin_message(now, peer, options, &mut data);
                (id, Some(octets - data.len()))
            }
            None => {
                engine.make_room(now);
                (engine.command().open(now, peer, options), None)
            }
        };
        let id = match opened {
            Ok(id) => id,
            Err(error) => {
                flow.open_error = Some(error.to_string());
                return;
            }
        };
        let promise = flow.promise(Side::Initiator);
        let task = self.tasks.len();
        flow.initiator_task = Some(task);
        let mut new = Task::new(number, Side::Initiator, host, id, script, promise);
        if let Some(accepted) = accepted {
            new.has_begun(accepted, &mut flow.ledgers[0]);
        }
        self.tasks.push(new);
        self.hosts[host].tasks.insert(id, task);
        if accepted.is_none() {
            self.user(task);
        }
        self.turn(host);
    }

    /// Users who have what they waited for begin the next thing before their host has its turn, unless that presses.
    pub(crate) fn follow(&mut self, host: usize) {
        if !self.hosts[host].config.late_users {
            self.tell_users(host);
        }
        let now = self.hosts[host].local(self.now);
        if self.hosts[host].engine.is_pressing(now) {
            self.turn(host);
        }
        self.open_flows();
    }

    /// Takes one receive batch of a host; what came to whoever waited goes there.
    pub(crate) fn take_input(&mut self, host: usize) {
        // What was sent together arrives together, and may be taken one by one: as many turns, and no loop.
        self.turns_at.1 = 0;
        let expected = self.expected(host);
        match (self.hosts[host].receive(self.now, expected), expected) {
            (Reply::General, _) => {}
            (Reply::Ended(id), _) => {
                self.hosts[host].orphans.remove(&id);
            }
            (Reply::Answered(id), _) => self.hand_answer(host, id),
            (Reply::Began(..), _) => self.hand_first(host),
            (Reply::Handed(of), Expectation::Next { id, unit, limit }) if of == id => {
                self.hand_next(host, id, unit, limit);
            }
            (Reply::Handed(of), _) => {
                self.fail(format!("host {host}: what comes next of {of:?} was not expected"))
            }
        }
        self.hosts[host].engine.withdraw();
        self.transmit(host);
    }

    fn hand_next(&mut self, host: usize, id: ContextId, unit: Unit, limit: usize) {
        let message = self.hosts[host].engine.take_next();
        let (Some(message), Some(&task)) = (message, self.hosts[host].tasks.get(&id)) else {
            self.fail(format!("host {host}: a {unit:?} of {id:?}, whom nobody knows"));
            return;
        };
        let octets = &message.data;
        if octets.len() > limit {
            self.fail_task(task, "it was given more than it takes");
        }
        self.handed += 1;
        let offset = self.tasks[task].reader.next;
        self.give(task, offset, octets, unit);
        self.user(task);
    }

    fn hand_answer(&mut self, host: usize, id: ContextId) {
        let (answer, task) = (
            self.hosts[host].engine.take_answer(id),
            self.hosts[host].tasks.get(&id),
        );
        let (Some(answer), Some(&task)) = (answer, task) else {
            self.fail(format!("host {host}: an answer to {id:?}, whom nobody knows"));
            return;
        };
        if !answer.is_empty() {
            self.give(task, 0, &answer, Unit::Message);
        }
        let ledger = self.ledger_read_by(task);
        if let Err(what) = self.tasks[task].is_answered(self.now, &ledger) {
            self.fail_task(task, &what);
        }
        self.check_delivery(task);
        self.user(task);
    }

    /// A user is given what it waited for.
    pub(crate) fn give(&mut self, task: usize, offset: u64, octets: &Bytes, unit: Unit) {
        let ledger = self.ledger_read_by(task);
        if let Err(what) = self.tasks[task].is_given(offset, octets, unit, &ledger) {
            self.fail_task(task, &what);
        }
    }

    fn ledger_read_by(&self, task: usize) -> crate::check::stream::Ledger {
        let task = &self.tasks[task];
        self.flows[task.flow].ledgers[1 - task.side.index()].clone()
    }

    /// One turn of a host's engine; then what left is on the links.
    pub(crate) fn flush(&mut self, host: usize) {
        let gone = self.hosts[host].turn(self.now);
        self.transmit(host);
        if gone.is_empty() {
            return;
        }
        for id in gone {
            self.hosts[host].orphans.remove(&id);
        }
        self.hosts[host].turn(self.now);
        self.transmit(host);
    }

    /// What left goes on the links.
    fn transmit(&mut self, host: usize) {
        let now = self.now;
        for batch in self.hosts[host].take_sent() {
            self.net.transmit(now, host, &batch);
        }
        for report in self.net.take_too_big() {
            let local = self.hosts[report.host].local(now);
            let engine = &mut self.hosts[report.host].engine;
            engine.command().failed(
                local,
                report.peer,
                Failure::TooBig {
                    octets: Some(report.octets),
                },
            );
        }
    }

    /// Hands the engine's events to the users they concern; whether there were any.
    pub(crate) fn tell_users(&mut self, host: usize) -> bool {
        let engine = &mut self.hosts[host].engine;
        let events: Vec<_> = core::iter::from_fn(|| engine.poll_event()).collect();
        let mut told = self.route_received(host);
        let any = !events.is_empty() || !told.is_empty();
        for (id, event) in &events {
            self.net.digest.told(self.now, host, *id, event);
            if let Event::Accepted { listener, .. } = event {
                let Some(&flow) = self.hosts[host].listeners.get(listener) else {
                    self.fail(format!("{event:?} for no listener"));
                    continue;
                };
                let series = self.flows[flow].spec.series;
                if series.is_none() || !self.hosts[host].config.collects {
                    let _ = self.hosts[host].engine.command().accepted(*id);
                }
                match series {
                    Some(series) => {
                        self.hosts[host].nameless.insert(*id, series);
                    }
                    None => {
                        self.accept(host, *id, flow);
                    }
                }
            }
            told.extend(self.tell(host, *id, event));
        }
        // Users act when all is told, as whoever wakes up does.
        told.dedup();
        for task in told {
            self.user(task);
        }
        self.transmit(host);
        any
    }

    /// What became of posted receives goes to the users who posted them; these have something to do.
    fn route_received(&mut self, host: usize) -> Vec<usize> {
        let mut told = Vec::new();
        while let Some(received) = self.hosts[host].engine.command().poll_received() {
            let holds = |task: &Task| task.host == host && task.has_posted(received.posted);
            // Of users whose host crashed nothing is left.
            if let Some(task) = self.tasks.iter().position(holds) {
                self.tasks[task].received.push(received);
                told.push(task);
            }
        }
        told
    }

    /// Tells of an event; the task whose user has something to do then.
    fn tell(&mut self, host: usize, id: ContextId, event: &Event) -> Option<usize> {
        if self.hosts[host].orphans.contains_key(&id) {
            self.tell_nobody(host, id, event);
            return None;
        }
        if self.hosts[host].nameless.contains_key(&id) {
            return self.name(host, id, event);
        }
        let task = *self.hosts[host].tasks.get(&id)?;
        // Nobody holds it any more; what it still says is for nobody.
        if self.tasks[task].outcome == Outcome::Released {
            return None;
        }
        if let Err(what) = self.tasks[task].event(event, self.now) {
            self.fail_task(task, &what);
        }
        if let Event::Marked(mark) = event {
            self.check_mark(task, *mark);
        }
        if *event == Event::Closed(CloseReason::Normal) {
            self.check_delivery(task);
        }
        Some(task)
    }

    /// Something happened to an association whose user has gone.
    fn tell_nobody(&mut self, host: usize, id: ContextId, event: &Event) {
        let now = self.hosts[host].local(self.now);
        let host = &mut self.hosts[host];
        match event {
            Event::Closed(_) => {
                host.orphans.remove(&id);
                host.engine.release(now, id);
            }
            Event::Marked(mark) if host.orphans.get(&id) == Some(&Some(*mark)) => host.engine.detach(id),
            Event::Readable => drop(host.engine.command().discard(now, id, 0)),
            _ => {}
        }
    }

    /// A context was accepted for flow `number`; its task.
    pub(crate) fn accept(&mut self, host: usize, id: ContextId, number: usize) -> usize {
        let flow = &mut self.flows[number];
        flow.accepted += 1;
        let task = self.tasks.len();
        let script = flow.spec.responder_script.clone();
        let promise = flow.promise(Side::Responder);
        flow.responder_tasks.push(task);
        let mut new = Task::new(number, Side::Responder, host, id, script, promise);
        new.waits = flow.spec.series.is_some() && self.hosts[host].config.collects;
        self.tasks.push(new);
        self.hosts[host].tasks.insert(id, task);
        task
    }

    /// Gives one user its turn (its host's engine is not flushed), and again as long as what it posts is met at once.
    pub(crate) fn user(&mut self, number: usize) {
        let host = self.tasks[number].host;
        self.one_turn(number);
        loop {
            let told = self.route_received(host);
            if told.is_empty() {
                return;
            }
            told.into_iter().for_each(|task| self.one_turn(task));
        }
    }

    fn one_turn(&mut self, number: usize) {
        let task = &mut self.tasks[number];
        let host = &mut self.hosts[task.host];
        if host.down || host.paused {
            return;
        }
        let [one, two] = &mut self.flows[task.flow].ledgers;
        let (mine, theirs) = if task.side == Side::Initiator {
            (one, two)
        } else {
            (two, one)
        };
        let turn = Turn {
            now: host.config.clock.local(self.now),
            engine: &mut host.engine,
            outbox: &mut host.outbox,
            orphans: &mut host.orphans,
            habits: host.config.habits,
            world: self.now,
            mine,
            theirs,
        };
        let before = task.ready();
        let result = task.turn(turn);
        task.note_open(before, &host.engine, self.now);
        if task.reader.ended {
            self.flows[task.flow].read_at[task.side.index()].get_or_insert(self.now);
        }
        if let Err(what) = result {
            self.fail_task(number, &what);
        }
        self.take_collected(number);
        self.check_memory(number);
    }

    /// Who waits for whole messages takes an association out of its listener's places when it has one.
    fn take_collected(&mut self, number: usize) {
        let task = &mut self.tasks[number];
        let host = &mut self.hosts[task.host];
        let whole = task.reader.messages > 0 || task.reader.ended || task.is_over();
        if task.waits && whole {
            task.waits = false;
            // One that has ended meanwhile has no place any more.
            let _ = host.engine.command().accepted(task.id);
        }
    }
}
