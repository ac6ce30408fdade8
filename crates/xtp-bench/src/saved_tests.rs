//! What was written can be read; what is no report is refused.

use super::*;
use crate::report::Series;

fn row(transport: &str, p50_us: f64) -> Row {
    Row {
        experiment: "pingpong".to_owned(),
        transport: transport.to_owned(),
        path: "loopback".to_owned(),
        size: Some(64),
        p50_us: Some(p50_us),
        ..Row::default()
    }
}

fn report(rows: Vec<Row>) -> Report {
    Report {
        command: "xtp bench pingpong".to_owned(),
        rows,
        ..Report::default()
    }
}

#[test]
fn a_report_comes_back_as_it_was() {
    let mut written = report(vec![row("xtp", 7.0), row("tcp", 8.0)]);
    written.notes.push("a remark".to_owned());
    written.host.cpu = "some processor".to_owned();
    written.fits.push(Fit {
        overhead_us: 6.9,
        ..Fit::default()
    });
    written.series.push(Series {
        points: vec![(0.0, 1.5), (1.0, 2.5)],
        ..Series::default()
    });
    let read = Report::parse(&written.json()).expect("our own JSON");
    assert_eq!(read.rows, written.rows);
    assert_eq!(read.fits, written.fits);
    assert_eq!(read.series, written.series);
    assert_eq!((read.host, read.notes), (written.host, written.notes));
}

#[test]
fn rows_alone_are_a_report_without_a_host() {
    let rows = vec![row("xtp", 7.0)];
    let text = serde_json::to_string(&rows).expect("JSON");
    let read = Report::parse(&text).expect("rows");
    assert_eq!(read.rows, rows);
    assert!(read.command.is_empty());
}

#[test]
fn what_is_no_report_is_refused_with_the_reason() {
    let cases = [
        ("", "EOF"),
        ("[]", "nothing in it"),
        ("{}", "nothing in it"),
        ("[{\"transport\": \"xtp\"}]", "row 1"),
        ("{\"rows\": [{\"experiment\": 5}]}", "line 1"),
        ("<!doctype html>", "line 1"),
        (
            "[{\"experiment\": \"wan\", \"transport\": \"xtp\"}] trailing",
            "trailing",
        ),
    ];
    for (text, reason) in cases {
        let error = Report::parse(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_later_run_replaces_what_it_measured_again() {
    let mut all = report(vec![row("xtp", 7.0), row("tcp", 8.0)]);
    all.add(report(vec![row("xtp", 6.5)]));
    assert_eq!(all.rows, [row("tcp", 8.0), row("xtp", 6.5)]);
    assert_eq!(all.command, "xtp bench pingpong; xtp bench pingpong");
    assert_eq!(all.notes.len(), 1, "{:?}", all.notes);
}

#[test]
fn another_host_is_said() {
    let mut all = report(vec![row("xtp", 7.0)]);
    all.host.cpu = "one".to_owned();
    let mut later = report(vec![row("tcp", 7.0)]);
    later.host.cpu = "other".to_owned();
    all.add(later);
    assert!(all.notes[0].contains("several hosts"), "{:?}", all.notes);
    all.add(report(vec![row("udp", 7.0)]));
    assert_eq!(
        all.notes.len(),
        1,
        "a run without a host says nothing about hosts"
    );
    assert_eq!(all.rows.len(), 3);
}

#[test]
fn runs_of_one_day_on_one_host_are_one_series() {
    let on = |date: &str| {
        let mut report = report(vec![row("xtp", 7.0)]);
        (report.host.cpu, report.host.date) = ("one".to_owned(), date.to_owned());
        report
    };
    let mut all = on("2026-11-29 13:30 UTC");
    all.rows.clear();
    all.add(on("2026-11-29 13:41 UTC"));
    assert_eq!(all.notes, [""; 0]);
    all.add(on("2026-11-30 13:41 UTC"));
    assert!(all.notes[0].contains("several hosts"), "{:?}", all.notes);
}
