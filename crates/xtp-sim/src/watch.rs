//! What is looked at while a world runs, beside what users read and links carry.

use crate::app::{Outcome, Task};
use crate::check::silence::{Heard, MEMORY, allowed};
use crate::check::wire::End;
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
        let check = &self.net.check;
        for task in &self.tasks {
            let flow = task.flow;
            // Associations of a series have one service number: which is whose can not be told from their packets.
            if self.flows[flow].spec.series.is_some() {
                continue;
            }
            let number = check.ports.get(&self.flows[flow].port);
            let proved = number.is_some_and(|&number| check.amplification.is_validated(number));
            if !proved && !self.stalled.contains(&flow) && self.check_silence(task).is_err() {
                // Known, and wrong: a responder whose 3x budget is spent may not ask, and an initiator that has sent an
                // echo does not poll although it was lost (03, "the waiting initiator"): both wait for the probe of
                // silence. It is counted, and an association may take that much longer.
                self.stalled.insert(flow);
            }
            if proved
                && !self.suspicions.contains_key(&flow)
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
        let Some(heard) = self.net.check.heard(flow.port) else {
            return Ok(());
        };
        let awake = hosts.iter().filter_map(|host| self.resumed.get(host)).max();
        let since = heard.sent.max(awake.copied().unwrap_or(0));
        let gap = self.now.saturating_sub(since);
        if gap <= allowed(heard) || !alive {
            return Ok(());
        }
        let engine = &self.hosts[task.host].engine;
        let acknowledged = engine
            .context_stats(task.id)
            .map(|stats| stats.octets_acknowledged);
        let open = task.written.saturating_sub(acknowledged.unwrap_or(task.written));
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

impl crate::check::wire::WireCheck {
    /// What is known of the newest association with this service number.
    pub(crate) fn heard(&self, port: u16) -> Option<Heard> {
        let association = &self.associations[*self.ports.get(&port)?];
        let [one, two] = &association.ends;
        let sent = one.sent_at.max(two.sent_at);
        let of_late = |end: &&End| sent.saturating_sub(end.quiet.1) <= MEMORY;
        let quiet = association
            .ends
            .iter()
            .filter(of_late)
            .map(|end| end.quiet.0)
            .max();
        Some(Heard {
            sent,
            quiet: quiet.unwrap_or(0),
            arrived: one.arrived_at.min(two.arrived_at),
            slowest: association.slowest,
        })
    }
}
