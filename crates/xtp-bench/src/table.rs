//! The report as text for people.

use std::fmt::Write;

use crate::plan::lengths;
use crate::report::Report;
use crate::row::Row;

/// Digits a figure is shown with.
const DIGITS: i32 = 4;

/// Host, rows, fits and notes as lines of text.
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    let host = &report.host;
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{}, {} cores, {}, {}; hardware counters {}",
        host.cpu, host.cores, host.kernel, host.date, host.counters
    );
    if let Some(load) = report.load.text() {
        let _ = writeln!(text, "{load}");
    }
    let mut group = None;
    let mut columns = Vec::new();
    for row in &report.rows {
        let heading = (&row.experiment, &row.path, &row.wait);
        if group != Some(heading) {
            group = Some(heading);
            let wait = row.wait.as_deref().unwrap_or("");
            let _ = writeln!(text, "\n{} {} {wait}", row.experiment, row.path);
            columns = self::columns(report, &row.experiment);
            let _ = writeln!(text, "{}", headings(&columns));
        }
        let _ = writeln!(text, "{}", line(row, &columns));
    }
    fits(report, &mut text);
    for note in report.notes.iter() {
        let _ = writeln!(text, "note: {note}");
    }
    for failure in report.failures.iter() {
        let _ = writeln!(text, "FAILED: {failure}");
    }
    text
}

/// Heading of a column and its figure.
type Column = (&'static str, fn(&Row) -> Option<f64>);

const COLUMNS: [Column; 25] = [
    ("p50 us", |row| row.p50_us),
    ("p99 us", |row| row.p99_us),
    ("Gbit/s", |row| row.gbit_s),
    ("ops/s", |row| row.ops_per_s),
    ("CPU s/GB", |row| row.cpu_s_per_gb),
    ("client cores", |row| row.client_cores),
    ("server cores", |row| row.server_cores),
    ("packets/op", |row| row.packets_per_op),
    ("calls/op", |row| row.syscalls_per_op),
    ("octets/assoc", |row| row.octets_per_association),
    ("12th RTT", |row| row.distance.gbit_s_12th_rtt),
    ("settled", |row| row.distance.gbit_s_settled),
    ("queue ms", |row| row.queue_mean_ms),
    ("sent again", |row| row.distance.retransmitted),
    ("share", |row| row.distance.share),
    ("Jain", |row| row.distance.jain),
    ("seconds", |row| row.delivery.seconds),
    ("sender s", |row| row.delivery.sender_s),
    ("recovery s", |row| row.delivery.disturbed_s),
    ("without s", |row| row.delivery.undisturbed_s),
    ("others +%", |row| row.delivery.others_slower_percent),
    ("wire x", |row| row.delivery.wire_ratio),
    ("packets", |row| row.delivery.data_packets),
    ("feedback", |row| row.delivery.feedback_packets),
    ("x xtp", |row| row.ratio_to_xtp),
];

/// The columns in which any of an experiment's rows has a figure.
fn columns(report: &Report, experiment: &str) -> Vec<Column> {
    let rows = report.rows.iter().filter(|row| row.experiment == experiment);
    let rows: Vec<&Row> = rows.collect();
    let any = |column: &Column| rows.iter().any(|row| column.1(row).is_some());
    COLUMNS.into_iter().filter(any).collect()
}

fn headings(columns: &[Column]) -> String {
    let mut text = format!("{:>10}  {:<14}", "size", "transport");
    for (name, _) in columns {
        let _ = write!(text, " {name:>12}");
    }
    text
}

fn line(row: &Row, columns: &[Column]) -> String {
    let size = row.size.map(|size| lengths(row.least, size)).unwrap_or_default();
    let mut text = format!("{size:>10}  {:<14}", row.transport);
    for (_, value) in columns {
        let value = value(row).map(figure).unwrap_or_default();
        let _ = write!(text, " {value:>12}");
    }
    if let Some(note) = &row.note {
        let _ = write!(text, "  {note}");
    }
    text.trim_end().to_owned()
}

fn fits(report: &Report, text: &mut String) {
    if !report.fits.is_empty() {
        let _ = writeln!(
            text,
            "\nTime of an operation by size, least squares with 95 % confidence"
        );
    }
    for fit in &report.fits {
        let _ = writeln!(
            text,
            "{:<12} {:<14} {:<9} {:>9} ±{:<7} us + {:>9} ±{:<8} us an octet ({} timings)",
            fit.experiment,
            fit.path,
            fit.transport,
            figure(fit.overhead_us),
            figure(fit.overhead_ci95),
            figure(fit.per_octet_us),
            figure(fit.per_octet_ci95),
            fit.timings
        );
    }
}

/// A number with four significant digits.
fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(DIGITS - magnitude).unwrap_or(0);
    format!("{value:.decimals$}")
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
