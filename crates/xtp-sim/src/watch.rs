//! What is looked at while a world runs, beside what users read and links carry.

use crate::app::{Outcome, Task};
use crate::check::silence::{Heard, MEMORY, allowed};
use crate::check::wire::{Association, End};
use crate::content::first_difference;
use crate::flow::Flow;
use crate::trace::Side;
use crate::world::World;

/// Least time between two looks, nanoseconds.
const PERIOD: u64 = 100_000_000;

impl World {
    /// Looks at everything that must hold, now and then; before anything happens at this moment.
    pub(crate) fn watch(&mut self) {
        if self.now < self.next_look {
            return;
        }
        self.next_look = self.now + PERIOD;
        self.name_associations();
        for task in &self.tasks {
            let flow = task.flow;
            if !self.suspicions.contains_key(&flow)
                && let Err(what) = self.check_silence(task)
            {
                let what = format!(
                    "at {:.6} s {:?} on host {}: {what}",
                    self.now as f64 / 1e9,
                    task.side,
                    task.host
                );
                self.suspicions.insert(flow, what);
            }
        }
    }

    /// Which of the associations seen on the links is the newest of each flow: the service number says, and in a series,
    /// which has but one, the octets its first packet begins with.
    pub(crate) fn name_associations(&mut self) {
        let all = self.net.check.associations.iter().enumerate();
        for (number, seen) in all.skip(self.named) {
            let begins_so = |flow: &Flow| {
                let begins = seen.begins.as_ref();
                begins.is_some_and(|octets| first_difference(flow.ledgers[0].key, 0, octets).is_none())
            };
            let is_of =
                |flow: &Flow| seen.port == Some(flow.port) && (flow.spec.series.is_none() || begins_so(flow));
            let flow = self.flows.iter().position(is_of);
            if let Some(flow) = flow
                && let Some(before) = self.newest.insert(flow, number)
            {
                self.former.entry(flow).or_default().push(before);
            }
        }
        self.named = self.net.check.associations.len();
    }

    /// An association with octets that were not acknowledged says something.
    fn check_silence(&self, task: &Task) -> Result<(), String> {
        let flow = &self.flows[task.flow];
        let hosts = [flow.spec.initiator, flow.spec.responder];
        let asleep = |&host: &usize| self.hosts[host].paused || self.hosts[host].down;
        // Who speaks to somebody who is over, or never was, gets no answer and need not be told.
        let both = self.tasks.iter().filter(|other| other.flow == task.flow);
        let alive = both.filter(|other| other.outcome == Outcome::Running).count() == 2;
        let unreliable = match task.side {
            Side::Initiator => flow.spec.open.tuning.no_error,
            Side::Responder => flow.spec.listen.tuning.no_error,
        };
        if task.outcome != Outcome::Running || unreliable || hosts.iter().any(asleep) {
            return Ok(());
        }
        let Some(&number) = self.newest.get(&task.flow) else {
            return Ok(());
        };
        let mut heard = self.net.check.associations[number].heard();
        heard.fresh |= self.moves.iter().any(|moved| hosts.contains(&moved.host));
        // What is written after a time in which there was nothing to say may wait for a pace.
        let mut since = heard.sent.max(task.open_since);
        for pause in hosts.iter().filter_map(|host| self.pauses.get(host)) {
            since = since.max(pause.ended);
            heard.paused = heard.paused.max(pause.longest);
        }
        let gap = self.now.saturating_sub(since);
        if gap <= allowed(heard) || !alive {
            return Ok(());
        }
        let open = task.unacknowledged(&self.hosts[task.host].engine);
        if open == 0 {
            return Ok(());
        }
        Err(format!(
            "nothing was sent for {:.3} s although {open} octets are not acknowledged; {:.3} s are explained",
            gap as f64 / 1e9,
            allowed(heard) as f64 / 1e9
        ))
    }
}

impl Association {
    /// When anything was sent and arrived.
    pub(crate) fn heard(&self) -> Heard {
        let [one, two] = &self.ends;
        let sent = one.sent_at.max(two.sent_at);
        let of_late = |end: &&End| sent.saturating_sub(end.quiet.1) <= MEMORY;
        let asked = self.ends.iter().filter_map(|end| end.asked);
        let quiet = self.ends.iter().filter(of_late).map(|end| end.quiet.0).max();
        Heard {
            sent,
            quiet: quiet.unwrap_or(0),
            first: if sent.saturating_sub(one.first.1) <= MEMORY {
                one.first.0
            } else {
                0
            },
            arrived: one.arrived_at.min(two.arrived_at),
            asked: asked.map(|(_, at)| sent.saturating_sub(at)).max().unwrap_or(0),
            slowest: self.slowest,
            paused: 0,
            fresh: !one.heard,
        }
    }
}
