//! Rate control on and off, from a fast to a slow machine, after table 2 of the paper of 1995 and not with all of its library:
//! 10 Mbit/s, and a receiver whose way in holds 53 kB, what a socket held then. No congestion control, so that the rate is all
//! that protects the receiver; with it on, the receiver says what it can take.

use super::cell::Cell;
use super::flow::option;
use super::link::{job, transfer};
use super::{seconds, template, transports};
use crate::context::Context;
use crate::error::Error;
use crate::report::Series;
use crate::rounds::{Main, alternate, rows};

/// Bits a second.
const RATE: u64 = 10_000_000;
const RTT_MS: u64 = 2;
const QUEUE: usize = 53_000;
/// Share of the link that XTP packets of full size may take beside IP and UDP headers, and a little less than that.
const SHARE: f64 = 0.97;
/// Seconds of a run.
const SECONDS: f64 = 8.0;
/// Retained application buffers of both variants, as the paper had.
const BUFFERS: u32 = 4;
/// The variants: without and with rate control.
const OFF: &str = "xtp-rate-off";
const ON: &str = "xtp-rate-on";

pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let seconds = seconds(context.plan, SECONDS)?;
    let mut names = transports(context.plan, &["tcp"], &["tcp-bbr"]);
    names.extend([OFF, ON]);
    context.expect(names.len() as u64 * u64::from(context.plan.runs));
    let cell = Cell {
        queue: Some(QUEUE),
        ..Cell::clean(RATE, RTT_MS)
    };
    let what = format!("ratecontrol {}", cell.name());
    let mut curves: Vec<Series> = Vec::new();
    let rounds = alternate(context, &what, &names, |context, name, round| {
        let transport = if [OFF, ON].contains(&name) {
            "xtp-fixed"
        } else {
            name
        };
        let mut job = job(context, transport, seconds);
        if [OFF, ON].contains(&name) {
            job.options
                .insert(option::BUFFERS.to_owned(), BUFFERS.to_string());
        }
        if name == ON {
            let rate = RATE as f64 / 8.0 * SHARE;
            job.options
                .insert(option::RATE.to_owned(), (rate as u64).to_string());
        }
        let what = format!("{what} {name}, round {}", round + 1);
        let transfer = transfer(context, &what, (&cell, u64::from(round) + 1), &job)?;
        if round == 0 {
            curves.push(Series {
                plot: format!("rate control, {}", cell.name()),
                transport: name.to_owned(),
                x_label: "time, s".to_owned(),
                y_label: "Mbit/s".to_owned(),
                points: transfer.curve.steps(0.2, transfer.begin, transfer.end),
            });
        }
        Ok(transfer.figures)
    })?;
    let template = template(context, "ratecontrol", cell.name());
    context
        .report
        .rows
        .extend(rows(&template, Main::Throughput, &rounds));
    context.report.series.extend(curves);
    Ok(())
}
