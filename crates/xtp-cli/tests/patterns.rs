//! `xtp bench stencil | bag | phases`: several processes exchange messages and verify each.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::process::{Command, Output};

use serde_json::Value;

fn bench(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtp"));
    command
        .arg("bench")
        .args(args)
        .args(["--runs", "1", "--json", "-", "--wait", "block"]);
    command.output().expect("xtp runs")
}

/// Rows by experiment and transport; each verified to be there once and to have figures.
fn rows(output: &Output) -> BTreeMap<(String, String), Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{said}");
    let list: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let mut rows = BTreeMap::new();
    for row in list {
        let name = |field: &str| row[field].as_str().expect("a name").to_owned();
        for figure in ["p50_us", "p99_us", "ops_per_s", "syscalls_per_op", "ratio_to_xtp"] {
            assert!(
                row[figure].as_f64().is_some_and(|value| value > 0.0),
                "{figure}: {row}"
            );
        }
        let key = (name("experiment"), name("transport"));
        assert!(rows.insert(key, row).is_none(), "a row twice");
    }
    rows
}

fn names(rows: &BTreeMap<(String, String), Value>) -> Vec<(&str, &str)> {
    rows.keys()
        .map(|(one, other)| (one.as_str(), other.as_str()))
        .collect()
}

#[test]
fn neighbours_on_a_torus_exchange_borders() {
    let rows = rows(&bench(&["stencil", "--size", "64"]));
    let transports = ["tcp", "tcp-per-message", "xtp", "xtp-mesh", "xtp-oneshot"];
    let wanted: Vec<_> = ["stencil-2d", "stencil-3d"]
        .into_iter()
        .flat_map(|experiment| transports.map(|transport| (experiment, transport)))
        .collect();
    assert_eq!(names(&rows), wanted);
    let note = |experiment: &str| {
        let row = &rows[&(experiment.to_owned(), "xtp".to_owned())];
        row["note"].as_str().expect("a note").to_owned()
    };
    assert_eq!(note("stencil-2d"), "4 ranks on a torus of 2 x 2, 8 links each");
    assert_eq!(
        note("stencil-3d"),
        "4 ranks on a torus of 1 x 2 x 2, 24 links each"
    );
}

#[test]
fn every_task_is_done_once() {
    let rows = rows(&bench(&["bag", "--size", "64", "--ranks", "3"]));
    let wanted =
        ["tcp", "tcp-per-message", "xtp", "xtp-kept", "xtp-mesh"].map(|transport| ("bag-3", transport));
    assert_eq!(names(&rows), wanted);
}

#[test]
fn neighbourhoods_change_with_the_phases() {
    let rows = rows(&bench(&["phases", "--size", "100000"]));
    let wanted = [
        "tcp",
        "tcp-per-message",
        "tcp-per-phase",
        "xtp",
        "xtp-kept",
        "xtp-mesh",
        "xtp-oneshot",
    ];
    assert_eq!(names(&rows), wanted.map(|transport| ("phases", transport)));
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for args in [
        &["stencil", "--size", "8"][..],
        &["bag", "--ranks", "17"],
        &["bag", "--ranks", "1"],
    ] {
        let output = bench(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(said["ok"], false, "{args:?}: nothing was measured");
    }
}
