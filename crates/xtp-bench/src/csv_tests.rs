//! Lines that a spreadsheet reads.

use super::*;
use crate::report::Series;
use crate::row::Row;

fn file(report: &Report, name: &str) -> Option<String> {
    let mut files = files(report).into_iter();
    files.find(|(own, _)| own == name).map(|(_, text)| text)
}

#[test]
fn a_row_is_a_line_and_a_spread_two_columns() {
    let rows = vec![
        Row {
            experiment: "bulk".to_owned(),
            transport: "tcp, \"tuned\"".to_owned(),
            gbit_s: Some(1.5),
            gbit_s_spread: Some([1.0, 2.0]),
            ..Row::default()
        },
        Row {
            experiment: "pingpong".to_owned(),
            size: Some(64),
            p50_us: Some(7.0),
            ..Row::default()
        },
    ];
    let report = Report {
        rows,
        ..Report::default()
    };
    let text = file(&report, "figures.csv").expect("rows");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    let heads: Vec<&str> = lines[0].split(',').collect();
    let at = |name: &str| heads.iter().position(|head| *head == name).expect("a column");
    assert!(lines[1].starts_with("bulk,\"tcp, \"\"tuned\"\"\","), "{text}");
    let second: Vec<&str> = lines[2].split(',').collect();
    assert_eq!(
        (
            second[at("size")],
            second[at("p50_us")],
            second[at("gbit_s_least")]
        ),
        ("64", "7.0", "")
    );
    assert_eq!(at("gbit_s_greatest"), at("gbit_s_least") + 1);
    assert!(lines[1].contains("1.0,2.0"), "{text}");
    assert_eq!(file(&report, "curves.csv"), None);
}

#[test]
fn a_point_is_a_line() {
    let series = Series {
        plot: "goodput".to_owned(),
        transport: "xtp".to_owned(),
        x_label: "s".to_owned(),
        y_label: "Mbit/s".to_owned(),
        points: vec![(0.5, 10.0), (1.0, 20.0)],
    };
    let report = Report {
        series: vec![series],
        ..Report::default()
    };
    let text = file(&report, "curves.csv").expect("points");
    assert_eq!(
        text,
        "plot,curve,x,y,x_label,y_label\ngoodput,xtp,0.5,10,s,Mbit/s\ngoodput,xtp,1,20,s,Mbit/s\n"
    );
    assert_eq!(file(&report, "figures.csv"), None);
}
