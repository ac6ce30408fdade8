//! Go-back-N against selective repeat under bit errors: under the congestion control of the 1995 library (`kdd`), as it was
//! measured (its figure 7), and under xtp's own. Receivers
//! compare every octet, so that a figure is one of correct transfers.

use super::buffers::{Curves, RATE, round_trips};
use super::cell::{Cell, list};
use super::link::{job, transfer};
use super::{seconds, template};
use crate::context::Context;
use crate::error::Error;
use crate::rounds::{Main, alternate, rows};

/// Seconds of a run.
const SECONDS: f64 = 8.0;
/// Probabilities that a bit is flipped; the paper had the first.
const BIT_ERRORS: [f64; 3] = [1e-8, 1e-7, 1e-6];

pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let seconds = seconds(context.plan, SECONDS)?;
    let names = ["xtp", "xtp-gbn", "xtp-kdd", "xtp-kdd-gbn"];
    let rtts = round_trips(context, &[0, 40, 80, 120, 160, 200])?;
    let rates = list(context.plan, "ber", |text| {
        xtp_linkem::units::parse_fraction(text).ok()
    })?;
    let rates = rates.unwrap_or_else(|| BIT_ERRORS.to_vec());
    context.expect((rtts.len() * rates.len() * names.len()) as u64 * u64::from(context.plan.runs));
    for bit_errors in rates {
        let plot = format!("go-back-N and selective repeat, bit error rate {bit_errors:e}");
        let mut curves = Curves::new(&plot, "round-trip time, ms");
        for &rtt in &rtts {
            let cell = Cell {
                bit_errors,
                ..Cell::clean(RATE, rtt)
            };
            let what = format!("gbn {}", cell.name());
            let rounds = alternate(context, &what, &names, |context, name, round| {
                let job = job(context, name, seconds);
                let what = format!("{what} {name}, round {}", round + 1);
                Ok(transfer(context, &what, (&cell, u64::from(round) + 1), &job)?.figures)
            })?;
            let template = template(context, "gbn", cell.name());
            let rows = rows(&template, Main::Throughput, &rounds);
            for row in &rows {
                curves.add(&row.transport, rtt as f64, row.gbit_s);
            }
            context.report.rows.extend(rows);
        }
        context.report.series.extend(curves.0);
    }
    Ok(())
}
