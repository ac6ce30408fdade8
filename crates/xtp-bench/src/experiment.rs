//! Experiments: who coordinates each, and the loop over a plan.

use crate::error::{Error, Problem, Worked};
use crate::host::Host;
use crate::job::{Job, Outcome, Role};
use crate::launch::Launcher;
use crate::plan::{Experiment, Plan};
use crate::report::Report;
use crate::worker::Console;
use crate::{patterns, rounds, scale, transport, wan};

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

impl Context<'_> {
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

/// Who does an experiment.
pub(crate) struct Entry {
    /// Coordinates it: measures what the plan says and puts rows into the report.
    pub(crate) run: fn(&mut Context<'_>, Experiment) -> Result<(), Error>,
    /// The work of its parties; `None`: the transport's.
    pub(crate) work: Option<fn(&Job, &mut Console) -> Worked<Outcome>>,
}

/// An experiment between one client and one server, at the sizes and on the paths of the plan.
const PAIR: Entry = Entry {
    run: rounds::run,
    work: None,
};

/// Over emulated links, with parties of its own.
const WAN: Entry = Entry {
    run: wan::run,
    work: Some(wan::work),
};

/// An experiment among equals, at the sizes and on the paths of the plan.
const PATTERN: Entry = Entry {
    run: patterns::run,
    work: Some(patterns::work),
};

/// Many associations.
const SCALE: Entry = Entry {
    run: scale::run,
    work: None,
};

/// The table of experiments.
fn entry(experiment: Experiment) -> Entry {
    match experiment {
        Experiment::Pingpong | Experiment::Oneshot | Experiment::Transaction => PAIR,
        Experiment::Bulk => PAIR,
        Experiment::Wan => WAN,
        Experiment::Scale => SCALE,
        Experiment::Stencil | Experiment::Bag | Experiment::Phases => PATTERN,
    }
}

/// Measures what a plan says.
///
/// # Errors
/// [`Error`], if the plan cannot be carried out. A transport that fails is noted in the report instead.
pub fn run(plan: &Plan, launcher: &Launcher, show: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    plan.check()?;
    let mut context = Context {
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
    };
    for &experiment in &plan.experiments {
        (entry(experiment).run)(&mut context, experiment)?;
    }
    Ok(context.report)
}

/// The work of one party.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    if let Some(work) = entry(job.experiment).work {
        return work(job, console);
    }
    if job.role == Role::Rank {
        return Err(Problem::new(format!(
            "'{}' is not done by equals",
            job.experiment
        )));
    }
    let transport = transport::find(&job.transport)?;
    (transport.work)(job, console)
}
