//! Whole runs over a grid of links, start-up included.

use super::link::{Transfer, job, transfer};
use super::{cell, seconds, template, transports};
use crate::context::Context;
use crate::error::Error;
use crate::report::Series;
use crate::rounds::{Main, alternate, rows};

/// Seconds of a run.
const SECONDS: f64 = 10.0;
/// Width of the steps of a curve, seconds.
const STEP: f64 = 0.1;

pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let cells = cell::wanted(context.plan)?;
    let seconds = seconds(context.plan, SECONDS)?;
    let names = transports(context.plan, &["xtp-cubic", "tcp-bbr", "tcp"], &["tcp-reno"]);
    context.expect(cells.len() as u64 * names.len() as u64 * u64::from(context.plan.runs));
    for cell in &cells {
        let name = cell.name();
        let mut curves: Vec<Series> = Vec::new();
        let rounds = alternate(
            context,
            &format!("wan {name}"),
            &names,
            |context, transport, round| {
                let job = job(context, transport, seconds);
                let what = format!("wan {name} {transport}, round {}", round + 1);
                // All transports of a round meet the same luck.
                let seed = u64::from(round) + 1;
                let transfer = transfer(context, &what, (cell, seed), &job)?;
                if !curves.iter().any(|series| series.transport == transport) {
                    curves.extend(series(&name, transport, &transfer));
                }
                Ok(transfer.figures)
            },
        )?;
        let template = template(context, "wan", name);
        context
            .report
            .rows
            .extend(rows(&template, Main::Throughput, &rounds));
        context.report.series.extend(curves);
    }
    Ok(())
}

/// The curves of a run: what came, and what the sender believed.
fn series(path: &str, transport: &str, transfer: &Transfer) -> Vec<Series> {
    let series = |plot: &str, y: &str, points| Series {
        plot: format!("{plot}, {path}"),
        transport: transport.to_owned(),
        x_label: "time, s".to_owned(),
        y_label: y.to_owned(),
        points,
    };
    let goodput = transfer.curve.steps(STEP, transfer.begin, transfer.end);
    let mut all = vec![series("goodput over time", "Mbit/s", goodput)];
    for (name, plot, y) in [
        ("window", "congestion window", "MB"),
        ("rtt", "smoothed round-trip time", "ms"),
    ] {
        if let Some(points) = transfer.client.curves.get(name) {
            all.push(series(plot, y, points.clone()));
        }
    }
    all
}
