//! Experiments: who coordinates each, and the loop over a plan.

use crate::console::Console;
use crate::context::{Context, Progress};
use crate::error::{Error, Problem, Worked};
use crate::job::{Job, Outcome, Role};
use crate::launch::Launcher;
use crate::plan::{Experiment, Plan};
use crate::report::Report;
use crate::{flow, multicast, patterns, rounds, scale, transport, wan};

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

/// A sender and many receivers, on a network of their own.
const MULTICAST: Entry = Entry {
    run: multicast::run,
    work: Some(multicast::work),
};

/// The table of experiments.
fn entry(experiment: Experiment) -> Entry {
    match experiment {
        Experiment::Pingpong | Experiment::Oneshot | Experiment::Transaction => PAIR,
        Experiment::Bulk => PAIR,
        Experiment::Wan => WAN,
        Experiment::Scale => SCALE,
        Experiment::Stencil | Experiment::Bag | Experiment::Phases => PATTERN,
        Experiment::Multicast => MULTICAST,
    }
}

/// Measures what a plan says.
///
/// A run that is interrupted keeps the rows that were complete ([`Report::interrupted`]): `all` takes half an hour.
///
/// # Errors
/// [`Error`], if the plan cannot be carried out, or [`Error::Interrupted`] before the first row is complete. A transport
/// that fails is noted in the report instead.
pub fn run(plan: &Plan, launcher: &Launcher, show: &mut dyn FnMut(&Progress)) -> Result<Report, Error> {
    plan.check()?;
    let mut context = Context::new(plan, launcher, show);
    for &experiment in &plan.experiments {
        match (entry(experiment).run)(&mut context, experiment) {
            Ok(()) => {}
            Err(Error::Interrupted) if !context.report.rows.is_empty() => {
                context.note(format!(
                    "interrupted while measuring {experiment}: the rest was not measured"
                ));
                context.report.interrupted = true;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(context.finish())
}

/// The work of one party.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    if let Some(terms) = &job.flow {
        return flow::serve(job, terms, console);
    }
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
