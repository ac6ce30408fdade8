//! How long a transfer takes, from the opening of its association to the arrival of its last octet: what whoever fetches a
//! page or a file sees, and what start-up and recovery decide.

use super::cell::{self, Cell};
use super::link::{job, transfer};
use super::{seconds, template, transports};
use crate::context::Context;
use crate::distance::Distance;
use crate::error::Error;
use crate::job::Job;
use crate::rounds::{Figures, Main, alternate, rows};
use crate::row::Row;

/// Octets of a transfer, unless the plan says others.
const SIZES: [u64; 3] = [100_000, 1_000_000, 10_000_000];
/// Seconds after which a transfer is given up.
const LIMIT: f64 = 60.0;
/// The link, without loss and with: bits a second, and the round trip.
const RATE: u64 = 100_000_000;
const RTT_MS: u64 = 40;
const LOSSES: [f64; 2] = [0.0, 0.01];

pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let usual = LOSSES.map(|loss| Cell {
        loss,
        ..Cell::clean(RATE, RTT_MS)
    });
    let cells = cell::wanted_or(context.plan, usual.to_vec())?;
    let limit = seconds(context.plan, LIMIT)?;
    let sizes = match context.plan.sizes.as_slice() {
        [] => SIZES.to_vec(),
        sizes => sizes.to_vec(),
    };
    let names = transports(context.plan, &["tcp", "tcp-bbr"], &["tcp-reno", "xtp-cubic"]);
    context.expect((cells.len() * sizes.len() * names.len()) as u64 * u64::from(context.plan.runs));
    for cell in &cells {
        for &size in &sizes {
            one_size(context, cell, (size, limit), &names)?;
        }
    }
    Ok(())
}

fn one_size(
    context: &mut Context<'_>,
    cell: &Cell,
    (size, limit): (u64, f64),
    names: &[&str],
) -> Result<(), Error> {
    let name = cell.name();
    let what = format!("transfer of {size} octets, {name}");
    let rounds = alternate(context, &what, names, |context, transport, round| {
        let job = Job {
            size,
            ..job(context, transport, limit)
        };
        let what = format!("{what}, {transport}, round {}", round + 1);
        // All transports of a round meet the same luck.
        let transfer = transfer(context, &what, (cell, u64::from(round) + 1), &job)?;
        let took = transfer.curve.reached(size as f64).map(|at| at - transfer.begin);
        let took = took.ok_or_else(|| Error::Worker {
            who: what,
            said: format!("not all of it arrived within {limit} s"),
        })?;
        Ok(Figures {
            p50_us: Some(took * 1e6),
            distance: Distance {
                retransmitted: transfer.figures.distance.retransmitted,
                ..Distance::default()
            },
            note: transfer.figures.note,
            ..Figures::default()
        })
    })?;
    let template = Row {
        size: Some(size),
        ..template(context, "transfers", name)
    };
    context.report.rows.extend(rows(&template, Main::Time, &rounds));
    Ok(())
}
