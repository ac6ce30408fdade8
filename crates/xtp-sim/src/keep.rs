//! A part of a plan: which of its flows, faults, hosts, accidents of links and injected packets are kept, and how often
//! what they measure is halved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::str::FromStr;
use std::time::Duration;

use xtp_link::Loss;

use crate::app::{Pace, Script, Step};
use crate::hostile::Injector;
use crate::seed::Plan;

/// Accidents of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accident {
    /// Packets are lost.
    Loss,
    /// Packets come twice.
    Duplication,
    /// Packets are held back.
    Reordering,
    /// Bits are flipped.
    Corruption,
    /// Delays vary.
    Jitter,
    /// A rate, a queue and its marks.
    Rate,
}

impl Accident {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Loss,
        Self::Duplication,
        Self::Reordering,
        Self::Corruption,
        Self::Jitter,
        Self::Rate,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Duplication => "duplication",
            Self::Reordering => "reordering",
            Self::Corruption => "corruption",
            Self::Jitter => "jitter",
            Self::Rate => "rate",
        }
    }
}

/// What is kept of a plan, as `hosts=2 flows=0,3/2 faults=1/4 links=loss,jitter injected=7,9`: numbers as `--replay` prints
/// them, `/n` halves what is measured (octets, times) n times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The first so many hosts.
    pub hosts: usize,
    /// Flows, and how often octets and times of their users are halved.
    pub flows: BTreeMap<usize, u32>,
    /// Faults, and how often their lengths are halved.
    pub faults: BTreeMap<usize, u32>,
    /// Accidents of links.
    pub links: BTreeSet<Accident>,
    /// Injected packets, by number; all of them if nothing is said.
    pub injected: Option<BTreeSet<u64>>,
}

impl Keep {
    /// Everything there is in a plan.
    pub fn all(plan: &Plan) -> Self {
        Self {
            hosts: plan.hosts.len(),
            flows: (0..plan.flows.len()).map(|number| (number, 0)).collect(),
            faults: (0..plan.troubles.len()).map(|number| (number, 0)).collect(),
            links: Accident::ALL.into_iter().collect(),
            injected: None,
        }
    }

    /// Takes everything else away.
    ///
    /// # Errors
    /// What is kept is not there, or needs what is not kept.
    pub fn apply(&self, plan: &mut Plan, injector: Option<&mut Injector>) -> Result<(), String> {
        let known = [
            ("flow", self.flows.keys().next_back(), plan.flows.len()),
            ("fault", self.faults.keys().next_back(), plan.troubles.len()),
        ];
        for (what, last, count) in known {
            if let Some(last) = last.filter(|&&last| last >= count) {
                return Err(format!("there is no {what} {last}: there are {count}"));
            }
        }
        for (number, (_, flow)) in plan.flows.iter_mut().enumerate() {
            let Some(&times) = self.flows.get(&number) else {
                flow.left_out = true;
                continue;
            };
            halve(&mut flow.initiator_script, times);
            halve(&mut flow.responder_script, times);
        }
        let mut number = 0;
        plan.troubles.retain_mut(|trouble| {
            number += 1;
            let Some(&times) = self.faults.get(&(number - 1)) else {
                return false;
            };
            let begin = trouble.faults.iter().map(|(at, _)| *at).min().unwrap_or_default();
            for (at, _) in &mut trouble.faults {
                *at = begin + shorter(*at - begin, times);
            }
            true
        });
        self.apply_links(plan);
        self.apply_hosts(plan)?;
        if let (Some(injector), Some(kept)) = (injector, &self.injected) {
            injector.keep(kept.clone());
        }
        Ok(())
    }

    fn apply_links(&self, plan: &mut Plan) {
        let gone = |accident| !self.links.contains(&accident);
        let link = &mut plan.link;
        if gone(Accident::Loss) {
            link.loss = Loss::None;
        }
        if gone(Accident::Duplication) {
            link.duplicate = 0.0;
        }
        if gone(Accident::Reordering) {
            link.reorder = 0.0;
        }
        if gone(Accident::Corruption) {
            link.corrupt = 0.0;
        }
        if gone(Accident::Jitter) {
            link.jitter = Duration::ZERO;
        }
        if gone(Accident::Rate) {
            (link.rate_bits_per_s, link.queue_octets, link.ecn_mark_threshold) = (None, None, None);
        }
    }

    fn apply_hosts(&self, plan: &mut Plan) -> Result<(), String> {
        if !(2..=plan.hosts.len()).contains(&self.hosts) {
            return Err(format!(
                "{} hosts of {} can not be kept",
                self.hosts,
                plan.hosts.len()
            ));
        }
        let beyond = |host: usize| host >= self.hosts;
        let mut flows = plan.flows.iter().map(|(_, flow)| flow);
        if flows.any(|flow| !flow.left_out && (beyond(flow.initiator) || beyond(flow.responder))) {
            return Err("a flow that is kept needs a host that is not".to_owned());
        }
        let mut troubles = plan.troubles.iter();
        if troubles.any(|trouble| trouble.hosts().into_iter().any(beyond)) {
            return Err("a fault that is kept needs a host that is not".to_owned());
        }
        plan.hosts.truncate(self.hosts);
        for (_, flow) in &mut plan.flows {
            if beyond(flow.initiator) || beyond(flow.responder) {
                (flow.initiator, flow.responder) = (0, 1);
            }
        }
        Ok(())
    }
}

fn shorter(span: Duration, times: u32) -> Duration {
    span / 2_u32.saturating_pow(times)
}

/// Octets and times of a user, halved.
fn halve(script: &mut Script, times: u32) {
    let fewer = |octets: &mut u32| *octets = (*octets >> times.min(31)).max(1);
    for step in &mut script.steps {
        match step {
            Step::Send { octets, .. } | Step::Respond { octets, .. } => fewer(octets),
            Step::Wait(span) => *span = shorter(*span, times),
            Step::AwaitOctets(octets) => *octets >>= times.min(63),
            _ => {}
        }
    }
    match &mut script.reader.pace {
        Pace::Slow { every, .. } | Pace::Bursty { every } | Pace::StoppedUntil(every) => {
            *every = shorter(*every, times).max(Duration::from_micros(1));
        }
        Pace::Fast | Pace::Never => {}
    }
}

impl Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |all: &BTreeMap<usize, u32>| {
            let all = all.iter().map(|(number, times)| match times {
                0 => number.to_string(),
                times => format!("{number}/{times}"),
            });
            all.collect::<Vec<_>>().join(",")
        };
        let links: Vec<_> = self.links.iter().map(|accident| accident.name()).collect();
        write!(
            f,
            "hosts={} flows={} faults={} links={}",
            self.hosts,
            counted(&self.flows),
            counted(&self.faults),
            links.join(",")
        )?;
        if let Some(injected) = &self.injected {
            let all: Vec<_> = injected.iter().map(u64::to_string).collect();
            write!(f, " injected={}", all.join(","))?;
        }
        Ok(())
    }
}

impl FromStr for Keep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut keep = Self::default();
        for word in text.split_whitespace() {
            let (name, list) = word
                .split_once('=')
                .ok_or_else(|| format!("{word:?} is no name=list"))?;
            let items = || list.split(',').filter(|item| !item.is_empty());
            match name {
                "hosts" => keep.hosts = number(list)? as usize,
                "flows" => keep.flows = items().map(counted).collect::<Result<_, _>>()?,
                "faults" => keep.faults = items().map(counted).collect::<Result<_, _>>()?,
                "links" => keep.links = items().map(accident).collect::<Result<_, _>>()?,
                "injected" => keep.injected = Some(items().map(number).collect::<Result<_, _>>()?),
                _ => {
                    return Err(format!(
                        "{name:?} is none of hosts, flows, faults, links, injected"
                    ));
                }
            }
        }
        Ok(keep)
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn counted(text: &str) -> Result<(usize, u32), String> {
    let (one, times) = text.split_once('/').unwrap_or((text, "0"));
    let times = number(times)?.min(31) as u32;
    Ok((number(one)? as usize, times))
}

fn accident(name: &str) -> Result<Accident, String> {
    let mut all = Accident::ALL.into_iter();
    all.find(|accident| accident.name() == name)
        .ok_or_else(|| format!("no accident of links is called {name:?}"))
}

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;
