//! Throughput against round-trip time for 1, 2, 4 and 8 retained application buffers, as the 1995 library was
//! measured (its figure 6): the sender has so many buffers of 512 000 octets, and one that was sent is free again when
//! all of it is acknowledged. These rows run under the library's congestion control (`kdd`); xtp's own and TCP's beside them
//! are what the same link carries without either.

use super::cell::{Cell, list};
use super::flow::option;
use super::link::{job, transfer};
use super::{seconds, template, transports};
use crate::context::Context;
use crate::error::Error;
use crate::report::Series;
use crate::rounds::{Main, alternate, rows};

/// What a DS-3 line carries in ATM cells, bits a second.
pub(super) const RATE: u64 = 36_864_000;
/// Seconds of a run.
const SECONDS: f64 = 8.0;

const COUNTS: [(&str, u32); 4] = [
    ("xtp-1-buffer", 1),
    ("xtp-2-buffers", 2),
    ("xtp-4-buffers", 4),
    ("xtp-8-buffers", 8),
];

pub(super) fn run(context: &mut Context<'_>) -> Result<(), Error> {
    let seconds = seconds(context.plan, SECONDS)?;
    let mut names = transports(context.plan, &["tcp"], &["tcp-bbr"]);
    names.extend(COUNTS.map(|(name, _)| name));
    let rtts = round_trips(context, &[0, 40, 80, 120, 160, 200])?;
    context.expect(rtts.len() as u64 * names.len() as u64 * u64::from(context.plan.runs));
    let mut curves = Curves::new("retained buffers", "round-trip time, ms");
    for rtt in rtts {
        let cell = Cell::clean(RATE, rtt);
        let what = format!("buffers {}", cell.name());
        let rounds = alternate(context, &what, &names, |context, name, round| {
            let count = COUNTS.iter().find(|(named, _)| *named == name);
            // What is compared with the paper's curves runs under the paper's controller.
            let transport = if count.is_some() { "xtp-kdd" } else { name };
            let mut job = job(context, transport, seconds);
            if let Some((_, count)) = count {
                job.options.insert(option::BUFFERS.to_owned(), count.to_string());
            }
            let what = format!("{what} {name}, round {}", round + 1);
            Ok(transfer(context, &what, (&cell, u64::from(round) + 1), &job)?.figures)
        })?;
        let template = template(context, "buffers", cell.name());
        let rows = rows(&template, Main::Throughput, &rounds);
        for row in &rows {
            curves.add(&row.transport, rtt as f64, row.gbit_s);
        }
        context.report.rows.extend(rows);
    }
    context.report.series.extend(curves.0);
    Ok(())
}

/// The round-trip times of the plan's option `rtt`, or as usual; milliseconds.
pub(super) fn round_trips(context: &Context<'_>, usual: &[u64]) -> Result<Vec<u64>, Error> {
    let given = list(context.plan, "rtt", |text| {
        let rtt = xtp_linkem::units::parse_duration(text).ok()?;
        u64::try_from(rtt.as_millis()).ok()
    })?;
    Ok(given.unwrap_or_else(|| usual.to_vec()))
}

/// Throughput over something, a curve for each transport.
pub(super) struct Curves(pub(super) Vec<Series>, Series);

impl Curves {
    pub(super) fn new(plot: &str, x: &str) -> Self {
        let empty = Series {
            plot: plot.to_owned(),
            x_label: x.to_owned(),
            y_label: "Mbit/s".to_owned(),
            ..Series::default()
        };
        Self(Vec::new(), empty)
    }

    /// Adds a point, `gbit_s` if there is one.
    pub(super) fn add(&mut self, transport: &str, x: f64, gbit_s: Option<f64>) {
        let Some(gbit_s) = gbit_s else { return };
        let point = (x, gbit_s * 1e3);
        match self.0.iter_mut().find(|series| series.transport == transport) {
            Some(series) => series.points.push(point),
            None => self.0.push(Series {
                transport: transport.to_owned(),
                points: vec![point],
                ..self.1.clone()
            }),
        }
    }
}
