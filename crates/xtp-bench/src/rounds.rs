//! Rounds: in each every transport runs once, in an order that rotates, so that what the host does meanwhile hits
//! all alike. Figures are medians over rounds, ratios medians of the ratios within rounds.

use std::net::SocketAddr;

use crate::context::Context;
use crate::delivery::Delivery;
use crate::distance::Distance;
use crate::error::Error;
use crate::fitting::Timings;
use crate::job::{Job, Outcome, Role};
use crate::launch::{Pair, pair};
use crate::plan::{Experiment, Path};
use crate::remote::{self, Far};
use crate::row::Row;
use crate::sizes::{ITERATIONS, PAPER_SIZES, ROUND_TRIPS, TIMINGS};
use crate::stage::Stage;
use crate::stats::{median, median_ratio, percentile, spread};
use crate::transport::{self, Transport};

/// Seconds all rounds of one experiment at one size and path may take; the rest of 15 is for starting processes.
const BUDGET: f64 = 10.0;
/// The same for bulk, of 40.
const BULK_BUDGET: f64 = 32.0;
/// After so many failures a transport is not tried again.
const FAILURES: usize = 2;

/// What was measured of one transport in one round. What makes no sense stays `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
    pub(crate) gbit_s: Option<f64>,
    pub(crate) ops_per_s: Option<f64>,
    pub(crate) cpu_s_per_gb: Option<f64>,
    pub(crate) client_cores: Option<f64>,
    pub(crate) server_cores: Option<f64>,
    pub(crate) softirq_s_per_gb: Option<f64>,
    pub(crate) packets_per_op: Option<f64>,
    pub(crate) syscalls_per_op: Option<f64>,
    pub(crate) instructions_per_op: Option<f64>,
    pub(crate) octets_per_association: Option<f64>,
    pub(crate) setups_per_s: Option<f64>,
    pub(crate) queue_mean_ms: Option<f64>,
    pub(crate) distance: Distance,
    pub(crate) delivery: Delivery,
    pub(crate) note: Option<String>,
}

/// The figure whose ratio to xtp's counts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Main {
    /// `p50_us`.
    Time,
    /// `gbit_s`.
    Throughput,
    /// `ops_per_s`.
    Rate,
}

/// Figures by transport (in the order given) and round; `None` where a transport failed.
pub(crate) type Rounds = Vec<(String, Vec<Option<Figures>>)>;

/// Measures every transport once a round with `measure(context, name, round)`, in rotating order. A failure is
/// noted in the report and leaves a gap; one of xtp itself is a failure of the run.
///
/// # Errors
/// [`Error::Interrupted`].
pub(crate) fn alternate(
    context: &mut Context<'_>,
    what: &str,
    names: &[&str],
    mut measure: impl FnMut(&mut Context<'_>, &str, u32) -> Result<Figures, Error>,
) -> Result<Rounds, Error> {
    let mut rounds: Rounds = names
        .iter()
        .map(|name| ((*name).to_owned(), Vec::new()))
        .collect();
    let mut failures = vec![0; names.len()];
    for round in 0..context.plan.runs {
        for place in 0..names.len() {
            let index = (place + round as usize) % names.len();
            let name = names[index];
            context.step(format!("{what} {name}, round {}", round + 1))?;
            let figures = if failures[index] >= FAILURES {
                None
            } else {
                match measure(context, name, round) {
                    Ok(figures) => Some(figures),
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    Err(error) => {
                        failures[index] += 1;
                        failed(context, what, name, &error);
                        None
                    }
                }
            };
            rounds[index].1.push(figures);
        }
    }
    Ok(rounds)
}

pub(crate) fn failed(context: &mut Context<'_>, what: &str, name: &str, error: &Error) {
    let text = format!("{what} {name}: {error}");
    if name == "xtp" || name.starts_with("xtp-") {
        context.report.failures.push(text);
    } else {
        context.note(text);
    }
}

/// One row for each transport that was measured at all. `template` has what all rows share.
pub(crate) fn rows(template: &Row, main: Main, rounds: &Rounds) -> Vec<Row> {
    let column = |figures: &[Option<Figures>], of: fn(&Figures) -> Option<f64>| -> Vec<Option<f64>> {
        figures.iter().map(|round| round.as_ref().and_then(of)).collect()
    };
    let of: fn(&Figures) -> Option<f64> = match main {
        Main::Time => |figures| figures.p50_us,
        Main::Throughput => |figures| figures.gbit_s,
        Main::Rate => |figures| figures.ops_per_s,
    };
    let mut rows = Vec::new();
    for (name, figures) in rounds {
        let measured = figures.iter().flatten().count();
        if measured == 0 {
            continue;
        }
        let all = |of| column(figures, of).into_iter().flatten().collect::<Vec<f64>>();
        let middle = |of| median(&all(of));
        let ours = rounds
            .iter()
            .find(|(ours, _)| ours == transport::baseline_of(name, &template.experiment));
        let ours = ours.map(|(_, figures)| figures.as_slice()).unwrap_or_default();
        let ratio = |of| median_ratio(&column(figures, of), &column(ours, of));
        rows.push(Row {
            transport: name.clone(),
            rounds: measured as u32,
            p50_us: middle(|round| round.p50_us),
            p99_us: middle(|round| round.p99_us),
            gbit_s: middle(|round| round.gbit_s),
            cpu_s_per_gb: middle(|round| round.cpu_s_per_gb),
            client_cores: middle(|round| round.client_cores),
            server_cores: middle(|round| round.server_cores),
            packets_per_op: middle(|round| round.packets_per_op),
            syscalls_per_op: middle(|round| round.syscalls_per_op),
            ratio_to_xtp: ratio(of),
            p50_us_spread: spread(&all(|round| round.p50_us)),
            gbit_s_spread: spread(&all(|round| round.gbit_s)),
            ops_per_s: middle(|round| round.ops_per_s),
            softirq_s_per_gb: middle(|round| round.softirq_s_per_gb),
            instructions_per_op: middle(|round| round.instructions_per_op),
            octets_per_association: middle(|round| round.octets_per_association),
            setups_per_s: middle(|round| round.setups_per_s),
            queue_mean_ms: middle(|round| round.queue_mean_ms),
            distance: Distance::median(figures.iter().flatten().map(|round| &round.distance)),
            delivery: Delivery::median(figures.iter().flatten().map(|round| &round.delivery)),
            ratio_cpu_to_xtp: ratio(|round| round.cpu_s_per_gb),
            note: figures.iter().flatten().find_map(|round| round.note.clone()),
            ..template.clone()
        });
    }
    rows
}

/// Measures an experiment between a client and a server at the sizes and on the paths of the plan.
///
/// # Errors
/// [`Error`], if a path cannot be made, or [`Error::Interrupted`].
pub(crate) fn run(context: &mut Context<'_>, experiment: Experiment) -> Result<(), Error> {
    let plan = context.plan;
    let sizes = sizes(&plan.sizes, experiment);
    let mut transports = transport::chosen(&plan.rivals, experiment);
    if let Some(server) = plan.to {
        return between_hosts(context, experiment, server, &mut transports);
    }
    let per_size = u64::from(plan.runs) * transports.len() as u64;
    context.expect(per_size * (sizes.len() * plan.paths.len()) as u64);
    for &path in &plan.paths {
        let stage = Stage::new(path)?;
        for note in &stage.notes {
            context.note(note.clone());
        }
        let mut timings = Timings::default();
        for &size in &sizes {
            one_size(
                context,
                &stage,
                (experiment, path, size),
                &transports,
                &mut timings,
            )?;
        }
        let fits = timings.fits(experiment, path, plan.wait);
        context.report.fits.extend(fits);
    }
    Ok(())
}

/// The same with a server on another host.
fn between_hosts(
    context: &mut Context<'_>,
    experiment: Experiment,
    server: SocketAddr,
    transports: &mut Vec<&'static Transport>,
) -> Result<(), Error> {
    let plan = context.plan;
    for transport in transports.extract_if(.., |transport| !remote::reaches(transport.name)) {
        context.note(format!(
            "{} is left out: not measured between two hosts",
            transport.name
        ));
    }
    let mut far = Far::new(server)?;
    let sizes = sizes(&plan.sizes, experiment);
    context.expect(u64::from(plan.runs) * (transports.len() * sizes.len()) as u64);
    let names: Vec<&str> = transports.iter().map(|transport| transport.name).collect();
    for size in sizes {
        let job = job(context, experiment, size, names.len())?;
        let what = format!("{experiment} {} to {server}", context.plan.lengths(size));
        let rounds = alternate(context, &what, &names, |context, name, _| {
            let job = Job {
                transport: name.to_owned(),
                ..job.clone()
            };
            Ok(figures(experiment, &far.pair(context.launcher, &job)?))
        })?;
        let template = template(context, experiment, size, "remote");
        context
            .report
            .rows
            .extend(rows(&template, main_of(experiment), &rounds));
    }
    if !far.waited().is_zero() {
        let seconds = far.waited().as_secs();
        context.note(format!(
            "{experiment}: other clients of the server were waited for, {seconds} s in all"
        ));
    }
    Ok(())
}

/// What all rows of a cell share.
fn template(context: &Context<'_>, experiment: Experiment, size: u64, path: &str) -> Row {
    Row {
        experiment: experiment.name().to_owned(),
        path: path.to_owned(),
        size: Some(size),
        least: context.plan.least,
        wait: Some(context.plan.wait.name().to_owned()),
        ..Row::default()
    }
}

fn main_of(experiment: Experiment) -> Main {
    match experiment {
        Experiment::Bulk => Main::Throughput,
        _ => Main::Time,
    }
}

fn sizes(wanted: &[u64], experiment: Experiment) -> Vec<u64> {
    match experiment {
        _ if !wanted.is_empty() => wanted.to_vec(),
        Experiment::Bulk => vec![1 << 20],
        _ => PAPER_SIZES.to_vec(),
    }
}

fn one_size(
    context: &mut Context<'_>,
    stage: &Stage,
    (experiment, path, size): (Experiment, Path, u64),
    transports: &[&'static Transport],
    timings: &mut Timings,
) -> Result<(), Error> {
    let mut names = Vec::new();
    for transport in transports {
        let obstacle = match context.plan.least {
            Some(_) if transport::is_foreign(transport.name) => {
                Some("its messages are of one length".to_owned())
            }
            _ => (transport.obstacle)(stage, experiment, size),
        };
        match obstacle {
            None => names.push(transport.name),
            Some(obstacle) => context.note(format!("{} is left out: {obstacle}", transport.name)),
        }
    }
    let job = job(context, experiment, size, names.len())?;
    let what = format!("{experiment} {} {path}", context.plan.lengths(size));
    let rounds = alternate(context, &what, &names, |context, name, _| {
        let job = Job {
            transport: name.to_owned(),
            ..job.clone()
        };
        let pair = pair(context.launcher, &stage.left, &stage.right, &job)?;
        if job.least.is_none() {
            timings.add(name, size, &pair.client.samples_ns);
        }
        Ok(figures(experiment, &pair))
    })?;
    let template = template(context, experiment, size, path.name());
    context
        .report
        .rows
        .extend(rows(&template, main_of(experiment), &rounds));
    Ok(())
}

/// What every party of a cell is told; transport, part and place are filled in later.
fn job(context: &Context<'_>, experiment: Experiment, size: u64, transports: usize) -> Result<Job, Error> {
    let budget = if experiment == Experiment::Bulk {
        BULK_BUDGET
    } else {
        BUDGET
    };
    let share = budget / (f64::from(context.plan.runs) * transports.max(1) as f64);
    let (warmup, operations) = match experiment {
        Experiment::Pingpong => (ITERATIONS as u64, ROUND_TRIPS - ITERATIONS as u64),
        Experiment::Bulk => (0, context.plan.option("count")?.unwrap_or(u64::MAX)),
        _ => (ITERATIONS as u64, TIMINGS * ITERATIONS as u64),
    };
    Ok(Job {
        role: Role::Client,
        experiment,
        transport: String::new(),
        wait: context.plan.wait,
        size,
        least: context.plan.least,
        warmup,
        operations,
        seconds: share.clamp(0.1, 2.0),
        core: None,
        bind: std::net::Ipv4Addr::LOCALHOST.into(),
        interface: String::new(),
        peer: String::new(),
        rank: 0,
        ranks: 0,
        options: context.plan.options.clone(),
        flow: None,
    })
}

/// How many cores a party kept busy while it was metered.
fn cores(party: &Outcome) -> Option<f64> {
    (party.seconds > 0.0 && party.cpu_s > 0.0).then(|| party.cpu_s / party.seconds)
}

/// The figures of one round of a client and a server.
pub(crate) fn figures(experiment: Experiment, pair: &Pair) -> Figures {
    let Pair { client, server } = pair;
    // Of a program of others the client may be the one who says what both did.
    let receiver = if client.extra.contains_key("both") {
        client
    } else {
        server
    };
    let per_op = |count: Option<u64>, operations: u64| Some(count? as f64 / operations.max(1) as f64);
    let both = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
    let bulk = matches!(experiment, Experiment::Bulk | Experiment::Wan);
    let gigabytes = receiver.octets as f64 / 1e9;
    let per_gb = |seconds: f64| (bulk && gigabytes > 0.0).then(|| seconds / gigabytes);
    let micros: Vec<f64> = client.samples_ns.iter().map(|&ns| ns as f64 / 1e3).collect();
    let seconds = receiver.seconds;
    Figures {
        p50_us: percentile(&micros, 0.5).or_else(|| client.extra.get("p50_us").copied()),
        p99_us: percentile(&micros, 0.99),
        gbit_s: (bulk && seconds > 0.0).then(|| gigabytes * 8.0 / seconds),
        ops_per_s: None,
        cpu_s_per_gb: per_gb(client.cpu_s + server.cpu_s),
        client_cores: cores(client),
        server_cores: cores(server),
        softirq_s_per_gb: per_gb(receiver.softirq_s),
        packets_per_op: per_op(client.packets, client.operations),
        syscalls_per_op: both(
            per_op(client.syscalls, client.operations),
            per_op(server.syscalls, server.operations),
        ),
        instructions_per_op: both(
            per_op(client.instructions, client.operations),
            per_op(server.instructions, server.operations),
        ),
        octets_per_association: None,
        setups_per_s: None,
        queue_mean_ms: None,
        distance: Distance::default(),
        delivery: Delivery::default(),
        note: client.note.clone().or_else(|| server.note.clone()),
    }
}

#[cfg(test)]
#[path = "rounds_tests.rs"]
mod tests;
