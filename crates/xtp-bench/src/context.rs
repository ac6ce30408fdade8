//! What an experiment works with while it measures.

use crate::error::Error;
use crate::host::Host;
use crate::launch::Launcher;
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
}

impl<'a> Context<'a> {
    /// Nothing measured yet.
    pub(crate) fn new(plan: &'a Plan, launcher: &'a Launcher, show: &'a mut dyn FnMut(&Progress)) -> Self {
        Self {
            plan,
            launcher,
            report: Report {
                host: Host::look(),
                command: plan.command.clone(),
                ..Report::default()
            },
            show,
            progress: Progress {
                doing: String::new(),
                done: 0,
                total: 0,
            },
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
        self.launcher.check()?;
        self.progress.doing = doing;
        (self.show)(&self.progress);
        self.progress.done += 1;
        Ok(())
    }

    /// Adds a note, once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.report.notes.contains(&text) {
            self.report.notes.push(text);
        }
    }
}
