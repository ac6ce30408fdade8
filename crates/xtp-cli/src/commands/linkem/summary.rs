//! A report for people.

use xtp_linkem::{DirectionReport, Report, Scheduling};

use crate::common::size_text;

/// One line a direction, one about the emulator, and a warning if it was the bottleneck.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![
        direction("left to right", &report.left_to_right),
        direction("right to left", &report.right_to_left),
        emulator(report),
    ];
    if let Some(bottleneck) = &report.bottleneck {
        lines.push(format!("warning: the emulator was the bottleneck: {bottleneck}"));
    }
    lines
}

fn direction(name: &str, way: &DirectionReport) -> String {
    let mut line = format!(
        "{name}: {} packets sent, {} delivered ({})",
        way.sent,
        way.delivered,
        size_text(way.delivered_octets)
    );
    let counts = [
        (way.lost, "lost"),
        (way.queue_full, "did not fit the queue"),
        (way.bit_error, "had bit errors"),
        (way.too_large, "too large"),
        (way.overflow, "too many under way"),
        (way.refused, "refused"),
        (way.overrun, "overran"),
        (way.duplicated, "duplicated"),
        (way.reordered, "reordered"),
        (way.damaged, "damaged"),
        (way.marked, "marked"),
        (way.under_way, "under way"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        line += &format!(", {count} {what}");
    }
    if way.queue_p95_ms > 0.0 {
        line += &format!(
            "; in queue {:.2} ms, p95 {:.2} ms",
            way.queue_mean_ms, way.queue_p95_ms
        );
    }
    line
}

fn emulator(report: &Report) -> String {
    let scheduling = match report.scheduling {
        Scheduling::RealTime => "real-time",
        Scheduling::Nice => "nice",
        Scheduling::Ordinary => "ordinary",
    };
    let awake = if report.cores_awake {
        ", cores kept awake"
    } else {
        ""
    };
    format!(
        "emulator ({scheduling}{awake}): {:.0} packets/s, late by p99 {:.3} ms, at most {:.3} ms, {:.0} % of a processor",
        report.packets_per_s,
        report.lateness_p99_us / 1_000.0,
        report.lateness_max_us / 1_000.0,
        report.busy * 100.0
    )
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
