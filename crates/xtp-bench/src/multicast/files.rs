//! A file to hosts on one network, beside programs that do the same, a copy for each over TCP, and a stream to the group that
//! nobody keeps (the floor).
//!
//! Files are in memory. Receivers are started first; what is measured is the time from the start of the sender to the end of
//! the last receiver. Then every file is compared.

use super::cell::{self, Cell, Event};
use super::disk::Disk;
use super::network::Network;
use super::programs;
use super::run::Run;
use crate::context::Context;
use crate::error::Error;
use crate::plan::{Experiment, Plan, Rivals};
use crate::rounds::{Main, alternate, rows};
use crate::row::Row;

/// Measures the cases of the plan.
///
/// # Errors
/// [`Error`], if a case or the network cannot be, or [`Error::Interrupted`].
pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let cells = cell::wanted(context.plan)?;
    let runs = u64::from(context.plan.runs);
    let transports = cells
        .iter()
        .map(|cell| transports(context.plan, cell).len() as u64);
    context.expect(transports.sum::<u64>() * runs);
    for cell in &cells {
        measure(context, cell)?;
    }
    Ok(())
}

fn measure(context: &mut Context<'_>, cell: &Cell) -> Result<(), Error> {
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
    let experiment = Experiment::Multicast;
    let what = format!("{experiment} {}", cell.name());
    let undisturbed = cell.undisturbed();
    let rounds = alternate(context, &what, &names, |context, transport, _| {
        let run = |cell| {
            let run = Run {
                launcher: context.launcher,
                plan: context.plan,
                network: &network,
                disk: &disk,
                cell,
                transport,
            };
            run.measure()
        };
        let mut figures = run(cell)?;
        if let Some(undisturbed) = &undisturbed {
            figures.delivery.compare(&run(undisturbed)?.delivery);
        }
        Ok(figures)
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

/// xtp, and what the plan wants beside it. Copies over TCP and the raw stream know no accidents.
fn transports(plan: &Plan, cell: &Cell) -> Vec<&'static str> {
    let calm = cell.event == Event::Calm;
    let all = [
        ("uftp", true),
        ("udpcast", true),
        ("norm", true),
        ("tcp", calm),
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

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
