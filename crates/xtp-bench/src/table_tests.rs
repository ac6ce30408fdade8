//! The text for people.

use super::{figure, table};
use crate::load::HostLoad;
use crate::report::{Fit, Report};
use crate::row::Row;

#[test]
fn figures_have_four_digits() {
    for (value, text) in [
        (7.123_456, "7.123"),
        (0.012_345, "0.01235"),
        (123_456.7, "123457"),
        (99.999_9, "100.00"),
        (0.0, "0"),
    ] {
        assert_eq!(figure(value), text);
    }
}

#[test]
fn everything_found_is_said() {
    let row = |transport: &str| Row {
        experiment: "pingpong".into(),
        transport: transport.into(),
        path: "loopback".into(),
        size: Some(64),
        wait: Some("spin".into()),
        p50_us: Some(6.5),
        ..Row::default()
    };
    let report = Report {
        rows: vec![row("xtp"), row("udp")],
        fits: vec![Fit {
            transport: "xtp".into(),
            timings: 160,
            ..Fit::default()
        }],
        notes: vec!["tcp-bbr is left out".into()],
        failures: vec!["xtp failed".into()],
        load: HostLoad {
            before: Some(1.25),
            ..HostLoad::default()
        },
        ..Report::default()
    };
    let text = table(&report);
    assert_eq!(text.matches("pingpong loopback spin").count(), 1, "{text}");
    for part in [
        "xtp ",
        "udp ",
        "6.500",
        "160 timings",
        "note: tcp-bbr",
        "FAILED: xtp failed",
        "load: 1.25 threads in the minute before",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Columns without a figure are left out.
    assert!(text.contains("p50 us") && !text.contains("Gbit/s"), "{text}");
}
