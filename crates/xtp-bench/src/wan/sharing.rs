//! Flows that share a link: 100 Mbit/s, 20 ms or others that the plan names, a queue of one bandwidth-delay product; the
//! flows start one after another, and what counts are the shares of the last two thirds of the run.

use std::thread;
use std::time::{Duration, Instant};

use super::cell::{self, Cell};
use super::flow::{BEGIN, RECEIVED};
use super::goodput::{Curve, jain};
use super::link::{Link, bottleneck, job};
use super::{seconds, template};
use crate::context::Context;
use crate::distance::Distance;
use crate::error::Error;
use crate::job::{Job, Role};
use crate::launch::{PATIENCE, Worker};
use crate::plan::Plan;
use crate::report::Series;
use crate::rounds::{Figures, Main, Rounds, rows};

/// Bits a second.
const RATE: u64 = 100_000_000;
const RTT_MS: u64 = 20;
/// Seconds of a run.
const SECONDS: f64 = 30.0;
/// The part of it that counts, at the end.
const COUNTS: f64 = 2.0 / 3.0;
/// When each further flow starts after the one before, share of the run; sooner where the last would come too late to count.
const LATER: f64 = 0.1;
/// How often a run is repeated because the emulator was its bottleneck.
const REPEATS: u32 = 2;
/// How often an interruption is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Who meets whom, in the order of their starts; the name of the case, and of each row.
const CASES: [(&str, &[(&str, &str)]); 8] = [
    ("xtp+xtp", &[("xtp", "xtp"), ("xtp-second", "xtp")]),
    ("xtp+tcp", &[("xtp", "xtp"), ("tcp", "tcp")]),
    ("tcp+xtp", &[("tcp", "tcp"), ("xtp", "xtp")]),
    ("xtp+tcp-bbr", &[("xtp", "xtp"), ("tcp-bbr", "tcp-bbr")]),
    (
        "xtp-x4",
        &[
            ("xtp", "xtp"),
            ("xtp-second", "xtp"),
            ("xtp-third", "xtp"),
            ("xtp-fourth", "xtp"),
        ],
    ),
    ("tcp-bbr+xtp", &[("tcp-bbr", "tcp-bbr"), ("xtp", "xtp")]),
    (
        "xtp-x4+tcp",
        &[
            ("xtp", "xtp"),
            ("xtp-second", "xtp"),
            ("xtp-third", "xtp"),
            ("xtp-fourth", "xtp"),
            ("tcp", "tcp"),
        ],
    ),
    (
        "tcp+xtp-x4",
        &[
            ("tcp", "tcp"),
            ("xtp", "xtp"),
            ("xtp-second", "xtp"),
            ("xtp-third", "xtp"),
            ("xtp-fourth", "xtp"),
        ],
    ),
];

pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let seconds = seconds(context.plan, SECONDS)?;
    let links = links(context.plan)?;
    let chosen = context.plan.options.get("case").cloned();
    let wanted = |name: &str| {
        chosen
            .as_ref()
            .is_none_or(|list| list.split(',').any(|one| one == name))
    };
    let cases: Vec<_> = CASES.iter().filter(|(name, _)| wanted(name)).collect();
    if cases.is_empty() {
        let known = CASES.map(|(name, _)| name).join(", ");
        return Err(Error::Plan(format!(
            "there is no such case of sharing; choose of {known}"
        )));
    }
    context.expect((links.len() * cases.len()) as u64 * u64::from(context.plan.runs));
    for (name, cell) in &links {
        for (case, flows) in &cases {
            meet(context, (name, cell), (case, flows), seconds)?;
        }
    }
    Ok(())
}

/// The links to share, and their names: the plan's, or the usual one. A queue that nobody says otherwise of is exactly one
/// bandwidth-delay product, which may be less than the default.
fn links(plan: &Plan) -> Result<Vec<(String, Cell)>, Error> {
    let cells = cell::wanted_or(plan, vec![Cell::clean(RATE, RTT_MS)])?;
    let named = cells.into_iter().map(|cell| {
        let name = cell.name();
        let manner = match cell.manner.has_queue() {
            true => cell.manner,
            false => cell.manner.with_queue(1.0),
        };
        (name, Cell { manner, ..cell })
    });
    Ok(named.collect())
}

/// Measures one case on one link.
fn meet(
    context: &mut Context<'_>,
    (link, cell): (&str, &Cell),
    (case, flows): (&str, &[(&str, &str)]),
    seconds: f64,
) -> Result<(), Error> {
    let path = format!("{link} {case}");
    let mut rounds: Rounds = flows
        .iter()
        .map(|(row, _)| ((*row).to_owned(), Vec::new()))
        .collect();
    for round in 0..context.plan.runs {
        let what = format!("sharing {case}, round {}", round + 1);
        context.step(what.clone())?;
        let flows: Vec<&str> = flows.iter().map(|(_, transport)| *transport).collect();
        match together(context, &what, (cell, u64::from(round) + 1), &flows, seconds) {
            Ok(run) => add(context, &path, &mut rounds, run, seconds),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => context.report.failures.push(format!("{what}: {error}")),
        }
    }
    let template = template(context, "sharing", path);
    context
        .report
        .rows
        .extend(rows(&template, Main::Throughput, &rounds));
    Ok(())
}

/// What one run brought: a curve for each flow, the start of the first, and what is to be noted.
struct Together {
    curves: Vec<Curve>,
    begin: f64,
    queue_mean_ms: f64,
    note: Option<String>,
}

/// Adds a run's figures to the rounds, and its curves, if it is the first, to the report.
fn add(context: &mut Context<'_>, path: &str, rounds: &mut Rounds, run: Together, seconds: f64) {
    let end = run.begin + seconds;
    let from = end - seconds * COUNTS;
    let goodputs: Vec<f64> = run
        .curves
        .iter()
        .map(|curve| curve.gbit_s(from, end).unwrap_or_default())
        .collect();
    let all: f64 = goodputs.iter().sum();
    for (index, (row, figures)) in rounds.iter_mut().enumerate() {
        if figures.is_empty() {
            context.report.series.push(Series {
                plot: format!("sharing, {path}"),
                transport: row.clone(),
                x_label: "time, s".to_owned(),
                y_label: "Mbit/s".to_owned(),
                points: run.curves[index].steps(0.5, run.begin, end),
            });
        }
        figures.push(Some(Figures {
            gbit_s: Some(goodputs[index]),
            queue_mean_ms: Some(run.queue_mean_ms),
            note: run.note.clone(),
            distance: Distance {
                share: (all > 0.0).then(|| goodputs[index] / all),
                jain: jain(&goodputs),
                ..Distance::default()
            },
            ..Figures::default()
        }));
    }
}

/// Runs flows over one new link, again if the emulator was the bottleneck.
fn together(
    context: &mut Context<'_>,
    what: &str,
    (cell, seed): (&Cell, u64),
    transports: &[&str],
    seconds: f64,
) -> Result<Together, Error> {
    let mut repeated = 0;
    loop {
        let link = Link::new(cell, seed)?;
        let (curves, begin) = flows(context, &link, transports, seconds)?;
        let report = link.report()?;
        let why = bottleneck(&report);
        if let Some(why) = &why {
            context.note(format!("{what}: the emulator was the bottleneck: {why}"));
        }
        if why.is_none() || repeated == REPEATS {
            return Ok(Together {
                curves,
                begin,
                queue_mean_ms: report.left_to_right.queue_mean_ms,
                note: why,
            });
        }
        repeated += 1;
    }
}

/// Starts the flows one after another; they end together.
fn flows(
    context: &Context<'_>,
    link: &Link,
    transports: &[&str],
    seconds: f64,
) -> Result<(Vec<Curve>, f64), Error> {
    let at = |job: Job, role, place: &crate::stage::Place| Job {
        role,
        bind: place.address,
        interface: place.interface.clone(),
        ..job
    };
    let mut servers = Vec::new();
    for transport in transports {
        let job = at(job(context, transport, seconds), Role::Server, &link.right);
        let mut server = Worker::start(context.launcher, &link.right, &job)?;
        let address = server.ready()?;
        servers.push((server, address));
    }
    let begin = Instant::now();
    let mut clients = Vec::new();
    let later = LATER.min((1.0 - COUNTS) / transports.len().saturating_sub(1).max(1) as f64);
    for (index, transport) in transports.iter().enumerate() {
        let start = begin + Duration::from_secs_f64(seconds * later * index as f64);
        while Instant::now() < start {
            context.launcher.check()?;
            thread::sleep(LOOK.min(start.saturating_duration_since(Instant::now())));
        }
        let left = seconds - begin.elapsed().as_secs_f64();
        let mut job = at(job(context, transport, left), Role::Client, &link.left);
        job.peer.clone_from(&servers[index].1);
        clients.push(Worker::start(context.launcher, &link.left, &job)?);
    }
    let limit = Duration::from_secs_f64(seconds) + PATIENCE;
    let mut first = None;
    for client in &mut clients {
        let outcome = client.outcome(limit)?;
        first = first.or_else(|| outcome.extra.get(BEGIN).copied());
    }
    let mut curves = Vec::new();
    for (server, _) in &mut servers {
        curves.push(Curve(server.stop()?.curves.remove(RECEIVED).unwrap_or_default()));
    }
    Ok((curves, first.unwrap_or_default()))
}
