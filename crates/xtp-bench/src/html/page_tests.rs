//! The table and the pictures of a report with every experiment.

use super::{BEGIN, END, page};
use crate::html::{checks, fixture};
use crate::report::Report;
use crate::row::Row;

#[test]
fn every_case_has_a_line_and_every_experiment_a_picture() {
    let report = fixture::report();
    let page = page(&report, "plots");
    let lines: Vec<&str> = page
        .markdown
        .lines()
        .filter(|line| line.starts_with("| "))
        .collect();
    let mut cases: Vec<_> = report
        .rows
        .iter()
        .map(|row| (&row.experiment, &row.path, &row.wait, row.size))
        .collect();
    cases.sort();
    cases.dedup();
    assert_eq!(lines.len(), cases.len() + 2, "two lines are the head");
    assert!(
        lines.iter().all(|line| line.matches(" | ").count() == 5),
        "{lines:#?}"
    );
    for (name, svg) in page.plots.iter().filter(|(name, _)| name.ends_with(".svg")) {
        assert!(page.markdown.contains(&format!("](plots/{name})")), "{name}");
        assert!(svg.starts_with("<svg") && svg.contains("http://www.w3.org/2000/svg"));
        checks::well_formed(svg);
    }
    for name in [
        "pingpong.svg",
        "bulk.svg",
        "wan.svg",
        "stencil.svg",
        "figures.csv",
        "curves.csv",
    ] {
        assert!(page.plots.iter().any(|(plot, _)| plot == name), "{name}");
    }
}

/// A picture of 1994 alone would say nothing of this run.
#[test]
fn the_paper_stands_beside_what_was_measured() {
    let page = page(&fixture::report(), "plots");
    let (_, then) = page
        .plots
        .iter()
        .find(|(name, _)| name == "then.svg")
        .expect("a picture");
    assert!(
        then.contains(">1994: the paper</text>") && then.contains(">Now: "),
        "{then}"
    );
    checks::well_formed(then);
}

#[test]
fn who_is_ahead_of_us_is_in_bold() {
    let row = |transport: &str, p50_us: f64| Row {
        experiment: "pingpong".to_owned(),
        transport: transport.to_owned(),
        path: "loopback".to_owned(),
        size: Some(64),
        p50_us: Some(p50_us),
        ..Row::default()
    };
    let report = Report {
        rows: vec![
            row("tcp", 10.0),
            row("xtp", 5.0),
            row("udp", 4.0),
            row("a|b", 5.0),
        ],
        ..Report::default()
    };
    let line = page(&report, "plots").markdown;
    assert!(line.contains("| 5.00 µs |"), "{line}");
    assert!(
        line.contains("tcp 10.0 (2.00×)") && line.contains("**udp 4.00 (0.80×)**"),
        "{line}"
    );
    assert!(line.contains("a\\|b 5.00 (1.00×)"), "{line}");
    assert!(!line.contains("encrypts"));
}

#[test]
fn fresh_memory_has_lines_of_its_own() {
    let row = |transport: &str, gbit_s: f64, ratio: f64| Row {
        experiment: "bulk".to_owned(),
        transport: transport.to_owned(),
        path: "veth".to_owned(),
        size: Some(1 << 20),
        gbit_s: Some(gbit_s),
        ratio_to_xtp: Some(ratio),
        ..Row::default()
    };
    // As a report has it that was made when all were compared with the one row; and as it is made now.
    for ours in [0.4, 1.0] {
        let rows = vec![
            row("xtp", 100.0, 1.0),
            row("tcp", 80.0, 0.8),
            row("xtp-fresh", 40.0, ours),
            row("tcp-fresh", 20.0, ours / 2.0),
        ];
        let markdown = page(
            &Report {
                rows,
                ..Report::default()
            },
            "plots",
        )
        .markdown;
        let line = |what: &str| {
            markdown
                .lines()
                .find(|line| line.contains(what))
                .unwrap_or("none")
        };
        let (hot, fresh) = (line("| Bulk, hot"), line("| Bulk from fresh memory"));
        assert!(
            hot.contains("| 100 Gbit/s |") && hot.contains("| tcp 80.0 (1.25×) |"),
            "{markdown}"
        );
        assert!(
            fresh.contains("| 40.0 Gbit/s |") && fresh.contains("| tcp 20.0 (2.00×) |"),
            "{markdown}"
        );
    }
}

#[test]
fn beside_a_factor_over_quic_stands_that_it_encrypts() {
    let markdown = page(&fixture::report(), "plots").markdown;
    assert!(markdown.contains("quinn encrypts"), "{markdown}");
}

#[test]
fn it_goes_between_the_marks_and_nowhere_else() {
    let page = page(&fixture::report(), "plots");
    let text = format!("before\n{BEGIN} by xtp bench -->\nold figures\n{END}\nbehind\n");
    let once = page.put_into(&text).expect("marks");
    assert!(once.starts_with("before\n<!-- figures: by xtp bench -->\n"));
    assert!(once.ends_with("<!-- end of figures -->\nbehind\n") && !once.contains("old figures"));
    assert_eq!(
        page.put_into(&once).as_ref(),
        Some(&once),
        "again changes nothing"
    );
    assert_eq!(page.put_into("no marks"), None);
}
