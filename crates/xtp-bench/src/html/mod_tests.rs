//! The page: well-formed whatever stands in the report, self-contained, and nothing in it missing.

use super::{checks, fixture, render};
use crate::report::{Report, Series};
use crate::row::Row;

fn checked(report: &Report) -> String {
    let page = render(report);
    checks::well_formed(&page);
    checks::self_contained(&page);
    page
}

/// The text of the section with an id.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page
        .find(&format!("<section id=\"{id}\">"))
        .unwrap_or_else(|| panic!("no section {id}"));
    let end = page[start..].find("</section>").expect("its end");
    &page[start..start + end]
}

#[test]
fn every_experiment_has_a_picture_with_marks() {
    let page = checked(&fixture::report());
    let sections = [
        "summary",
        "pingpong",
        "oneshot",
        "transaction",
        "bulk",
        "scale",
        "wan",
        "sharing",
        "gbn",
        "stencil",
        "bag",
        "phases",
        "curves",
        "then",
    ];
    for id in sections {
        let section = section(&page, id);
        assert!(section.contains("<svg"), "{id} has no picture");
        let marks = [
            "class=\"curve",
            "class=\"bar\"",
            "class=\"dot\"",
            "class=\"heat-fill\"",
        ];
        let pictures = section.split("<svg").skip(1);
        for picture in pictures {
            assert!(
                marks.iter().any(|mark| picture.contains(mark)),
                "{id} has an empty picture"
            );
        }
        if id != "summary" && id != "curves" {
            assert!(section.contains("<table"), "{id} has no table");
        }
    }
    assert!(page.contains("ucx_perftest is not installed"));
}

#[test]
fn every_paper_stands_beside_its_experiment() {
    let page = checked(&fixture::report());
    let then = section(&page, "then");
    for year in ["1991", "1994", "1995", "1998"] {
        assert!(
            then.contains(&format!("{year}: the paper")) || then.contains(&format!("{year}, ")),
            "{year}"
        );
    }
    for figure in ["4.21", "36.864", "8.92", "0.287", "1.18", "3.34×"] {
        assert!(then.contains(figure), "{figure}");
    }
}

#[test]
fn an_empty_report_is_a_page() {
    let page = checked(&Report::default());
    assert!(page.contains("No figures"));
    assert!(!page.contains("<svg") && !page.contains("<section"), "{page}");
}

#[test]
fn transports_and_experiments_from_elsewhere_are_drawn() {
    let row = |experiment: &str, transport: &str| Row {
        experiment: experiment.to_owned(),
        transport: transport.to_owned(),
        path: "carrier pigeon".to_owned(),
        rounds: 1,
        p50_us: Some(7.0),
        ..Row::default()
    };
    let report = Report {
        rows: vec![
            row("homing", "rfc1149"),
            row("homing", "xtp"),
            row("pingpong", "rfc1149"),
        ],
        ..Report::default()
    };
    let page = checked(&report);
    for id in ["homing", "pingpong"] {
        let section = section(&page, id);
        assert!(
            section.contains("class=\"bar\"") && section.contains("rfc1149"),
            "{id}"
        );
    }
}

#[test]
fn texts_of_a_report_cannot_break_out() {
    let hostile = "</title><script>alert(1)</script><img src=x onerror=\"y\">'&";
    let mut report = fixture::report();
    report.command = hostile.to_owned();
    report.notes.push(hostile.to_owned());
    report.failures.push(hostile.to_owned());
    report.host.cpu = hostile.to_owned();
    report.series.push(Series {
        plot: hostile.to_owned(),
        transport: hostile.to_owned(),
        x_label: hostile.to_owned(),
        y_label: hostile.to_owned(),
        points: vec![(0.0, 1.0), (1.0, 2.0)],
    });
    for experiment in ["pingpong", "bulk", "wan", hostile] {
        report.rows.push(Row {
            experiment: experiment.to_owned(),
            transport: hostile.to_owned(),
            path: hostile.to_owned(),
            wait: Some(hostile.to_owned()),
            gbit_s: Some(1.0),
            p50_us: Some(1.0),
            note: Some(hostile.to_owned()),
            ..Row::default()
        });
    }
    let page = render(&report);
    checks::well_formed(&page);
    assert!(!page.contains("<script") && !page.contains("<img"));
}

#[test]
fn senseless_figures_neither_panic_nor_reach_the_page() {
    let mut report = Report::default();
    for (place, figure) in [
        0.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        5.0,
    ]
    .into_iter()
    .enumerate()
    {
        for experiment in ["pingpong", "bulk", "wan", "scale", "other"] {
            for transport in ["xtp", "tcp", "udp"] {
                report.rows.push(Row {
                    experiment: experiment.to_owned(),
                    transport: transport.to_owned(),
                    path: "500mbit 20ms 1%".to_owned(),
                    size: Some([0, 1, u64::MAX, 64, 65, 66, 67][place]),
                    p50_us: Some(figure),
                    p50_us_spread: Some([figure, -figure]),
                    gbit_s: Some(figure),
                    gbit_s_spread: Some([f64::NAN, figure]),
                    ops_per_s: Some(figure),
                    ratio_to_xtp: Some(figure),
                    cpu_s_per_gb: Some(figure),
                    ..Row::default()
                });
            }
        }
    }
    let page = checked(&report);
    for word in ["NaN", "inf\"", "infinity"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn a_page_works_in_light_and_dark_and_on_paper() {
    let page = render(&Report::default());
    for rule in [
        "prefers-color-scheme:dark",
        "@media print",
        "color-scheme:light dark",
    ] {
        assert!(page.contains(rule), "{rule}");
    }
}

#[test]
fn failures_stand_at_the_top() {
    let mut report = fixture::report();
    report.failures.push("bulk over veth: timed out".to_owned());
    let page = checked(&report);
    let failure = page.find("timed out").expect("the failure");
    assert!(failure < page.find("Against the best rival").expect("the summary"));
}
