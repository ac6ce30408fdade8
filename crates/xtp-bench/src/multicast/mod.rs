//! One sender, many receivers, everyone whole: a file to hosts on one network, beside programs that do the same, a copy
//! for each over TCP, and a stream to the group that nobody keeps (the floor).
//!
//! All parties are processes in network namespaces, their files in memory. Receivers are started first; what is
//! measured is the time from the start of the sender to the end of the last receiver. Then every file is compared.

mod cell;
mod copies;
mod disk;
mod network;
mod party;
mod programs;
mod raw;
mod run;

use std::net::Ipv4Addr;

use cell::{Cell, Event};
use disk::Disk;
use network::Network;
use run::Run;

use crate::console::Console;
use crate::context::Context;
use crate::error::{Error, Problem, Worked};
use crate::job::{Job, Outcome};
use crate::plan::{Experiment, Plan, Rivals};
use crate::rounds::{Main, alternate, rows};
use crate::row::Row;

/// The group, and the port of parties of our own.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 36, 36, 36);
const PORT: u16 = 36_036;

/// Why NORM is not among the rivals.
const NO_NORM: &str = "norm is left out: no Debian package has its 'normCast'";

/// Measures the cases of the plan.
///
/// # Errors
/// [`Error`], if a case or the network cannot be, or [`Error::Interrupted`].
pub(crate) fn run(context: &mut Context<'_>, experiment: Experiment) -> Result<(), Error> {
    let cells = cell::wanted(context.plan)?;
    let runs = u64::from(context.plan.runs);
    let transports = cells
        .iter()
        .map(|cell| transports(context.plan, cell).len() as u64);
    context.expect(transports.sum::<u64>() * runs);
    if context.plan.rivals == Rivals::All {
        context.note(NO_NORM);
    }
    for cell in &cells {
        measure(context, experiment, cell)?;
    }
    Ok(())
}

fn measure(context: &mut Context<'_>, experiment: Experiment, cell: &Cell) -> Result<(), Error> {
    let mut names = transports(context.plan, cell);
    names.retain(|name| match programs::obstacle(name) {
        None => true,
        Some(obstacle) => {
            context.note(format!("{name} is left out: {obstacle}"));
            false
        }
    });
    let network = Network::new(cell.receivers)?;
    if !network.filters {
        context.note("packets back are not counted: 'nft' is not installed (Debian has it in nftables)");
    }
    let disk = Disk::new(cell.octets)?;
    let what = format!("{experiment} {}", cell.name());
    let rounds = alternate(context, &what, &names, |context, transport, _| {
        let run = Run {
            launcher: context.launcher,
            plan: context.plan,
            network: &network,
            disk: &disk,
            cell,
            transport,
        };
        run.measure()
    })?;
    let template = Row {
        experiment: experiment.name().to_owned(),
        path: cell.name(),
        size: Some(cell.octets),
        ..Row::default()
    };
    context
        .report
        .rows
        .extend(rows(&template, Main::Throughput, &rounds));
    Ok(())
}

/// xtp, and what the plan wants beside it. Copies over TCP and the raw stream know no accidents; losses are those of
/// packets to groups, which TCP has none of.
fn transports(plan: &Plan, cell: &Cell) -> Vec<&'static str> {
    let calm = cell.event == Event::Calm;
    let all = [
        ("uftp", true),
        ("udpcast", true),
        ("tcp", calm && cell.loss == 0.0),
        ("raw", calm),
    ];
    let wanted = |name: &str| match &plan.rivals {
        Rivals::All => true,
        Rivals::None => false,
        Rivals::Some(named) => named.iter().any(|wanted| wanted == name),
    };
    let rivals = all.into_iter().filter(|(name, fits)| *fits && wanted(name));
    std::iter::once("xtp")
        .chain(rivals.map(|(name, _)| name))
        .collect()
}

/// The part of a party of our own.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    match job.transport.as_str() {
        "tcp" => copies::work(job, console),
        "raw" => raw::work(job, console),
        other => Err(Problem::new(format!("{other} is a program of its own"))),
    }
}

/// An option that a party of our own cannot do without.
fn option<'a>(job: &'a Job, name: &str) -> Worked<&'a str> {
    let missing = || Problem::new(format!("nobody said '{name}'"));
    job.options.get(name).map(String::as_str).ok_or_else(missing)
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
