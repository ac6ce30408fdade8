//! What an experiment works with while it measures.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::host::Host;
use crate::launch::Launcher;
use crate::load::{HostLoad, LoadMeter};
use crate::plan::Plan;
use crate::report::Report;

/// Something to show while measuring: what is being measured, and how much is done.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What is being measured.
    pub doing: String,
    /// Measurements made.
    pub done: u64,
    /// Measurements planned, as far as is known.
    pub total: u64,
}

/// What an experiment works with.
pub struct Context<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) launcher: &'a Launcher,
    /// What was found until now.
    pub(crate) report: Report,
    show: &'a mut dyn FnMut(&Progress),
    progress: Progress,
    /// The measurement under way.
    meter: Option<LoadMeter>,
    /// Measurements spoilt by others, by what was measured: how many, and the most that others had.
    spoilt: BTreeMap<String, (u64, f64)>,
}

impl<'a> Context<'a> {
    /// Nothing measured yet.
    pub(crate) fn new(plan: &'a Plan, launcher: &'a Launcher, show: &'a mut dyn FnMut(&Progress)) -> Self {
        Self {
            plan,
            launcher,
            report: Report {
                host: Host::look(),
                load: HostLoad::look(),
                command: plan.command.clone(),
                ..Report::default()
            },
            show,
            progress: Progress {
                doing: String::new(),
                done: 0,
                total: 0,
            },
            meter: None,
            spoilt: BTreeMap::new(),
        }
    }

    /// So many measurements more are planned.
    pub(crate) fn expect(&mut self, measurements: u64) {
        self.progress.total += measurements;
        (self.show)(&self.progress);
    }

    /// A measurement begins; the one before is done.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the caller wants the run to end.
    pub(crate) fn step(&mut self, doing: String) -> Result<(), Error> {
        let others = self.meter.take().and_then(|meter| meter.others());
        self.judge(others);
        self.launcher.check()?;
        self.progress.doing = doing;
        (self.show)(&self.progress);
        self.progress.done += 1;
        self.meter = Some(LoadMeter::start());
        Ok(())
    }

    /// Takes note of what other processes had while the last measurement was made.
    fn judge(&mut self, others: Option<f64>) {
        if self.report.load.add(others) {
            // Rounds of the same are told together.
            let what = self.progress.doing.split(", round").next().unwrap_or_default();
            let (times, most) = self.spoilt.entry(what.to_owned()).or_default();
            *times += 1;
            *most = most.max(others.unwrap_or(0.0));
        }
    }

    /// The report, when nothing more is measured.
    pub(crate) fn finish(mut self) -> Report {
        let others = self.meter.take().and_then(|meter| meter.others());
        self.judge(others);
        for (what, (times, most)) in std::mem::take(&mut self.spoilt) {
            self.note(format!(
                "{what}: spoilt in {times} rounds, in which other processes had up to {most:.0} % of all processors"
            ));
        }
        self.report
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.report.notes.contains(&text) {
            self.report.notes.push(text);
        }
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
