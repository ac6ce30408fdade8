//! Communication patterns of parallel programs: several equal processes on this host, each told where all are.
//!
//! `stencil`: neighbours on a torus exchange borders (rows `stencil-2d`, `stencil-3d`). `bag`: a master hands out
//! tasks. `phases`: neighbourhoods that change. With other than four ranks their number is part of the row's name
//! (`stencil-2d-8`). Associations are kept (`xtp`, `tcp`; in `bag` `xtp-kept`), made for one message or call
//! (`xtp-oneshot`, `tcp-per-message`; in `bag` `xtp`, whose tasks are transactions), or made when first needed
//! (`phases`): then `xtp` and `tcp-per-phase` end them with the phase, `xtp-kept` and `tcp` keep them for ever. `xtp-mesh`: messages of
//! `xtp::mesh`.
//!
//! `p50_us` and `p99_us` are those of the slowest rank: of an iteration, of all phases once, of a request for a task.
//! `ops_per_s` are messages, of `bag` tasks. Packets and system calls are counted per message, of `bag` per task.

mod bag;
mod inbox;
mod mesh;
mod message;
mod phases;
mod rank;
mod stencil;
mod torus;

pub(crate) use message::mix;

use std::time::Duration;

use crate::console::Console;
use crate::context::Context;
use crate::error::{Error, Worked};
use crate::job::{Job, Outcome, Role, Told};
use crate::launch::{PATIENCE, Worker};
use crate::plan::{Experiment, Path};
use crate::rounds::{Figures, Main, alternate, rows};
use crate::row::Row;
use crate::stage::Stage;
use crate::stats::percentile;
use crate::transport;

/// Seconds all rounds of one experiment at one size and path may take; the rest of 15 is for starting processes.
const BUDGET: f64 = 8.0;
/// Ranks if the plan does not say.
const RANKS: usize = 4;
/// Operations of the run that finds out how long one takes, and before those that count in every run.
const PILOT: u64 = 20;
const WARMUP: u64 = 10;
/// Sizes if the plan has none.
const SIZES: [u64; 3] = [64, 1_024, 16_384];

/// One measurement's place in the plan.
struct Cell {
    experiment: Experiment,
    dimensions: usize,
    ranks: usize,
    path: Path,
    size: u64,
}

impl Cell {
    /// The experiment's name in the row.
    fn name(&self) -> String {
        let mut name = self.experiment.name().to_owned();
        if self.experiment == Experiment::Stencil {
            name += &format!("-{}d", self.dimensions);
        }
        if self.ranks != RANKS {
            name += &format!("-{}", self.ranks);
        }
        name
    }

    fn note(&self) -> String {
        match self.experiment {
            Experiment::Stencil => {
                let torus = torus::Torus::new(self.ranks, self.dimensions);
                let links = torus.links(0).len();
                format!(
                    "{} ranks on a torus of {}, {links} links each",
                    self.ranks,
                    torus.shape()
                )
            }
            Experiment::Bag => format!("a master and {} workers", self.ranks - 1),
            _ => format!("{} ranks", self.ranks),
        }
    }
}

/// One rank's part.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.experiment {
        Experiment::Stencil => stencil::work(job, console),
        Experiment::Bag => bag::work(job, console),
        _ => phases::work(job, console),
    }
}

/// Measures a pattern at the sizes, on the paths and with the ranks of the plan.
///
/// # Errors
/// [`Error`], if a path cannot be made, or [`Error::Interrupted`].
pub(crate) fn run(context: &mut Context<'_>, experiment: Experiment) -> Result<(), Error> {
    let plan = context.plan;
    let dimensions: &[usize] = if experiment == Experiment::Stencil {
        &[2, 3]
    } else {
        &[0]
    };
    let sizes = if plan.sizes.is_empty() {
        &SIZES[..]
    } else {
        &plan.sizes
    };
    if let Some(size) = sizes.iter().find(|size| **size < message::HEADER as u64) {
        let text = format!(
            "{experiment} verifies its messages, which takes {} octets, not {size}",
            message::HEADER
        );
        return Err(Error::Plan(text));
    }
    let ranks = ranks(plan.options.get("ranks"))?;
    let cells = plan.paths.len() * ranks.len() * dimensions.len() * sizes.len();
    let transports = transport::chosen(&plan.rivals, experiment).len();
    context.expect(u64::from(plan.runs + 1) * (transports * cells) as u64);
    for &path in &plan.paths {
        let stage = Stage::new(path)?;
        for note in &stage.notes {
            context.note(note.clone());
        }
        for &ranks in &ranks {
            for &dimensions in dimensions {
                for &size in sizes {
                    let cell = Cell {
                        experiment,
                        dimensions,
                        ranks,
                        path,
                        size,
                    };
                    measure(context, &stage, &cell)?;
                }
            }
        }
    }
    Ok(())
}

/// `4,8`: the numbers of ranks to measure with.
fn ranks(option: Option<&String>) -> Result<Vec<usize>, Error> {
    let Some(text) = option else {
        return Ok(vec![RANKS]);
    };
    let parse = |part: &str| match part.trim().parse() {
        Ok(ranks) if (2..=16).contains(&ranks) => Ok(ranks),
        _ => Err(Error::Plan(format!(
            "'{part}' is no number of ranks; write numbers from 2 to 16"
        ))),
    };
    text.split(',').map(parse).collect()
}

fn measure(context: &mut Context<'_>, stage: &Stage, cell: &Cell) -> Result<(), Error> {
    let what = format!("{} {} {}", cell.name(), cell.size, cell.path);
    let transports = transport::chosen(&context.plan.rivals, cell.experiment);
    let share = BUDGET / (f64::from(context.plan.runs) * transports.len() as f64);
    // What a transport does in a round, once it is known how long it takes.
    let mut operations = Vec::new();
    let mut names = Vec::new();
    for transport in transports {
        context.step(format!("{what} {}, trial", transport.name))?;
        match ranks_of(context, stage, &job(context, cell, transport.name, PILOT)) {
            Ok(outcomes) => {
                let seconds = outcomes
                    .iter()
                    .map(|outcome| outcome.seconds)
                    .fold(1e-6, f64::max);
                operations.push(((share * PILOT as f64 / seconds) as u64).clamp(PILOT, 20_000));
                names.push(transport.name);
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => crate::rounds::failed(context, &what, transport.name, &error),
        }
    }
    let rounds = alternate(context, &what, &names, |context, name, _| {
        let place = names.iter().position(|other| *other == name).unwrap_or_default();
        let job = job(context, cell, name, operations[place]);
        Ok(figures(&ranks_of(context, stage, &job)?))
    })?;
    let template = Row {
        experiment: cell.name(),
        path: cell.path.name().to_owned(),
        size: Some(cell.size),
        wait: Some(context.plan.wait.name().to_owned()),
        ..Row::default()
    };
    let main = if cell.experiment == Experiment::Bag {
        Main::Rate
    } else {
        Main::Time
    };
    let mut rows = rows(&template, main, &rounds);
    for row in &mut rows {
        row.note = Some(cell.note());
    }
    context.report.rows.extend(rows);
    Ok(())
}

fn job(context: &Context<'_>, cell: &Cell, transport: &str, operations: u64) -> Job {
    let mut options = context.plan.options.clone();
    options.insert(stencil::DIMENSIONS.to_owned(), cell.dimensions.to_string());
    Job {
        role: Role::Rank,
        experiment: cell.experiment,
        transport: transport.to_owned(),
        wait: context.plan.wait,
        size: cell.size,
        least: None,
        warmup: WARMUP,
        operations,
        seconds: BUDGET,
        core: None,
        bind: std::net::Ipv4Addr::LOCALHOST.into(),
        interface: String::new(),
        peer: String::new(),
        rank: 0,
        ranks: cell.ranks,
        options,
        flow: None,
    }
}

/// Runs all ranks to their end: on the two sides of the path in turn, on all processors in turn.
fn ranks_of(context: &Context<'_>, stage: &Stage, job: &Job) -> Result<Vec<Outcome>, Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut workers = Vec::new();
    for rank in 0..job.ranks {
        let place = if rank % 2 == 0 { &stage.left } else { &stage.right };
        let job = Job {
            rank,
            core: (cores > 1).then_some(rank / 2 % cores),
            bind: place.address,
            interface: place.interface.clone(),
            ..job.clone()
        };
        workers.push(Worker::start(context.launcher, place, &job)?);
    }
    let mut peers = Vec::new();
    for worker in &mut workers {
        peers.push(worker.ready()?);
    }
    for worker in &mut workers {
        worker.tell(&Told::Peers(peers.clone()))?;
    }
    let limit = Duration::from_secs_f64(job.seconds) + PATIENCE;
    let mut outcomes = Vec::new();
    let mut failures = Vec::new();
    for (rank, worker) in workers.iter_mut().enumerate() {
        match worker.outcome(limit) {
            Ok(outcome) => outcomes.push(outcome),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => failures.push(format!("[{rank}] {error}")),
        }
    }
    if failures.is_empty() {
        return Ok(outcomes);
    }
    Err(Error::Worker {
        who: format!("{} {}", job.experiment, job.transport),
        said: failures.join("; "),
    })
}

/// The figures of one round.
fn figures(outcomes: &[Outcome]) -> Figures {
    let of_slowest = |share: f64| {
        let of = |outcome: &Outcome| {
            let micros: Vec<f64> = outcome.samples_ns.iter().map(|&ns| ns as f64 / 1e3).collect();
            percentile(&micros, share)
        };
        outcomes.iter().filter_map(of).max_by(f64::total_cmp)
    };
    let messages: f64 = outcomes
        .iter()
        .filter_map(|outcome| outcome.extra.get(rank::MESSAGES))
        .sum();
    let seconds = outcomes.iter().map(|outcome| outcome.seconds).fold(0.0, f64::max);
    let calls: u64 = outcomes.iter().filter_map(|outcome| outcome.syscalls).sum();
    let packets = outcomes.iter().find_map(|outcome| outcome.packets);
    let measured = messages > 0.0 && seconds > 0.0;
    Figures {
        p50_us: of_slowest(0.5),
        p99_us: of_slowest(0.99),
        ops_per_s: measured.then(|| messages / seconds),
        packets_per_op: packets
            .filter(|_| measured)
            .map(|packets| packets as f64 / messages),
        syscalls_per_op: measured.then(|| calls as f64 / messages),
        ..Figures::default()
    }
}

#[cfg(test)]
#[path = "patterns_tests.rs"]
mod tests;
