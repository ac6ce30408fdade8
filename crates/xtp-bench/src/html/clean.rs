//! A report may come from a file: figures that no measurement gives are taken out before anything is drawn.

use crate::report::Report;
use crate::row::Row;
use crate::transport::fresh;

/// What bulk from fresh memory is called as an experiment.
pub(super) const FRESH: &str = "bulk-fresh";
/// Beyond this nothing is measured in any of our units.
const GREATEST: f64 = 1e15;

fn sound(value: f64) -> bool {
    value.is_finite() && value.abs() <= GREATEST
}

/// Fits, points and differences may be negative, figures may not.
fn sensible(value: &mut Option<f64>) {
    *value = value.filter(|value| sound(*value) && *value >= 0.0);
}

fn spread(value: &mut Option<[f64; 2]>) {
    *value = value.filter(|[low, high]| sound(*low) && sound(*high) && *low >= 0.0 && low <= high);
}

fn row(row: &mut Row) {
    let figures = [
        &mut row.p50_us,
        &mut row.p99_us,
        &mut row.gbit_s,
        &mut row.cpu_s_per_gb,
        &mut row.client_cores,
        &mut row.server_cores,
        &mut row.packets_per_op,
        &mut row.syscalls_per_op,
        &mut row.ratio_to_xtp,
        &mut row.ops_per_s,
        &mut row.softirq_s_per_gb,
        &mut row.instructions_per_op,
        &mut row.octets_per_association,
        &mut row.queue_mean_ms,
        &mut row.ratio_cpu_to_xtp,
        &mut row.distance.gbit_s_12th_rtt,
        &mut row.distance.gbit_s_settled,
        &mut row.distance.queue_p95_ms,
        &mut row.distance.queue_drops,
        &mut row.distance.retransmitted,
        &mut row.distance.share,
        &mut row.distance.jain,
        &mut row.delivery.seconds,
        &mut row.delivery.sender_s,
        &mut row.delivery.disturbed_s,
        &mut row.delivery.undisturbed_s,
        &mut row.delivery.wire_ratio,
        &mut row.delivery.data_packets,
        &mut row.delivery.feedback_packets,
    ];
    figures.into_iter().for_each(sensible);
    let slower = &mut row.delivery.others_slower_percent;
    *slower = slower.filter(|slower| sound(*slower));
    spread(&mut row.p50_us_spread);
    spread(&mut row.gbit_s_spread);
    spread(&mut row.delivery.seconds_spread);
}

/// Bulk from fresh memory is another thing than bulk from the cache: an experiment of its own.
fn part_fresh(rows: &mut [Row]) {
    // Older reports compare both with the same row.
    let compared = rows
        .iter()
        .filter(|row| row.transport == fresh::OURS)
        .all(|row| row.ratio_to_xtp == Some(1.0));
    for row in rows.iter_mut().filter(|row| row.experiment == "bulk") {
        let Some(name) = fresh::among_its_like(&row.transport) else {
            continue;
        };
        if !compared {
            (row.ratio_to_xtp, row.ratio_cpu_to_xtp) = (None, None);
        }
        row.experiment = FRESH.to_owned();
        row.transport = name.to_owned();
    }
}

/// The report without what cannot be a figure.
pub(super) fn cleaned(report: &Report) -> Report {
    let mut clean = report.clone();
    clean.rows.iter_mut().for_each(row);
    part_fresh(&mut clean.rows);
    clean.fits.retain(|fit| {
        let figures = [
            fit.overhead_us,
            fit.overhead_ci95,
            fit.per_octet_us,
            fit.per_octet_ci95,
        ];
        figures.into_iter().all(sound)
    });
    for series in &mut clean.series {
        series.points.retain(|(x, y)| sound(*x) && sound(*y));
    }
    clean
}
