//! What else the host did while something was measured: a figure from shared processors is one of the other processes, too.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// A measurement is spoilt where other processes had more than this of all processors' time, percent.
const SPOILT: f64 = 10.0;
/// Shorter ones are not judged: the kernel counts in ticks of 10 ms.
const LEAST_SECONDS: f64 = 0.2;

/// The host's load before a run and during it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostLoad {
    /// Threads that ran or wanted to run, mean of the minute before.
    pub before: Option<f64>,
    /// Time that other processes and other guests of the hardware had of all processors, percent: mean of all measurements.
    pub others_percent: Option<f64>,
    /// The same of the measurement in which they had most.
    pub others_most_percent: Option<f64>,
    /// Measurements that were judged.
    pub judged: u64,
    /// Measurements of these during which others had more than a tenth.
    pub spoilt: u64,
}

impl HostLoad {
    /// Before anything is measured.
    pub fn look() -> Self {
        let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Self {
            before: text
                .split_ascii_whitespace()
                .next()
                .and_then(|mean| mean.parse().ok()),
            ..Self::default()
        }
    }

    /// During a measurement others had so much; whether that spoilt it.
    pub fn add(&mut self, others: Option<f64>) -> bool {
        let Some(percent) = others else { return false };
        let sum = self.others_percent.unwrap_or(0.0) * self.judged as f64 + percent;
        self.judged += 1;
        self.others_percent = Some(sum / self.judged as f64);
        self.others_most_percent = Some(self.others_most_percent.unwrap_or(0.0).max(percent));
        let is_spoilt = percent > SPOILT;
        self.spoilt += u64::from(is_spoilt);
        is_spoilt
    }

    /// Of this run and a later one.
    pub(crate) fn with(&self, later: &Self) -> Self {
        let judged = self.judged + later.judged;
        let sum = |load: &Self| load.others_percent.unwrap_or(0.0) * load.judged as f64;
        Self {
            before: self.before.or(later.before),
            others_percent: (judged > 0).then(|| (sum(self) + sum(later)) / judged as f64),
            others_most_percent: self
                .others_most_percent
                .into_iter()
                .chain(later.others_most_percent)
                .reduce(f64::max),
            judged,
            spoilt: self.spoilt + later.spoilt,
        }
    }

    /// In a sentence; `None` where the system does not tell.
    pub fn text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(before) = self.before {
            parts.push(format!("{before:.2} threads in the minute before"));
        }
        if let (Some(mean), Some(most)) = (self.others_percent, self.others_most_percent) {
            parts.push(match self.judged {
                1 => format!("other processes had {mean:.0} % of all processors"),
                _ => format!("other processes had {mean:.0} % of all processors, at most {most:.0} %"),
            });
        }
        match (self.spoilt, self.judged) {
            (0, _) => {}
            (_, 1) => parts.push(format!("more than {SPOILT:.0} % spoils figures")),
            (spoilt, judged) => parts.push(format!(
                "{spoilt} of {judged} measurements spoilt by more than {SPOILT:.0} %"
            )),
        }
        (!parts.is_empty()).then(|| format!("load: {}", parts.join("; ")))
    }
}

/// Measures what other processes have of the host's processors.
#[derive(Clone, Debug)]
pub struct LoadMeter {
    begin: Instant,
    /// Ticks of all processes, and of this one with those it started.
    ticks: Option<(u64, u64)>,
}

impl LoadMeter {
    /// Begins now.
    pub fn start() -> Self {
        Self {
            ticks: ticks(),
            begin: Instant::now(),
        }
    }

    /// Percent of all processors' time that others had since then. `None` where the system does not tell, or after too short a
    /// time.
    pub fn others(&self) -> Option<f64> {
        let seconds = self.begin.elapsed().as_secs_f64();
        if seconds < LEAST_SECONDS {
            return None;
        }
        let ((all_before, own_before), (all, own)) = (self.ticks?, ticks()?);
        let others = all
            .saturating_sub(all_before)
            .saturating_sub(own.saturating_sub(own_before));
        let processors = processors(&fs::read_to_string("/proc/stat").ok()?);
        let possible = seconds * rustix::param::clock_ticks_per_second() as f64 * processors as f64;
        Some((100.0 * others as f64 / possible.max(1.0)).min(100.0))
    }
}

/// Ticks that all processes have had, and ticks of this one with all that it started.
fn ticks() -> Option<(u64, u64)> {
    // In this order: what this process does in between is not another's.
    let all = busy(&fs::read_to_string("/proc/stat").ok()?)?;
    Some((all, own()?))
}

/// Ticks of processes and of other guests of the hardware; not those of interrupts, which packets of a measurement cause.
fn busy(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user nice system idle iowait irq softirq steal
    let fields: Vec<u64> = line
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let [user, nice, system, _, _, _, _, stolen] = *fields.first_chunk()?;
    Some(user + nice + system + stolen)
}

fn processors(stat: &str) -> usize {
    let is_one = |line: &&str| {
        line.strip_prefix("cpu")
            .is_some_and(|rest| !rest.starts_with(' '))
    };
    stat.lines().filter(is_one).count().max(1)
}

/// Ticks of this process and its descendants, those that have ended among them. A process whose parent has ended is not
/// found.
fn own() -> Option<u64> {
    let mut parents: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    let this = std::process::id();
    let mut total = None;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok());
        let Some(number) = number else { continue };
        // It may have ended meanwhile.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((parent, ticks)) = process(&stat) else {
            continue;
        };
        if number == this {
            total = Some(ticks);
        }
        parents.entry(parent).or_default().push((number, ticks));
    }
    let mut total = total?;
    let mut open = vec![this];
    while let Some(parent) = open.pop() {
        for (child, ticks) in parents.remove(&parent).unwrap_or_default() {
            total += ticks;
            open.push(child);
        }
    }
    Some(total)
}

/// Parent and ticks of a process, with those of its children that have ended.
fn process(stat: &str) -> Option<(u32, u64)> {
    // The name may have any character in it.
    let (_, behind) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
    let parent = fields.get(1)?.parse().ok()?;
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok());
    Some((parent, ticks.sum::<Option<u64>>()?))
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
