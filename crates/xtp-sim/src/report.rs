//! What a seed showed, and the sum over many.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use crate::paradigm::Paradigm;
use crate::trace::option_table;
use crate::trouble::FaultClass;
use xtp_wire::Options;

/// What one seed showed.
#[derive(Clone, Debug, Default)]
pub struct SeedReport {
    /// The seed.
    pub seed: u64,
    /// Nothing was wrong.
    pub passed: bool,
    /// What was wrong first.
    pub failure: Option<String>,
    /// Packets handed to links.
    pub packets: u64,
    /// Octets read and compared.
    pub octets_checked: u64,
    /// Of all that hosts sent and users were told; 0 of groups.
    pub digest: u64,
    /// Virtual time.
    pub simulated: Duration,
    /// Associations planned.
    pub flows: u64,
    /// Of these, ended with everything confirmed at both ends.
    pub clean: u64,
    /// Ends that learned nothing more although everything was delivered (§6.7).
    pub residue: u64,
    /// Associations that were allowed to end badly (datagrams, which promise nothing, are not counted).
    pub excused: u64,
    /// Of these, how many did, by the name of each excuse that held.
    pub excuses: BTreeMap<&'static str, u64>,
    /// Ends that were refused, by the reason in words.
    pub refusals: BTreeMap<String, u64>,
    /// Fault classes that had an effect.
    pub faults: BTreeSet<&'static str>,
    /// Paradigms at work.
    pub paradigms: BTreeSet<&'static str>,
    /// Option bits seen on packets.
    pub options: BTreeSet<&'static str>,
    /// Packets an injector put into sockets, by what was wrong with them.
    pub strikes: BTreeMap<&'static str, u64>,
    /// The same by what was wrong and the paradigm they were made from.
    pub struck: BTreeMap<(&'static str, &'static str), u64>,
}

impl SeedReport {
    /// A seed that could not be run.
    pub(crate) fn failed(failure: String) -> Self {
        Self {
            failure: Some(failure),
            ..Self::default()
        }
    }
}

/// The sum over seeds.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Seeds run.
    pub seeds: u64,
    /// Seeds without a failure.
    pub passed: u64,
    /// Packets handed to links.
    pub packets: u64,
    /// Octets read and compared.
    pub octets_checked: u64,
    /// Virtual time.
    pub simulated: Duration,
    /// Associations planned.
    pub flows: u64,
    /// Of these, ended with everything confirmed at both ends.
    pub clean: u64,
    /// Ends of 14.10.
    pub residue: u64,
    /// Associations that were allowed to end badly.
    pub excused: u64,
    /// Of these, how many did, by the name of each excuse that held.
    pub excuses: BTreeMap<&'static str, u64>,
    /// Ends that were refused, by the reason in words.
    pub refusals: BTreeMap<String, u64>,
    /// The seeds that failed, with what was wrong.
    pub failures: Vec<(u64, String)>,
    faults: BTreeMap<&'static str, u64>,
    paradigms: BTreeMap<&'static str, u64>,
    options: BTreeMap<&'static str, u64>,
    /// Packets injected, by what was wrong with them.
    pub strikes: BTreeMap<&'static str, u64>,
}

impl Summary {
    /// Adds a seed's report.
    pub fn add(&mut self, report: &SeedReport) {
        self.seeds += 1;
        self.passed += u64::from(report.passed);
        self.packets += report.packets;
        self.octets_checked += report.octets_checked;
        self.simulated += report.simulated;
        self.flows += report.flows;
        self.clean += report.clean;
        self.residue += report.residue;
        self.excused += report.excused;
        for (name, count) in &report.excuses {
            *self.excuses.entry(name).or_default() += count;
        }
        for (reason, count) in &report.refusals {
            *self.refusals.entry(reason.clone()).or_default() += count;
        }
        if let Some(failure) = &report.failure {
            self.failures.push((report.seed, failure.clone()));
        }
        for (name, count) in &report.strikes {
            *self.strikes.entry(name).or_default() += count;
        }
        let sets = [
            (&mut self.faults, &report.faults),
            (&mut self.paradigms, &report.paradigms),
            (&mut self.options, &report.options),
        ];
        for (counts, names) in sets {
            for name in names {
                *counts.entry(name).or_default() += 1;
            }
        }
    }

    /// Share of associations that were allowed to end badly, 0 to 1.
    pub fn excused_share(&self) -> f64 {
        self.excused as f64 / self.flows.max(1) as f64
    }

    /// Share of seeds in which each fault class had an effect, 0 to 1, with its name.
    pub fn fault_rates(&self) -> Vec<(&'static str, f64)> {
        let known = FaultClass::ALL.iter().map(|class| class.name());
        self.rates(known.chain(of_groups(&self.faults)), &self.faults)
    }

    /// Share of seeds in which each paradigm was at work.
    pub fn paradigm_rates(&self) -> Vec<(&'static str, f64)> {
        let known = Paradigm::ALL.iter().map(|paradigm| paradigm.name());
        self.rates(known.chain(of_groups(&self.paradigms)), &self.paradigms)
    }

    /// Share of seeds in which each option bit of unicast was on a packet.
    pub fn option_rates(&self) -> Vec<(&'static str, f64)> {
        let unicast = option_table().iter().filter(|(bit, _)| *bit != Options::MULTI);
        self.rates(unicast.map(|(_, name)| *name), &self.options)
    }

    fn rates(
        &self,
        names: impl Iterator<Item = &'static str>,
        counts: &BTreeMap<&'static str, u64>,
    ) -> Vec<(&'static str, f64)> {
        let share =
            |name: &'static str| counts.get(name).copied().unwrap_or(0) as f64 / self.seeds.max(1) as f64;
        names.map(|name| (name, share(name))).collect()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seeds = self.seeds.max(1);
        writeln!(f, "seeds              {}", self.seeds)?;
        writeln!(
            f,
            "packets            {} ({} a seed)",
            self.packets,
            self.packets / seeds
        )?;
        let kib = self.octets_checked as f64 / 1024.0;
        writeln!(
            f,
            "octets checked     {kib:.0} KiB ({:.1} KiB a seed)",
            kib / seeds as f64
        )?;
        writeln!(f, "simulated          {:.0} s", self.simulated.as_secs_f64())?;
        writeln!(
            f,
            "associations       {} ({} clean at both ends)",
            self.flows, self.clean
        )?;
        writeln!(f, "confirmations lost {}", self.residue)?;
        let used: Vec<_> = self
            .excuses
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        writeln!(
            f,
            "may end badly      {:.1} % of associations; did: {}",
            self.excused_share() * 100.0,
            used.join(", ")
        )?;
        let refused: Vec<_> = self
            .refusals
            .iter()
            .map(|(reason, count)| format!("{reason} {count}"))
            .collect();
        writeln!(f, "refused            {}", refused.join(", "))?;
        if !self.strikes.is_empty() {
            let all: Vec<_> = self
                .strikes
                .iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            writeln!(f, "injected           {}", all.join(", "))?;
        }
        table(f, "fault classes, share of seeds", &self.fault_rates())?;
        table(f, "paradigms, share of seeds", &self.paradigm_rates())?;
        table(f, "option bits, share of seeds", &self.option_rates())?;
        write!(f, "passed {} of {}", self.passed, self.seeds)
    }
}

/// What only groups have: it is listed where it occurs.
fn of_groups(seen: &BTreeMap<&'static str, u64>) -> impl Iterator<Item = &'static str> {
    let parties = ["group", "receiver", "transmitter"];
    let names = seen.keys().copied();
    names.filter(move |name| parties.iter().any(|party| name.starts_with(party)))
}

fn table(f: &mut fmt::Formatter<'_>, title: &str, rates: &[(&'static str, f64)]) -> fmt::Result {
    writeln!(f, "{title}")?;
    for row in rates.chunks(3) {
        let cells: Vec<_> = row
            .iter()
            .map(|(name, share)| format!("{name:<24}{:>5.1} %", share * 100.0))
            .collect();
        writeln!(f, "  {}", cells.join("   "))?;
    }
    Ok(())
}
