//! One run: receivers, then a sender, what happens meanwhile, and what came of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;
use serde::Deserialize;

use super::cell::{Cell, Event};
use super::disk::Disk;
use super::network::{Counters, Network};
use super::party::{Party, outcome, watch};
use super::programs::{self, Receiving};
use crate::delivery::Delivery;
use crate::error::Error;
use crate::launch::Launcher;
use crate::plan::Plan;
use crate::rounds::Figures;

/// When something happens to a receiver, and when one that was stopped goes on.
const HAPPENS: Duration = Duration::from_secs(1);
const GOES_ON: Duration = Duration::from_secs(11);
/// After a receiver has its socket it may still have to join its group.
const SETTLING: Duration = Duration::from_millis(200);
/// What a run may take beyond five times what its uplink needs for each copy it may send.
const LIMIT: f64 = 30.0;
/// A host that was switched off is waited for: patience of xtp's sender, and more.
const PATIENCE: f64 = 40.0;
/// A receiver that serves on and has not said that it has everything when its sender ended has lost it.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// What is run.
pub(super) struct Run<'a> {
    pub(super) launcher: &'a Launcher,
    pub(super) plan: &'a Plan,
    pub(super) network: &'a Network,
    pub(super) disk: &'a Disk,
    pub(super) cell: &'a Cell,
    pub(super) transport: &'a str,
}

/// A receiver of a run.
struct Receiver {
    receiving: Receiving,
    party: Option<Party>,
    /// When it ended or had everything.
    done: Option<Duration>,
}

impl Receiver {
    /// Looks whether it is done.
    fn look(&mut self, begin: Instant, wall: SystemTime) {
        if self.done.is_some() {
            return;
        }
        let ended = self.party.as_ref().and_then(|party| party.ended);
        self.done = match &self.receiving.mark {
            None => ended.map(|ended| ended.at.saturating_duration_since(begin)),
            Some(mark) => mark.left().map(|at| at.duration_since(wall).unwrap_or_default()),
        };
    }
}

impl Run<'_> {
    /// An option of the plan.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.plan.options.get(name).map(String::as_str)
    }

    /// Runs it; whoever was started has ended afterwards.
    ///
    /// # Errors
    /// As the parties'; [`Error::Worker`] if a receiver that nothing was done to has not got every octet.
    pub(super) fn measure(&self) -> Result<Figures, Error> {
        self.network.reset(self.cell)?;
        let mut receivers = self.receivers()?;
        let before = self.network.counters()?;
        let (begin, wall) = (Instant::now(), SystemTime::now());
        let mut sender = Party::start(
            format!("{} sender", self.transport),
            &self.network.sender,
            &programs::sender(self)?,
            self.disk.log("sender"),
        )?;
        self.watch(&mut sender, &mut receivers, (begin, wall))?;
        let counters = self.network.counters()?.since(before);
        self.sum(&sender, &receivers, begin, counters)
    }

    fn receivers(&self) -> Result<Vec<Receiver>, Error> {
        let count = self.network.receivers.len();
        let started = count - usize::from(self.cell.event == Event::Late);
        let mut receivers = Vec::new();
        for index in 0..count {
            receivers.push(Receiver {
                receiving: programs::receiver(self, index)?,
                party: None,
                done: None,
            });
        }
        for (index, receiver) in receivers[..started].iter_mut().enumerate() {
            receiver.party = Some(self.start(index, &receiver.receiving)?);
        }
        for party in receivers.iter_mut().filter_map(|one| one.party.as_mut()) {
            party.listens(self.launcher)?;
        }
        std::thread::sleep(SETTLING);
        Ok(receivers)
    }

    fn start(&self, index: usize, receiving: &Receiving) -> Result<Party, Error> {
        let receiver = programs::receiver_name(index);
        let name = format!("{} {receiver}", self.transport);
        let log = self.disk.log(&receiver);
        Party::start(name, &self.network.receivers[index], &receiving.line, log)
    }

    /// Until everybody is done, or the time is over.
    fn watch(
        &self,
        sender: &mut Party,
        receivers: &mut [Receiver],
        (begin, wall): (Instant, SystemTime),
    ) -> Result<(), Error> {
        let limit = self.limit();
        let mut actions = actions(self.cell.event);
        loop {
            let now = begin.elapsed();
            while actions.first().is_some_and(|(at, _)| *at <= now) {
                self.act(actions.remove(0).1, receivers)?;
            }
            receivers
                .iter_mut()
                .for_each(|receiver| receiver.look(begin, wall));
            let over = sender.ended.map(|ended| ended.at.elapsed());
            if over.is_some_and(|over| self.is_over(over, &actions, receivers)) || now >= limit {
                return Ok(());
            }
            let next = actions.first().map_or(limit, |(at, _)| *at).min(limit);
            let parties = receivers.iter_mut().filter_map(|one| one.party.as_mut());
            watch(
                self.launcher,
                parties.chain([&mut *sender]),
                next.saturating_sub(begin.elapsed()),
            )?;
        }
    }

    /// The longest a run may take.
    fn limit(&self) -> Duration {
        let copies = if self.transport == "tcp" {
            self.cell.receivers as f64
        } else {
            1.0
        };
        let patience = if self.cell.event == Event::Off {
            PATIENCE
        } else {
            0.0
        };
        Duration::from_secs_f64(LIMIT + patience + 5.0 * copies * self.cell.floor())
    }

    /// Whether nothing is left to happen, the sender having ended a while ago.
    fn is_over(&self, ago: Duration, actions: &[(Duration, Action)], receivers: &[Receiver]) -> bool {
        let waited = match self.cell.event {
            // Nobody can tell a host that is off that all is over.
            Event::Off => receivers.len() - 1,
            _ => receivers.len(),
        };
        let mut waited = receivers[..waited].iter();
        actions.is_empty()
            && waited.all(|one| one.done.is_some() || (one.receiving.mark.is_some() && ago > AFTERWARDS))
    }

    fn act(&self, action: Action, receivers: &mut [Receiver]) -> Result<(), Error> {
        let last = receivers.len() - 1;
        let receiver = &mut receivers[last];
        match action {
            Action::Cut => self.network.connect_last(false)?,
            Action::Start => receiver.party = Some(self.start(last, &receiver.receiving)?),
            Action::Signal(signal) => {
                if let Some(party) = &mut receiver.party {
                    party.signal(signal);
                }
            }
        }
        Ok(())
    }

    fn sum(
        &self,
        sender: &Party,
        receivers: &[Receiver],
        begin: Instant,
        counters: Counters,
    ) -> Result<Figures, Error> {
        let cell = self.cell;
        let healthy = receivers.len() - usize::from(cell.event != Event::Calm);
        let (healthy, disturbed) = receivers.split_at(healthy);
        self.complete(sender, healthy, begin)?;
        let seconds = healthy
            .iter()
            .filter_map(|one| one.done)
            .max()
            .unwrap_or_default();
        let seconds = seconds.as_secs_f64().max(1e-6);
        let ended = sender
            .ended
            .map(|ended| ended.at.saturating_duration_since(begin).as_secs_f64());
        let disturbed_s = disturbed.first().and_then(|one| self.recovered(one));
        let received = match self.transport {
            "raw" => raw_octets(healthy),
            _ => cell.octets as f64,
        };
        let parties = receivers.iter().filter_map(|one| one.party.as_ref());
        let cpu: f64 = parties
            .chain([sender])
            .map(|party| {
                party
                    .ended
                    .map_or_else(|| party.cpu_seconds(), |ended| ended.cpu_s)
            })
            .sum();
        let all = cell.octets as f64 * cell.receivers as f64;
        let payload = counters.payload(programs::header(self.transport)) as f64;
        Ok(Figures {
            gbit_s: Some(received * 8.0 / seconds / 1e9),
            cpu_s_per_gb: Some(cpu / all * 1e9),
            delivery: Delivery {
                seconds: Some(seconds),
                seconds_spread: None,
                sender_s: ended,
                disturbed_s,
                wire_ratio: Some(payload / cell.octets as f64),
                data_packets: Some(counters.packets as f64),
                feedback_packets: counters.feedback.map(|packets| packets as f64),
                ..Delivery::default()
            },
            note: self.note(sender, disturbed_s, received),
            ..Figures::default()
        })
    }

    /// Every receiver that nothing was done to has everything, and ours say so.
    fn complete(&self, sender: &Party, healthy: &[Receiver], begin: Instant) -> Result<(), Error> {
        let is_whole = |one: &Receiver| {
            let file = one.receiving.file.as_ref();
            one.done.is_some() && file.is_none_or(|file| self.disk.is_whole(file))
        };
        let whole = healthy.iter().filter(|one| is_whole(one)).count();
        if let Some(missing) = healthy.iter().find(|one| !is_whole(one)) {
            let what = format!(
                "{whole} of {} undisturbed receivers have the file after {:.1} s",
                healthy.len(),
                begin.elapsed().as_secs_f64()
            );
            let theirs = missing.party.as_ref().map(|party| party.failed("says"));
            let theirs = theirs.map_or(String::new(), |error| format!("; {error}"));
            return Err(sender.failed(&format!("{what}{theirs}; the sender says")));
        }
        let failed = |party: &&Party| party.ended.is_some_and(|ended| !ended.status.success());
        let calm = self.cell.event == Event::Calm && self.transport == "xtp";
        let mut parties = healthy
            .iter()
            .filter_map(|one| one.party.as_ref())
            .chain([sender]);
        match parties.find(|party| calm && failed(party)) {
            None => Ok(()),
            Some(party) => Err(party.failed("has everything, but failed")),
        }
    }

    /// How long it took who was disturbed to have everything.
    fn recovered(&self, receiver: &Receiver) -> Option<f64> {
        let done = receiver.done?;
        let file = receiver.receiving.file.as_ref()?;
        let since = match self.cell.event {
            Event::Stopped => GOES_ON,
            Event::Late => Duration::ZERO,
            _ => return None,
        };
        let whole = self.disk.is_whole(file);
        whole.then(|| done.saturating_sub(since).as_secs_f64())
    }

    fn note(&self, sender: &Party, disturbed_s: Option<f64>, received: f64) -> Option<String> {
        let mut words = Vec::new();
        if self.transport == "raw" {
            // The end of the stream is an octet more.
            let lost = 100.0 * (1.0 - received / self.cell.octets as f64).max(0.0);
            words.push(format!("{lost:.1} % lost; nothing written or compared"));
        }
        if matches!(self.cell.event, Event::Stopped | Event::Late) && disturbed_s.is_none() {
            words.push("the disturbed receiver did not get the file".to_owned());
        }
        if sender.ended.is_none() {
            words.push(format!(
                "the sender did not end within {:.0} s",
                self.limit().as_secs_f64()
            ));
        }
        words.extend(states(&sender.said()));
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// What happens to the last receiver.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Action {
    Signal(Signal),
    Cut,
    Start,
}

fn actions(event: Event) -> Vec<(Duration, Action)> {
    match event {
        Event::Calm => Vec::new(),
        Event::Stopped => vec![
            (HAPPENS, Action::Signal(Signal::STOP)),
            (GOES_ON, Action::Signal(Signal::CONT)),
        ],
        Event::Killed => vec![(HAPPENS, Action::Signal(Signal::KILL))],
        Event::Off => vec![(HAPPENS, Action::Cut)],
        Event::Late => vec![(HAPPENS, Action::Start)],
    }
}

/// Octets that a receiver of the raw stream got, on the average.
fn raw_octets(receivers: &[Receiver]) -> f64 {
    let octets = receivers
        .iter()
        .filter_map(|one| outcome(&one.party.as_ref()?.said()));
    let octets = octets.map(|outcome| outcome.octets);
    octets.sum::<u64>() as f64 / receivers.len().max(1) as f64
}

/// What `xtp cast send --json` says about receivers that are not simply complete.
#[derive(Deserialize)]
struct Summary {
    receivers: Vec<State>,
}

#[derive(Deserialize)]
struct State {
    state: String,
}

fn states(said: &str) -> Option<String> {
    let mut lines = said.lines().rev();
    let summary: Summary = lines.find_map(|line| serde_json::from_str(line).ok())?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for receiver in summary.receivers {
        *counts.entry(receiver.state).or_default() += 1;
    }
    if counts.keys().all(|state| state == "complete") {
        return None;
    }
    let words: Vec<String> = counts
        .iter()
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    Some(format!("its sender reports {}", words.join(", ")))
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
