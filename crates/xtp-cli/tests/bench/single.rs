//! Experiments between a client and a server.

use std::fs;

use crate::run::{THREE_BUT_THE_LAST_END, bench, figure, finish, is_root, row, rows, start};

/// What others on the host's own loopback may add where this process cannot have one of its own.
fn most(packets: f64) -> f64 {
    if is_root() { packets } else { f64::INFINITY }
}

#[test]
fn round_trips_take_two_packets() {
    let rivals = "xtp-write-read,udp,tcp";
    let rows = rows(&["pingpong", "--size", "64", "--runs", "2", "--rivals", rivals]);
    assert_eq!(rows.len(), 4);
    let ceilings = [("xtp", 2.1), ("xtp-write-read", 2.1), ("udp", 2.0), ("tcp", 2.5)];
    for (transport, packets) in ceilings {
        let row = row(&rows, transport);
        assert_eq!(row["experiment"], "pingpong");
        assert_eq!(row["path"], "loopback");
        assert_eq!(row["size"], 64);
        assert_eq!(row["wait"], "adaptive");
        assert_eq!(row["rounds"], 2);
        let counted = figure(row, "packets_per_op");
        assert!((2.0..=most(packets)).contains(&counted), "{row}");
        // Each side sends and receives.
        assert!(figure(row, "syscalls_per_op") >= 4.0, "{row}");
        assert!(figure(row, "p50_us") <= figure(row, "p99_us"), "{row}");
        assert!(figure(row, "ratio_to_xtp") > 0.0, "{row}");
        for absent in ["gbit_s", "cpu_s_per_gb", "queue_mean_ms"] {
            assert!(row.get(absent).is_none(), "{absent}: {row}");
        }
    }
    assert_eq!(figure(row(&rows, "xtp"), "ratio_to_xtp"), 1.0);
}

/// Every transport's two ends agree on the lengths, or it measures nothing.
#[test]
fn lengths_vary_within_a_round() {
    for (experiment, rivals) in [
        ("pingpong", "xtp-write-read,udp,tcp,quinn"),
        ("oneshot", "r-udp,tcp,tcp-abort,quinn"),
        ("transaction", "t-udp,tcp,quinn"),
    ] {
        let rows = rows(&[experiment, "--size", "64-256", "--runs", "1", "--rivals", rivals]);
        for transport in rivals.split(',').chain(["xtp"]) {
            let row = row(&rows, transport);
            assert_eq!((&row["least"], &row["size"]), (&64.into(), &256.into()), "{row}");
            assert!(figure(row, "p50_us") > 0.0, "{row}");
        }
        if experiment != "pingpong" {
            let packets = figure(row(&rows, "xtp"), "packets_per_op");
            assert!((2.9..=most(3.2)).contains(&packets), "{rows:?}");
        }
    }
}

#[test]
fn set_up_and_tear_down_are_counted() {
    let args = [
        "oneshot", "--size", "64", "--runs", "2", "--wait", "block", "--rivals",
    ];
    let rows = rows(&[&args[..], &["r-udp,tcp,tcp-abort"]].concat());
    for (transport, least, packets) in [
        ("xtp", THREE_BUT_THE_LAST_END, 3.1),
        ("r-udp", 3.0, 3.1),
        ("tcp", 7.0, 9.0),
        ("tcp-abort", 6.0, 8.0),
    ] {
        let counted = figure(row(&rows, transport), "packets_per_op");
        assert!(
            (least..=most(packets)).contains(&counted),
            "{transport}: {counted}"
        );
    }
}

#[test]
fn a_transaction_is_three_packets() {
    let rows = rows(&[
        "transaction",
        "--size",
        "512",
        "--runs",
        "1",
        "--rivals",
        "t-udp,tcp",
    ]);
    for (transport, least, packets) in [("xtp", THREE_BUT_THE_LAST_END, 3.2), ("t-udp", 3.0, 3.1)] {
        let counted = figure(row(&rows, transport), "packets_per_op");
        assert!(
            (least..=most(packets)).contains(&counted),
            "{transport}: {counted}"
        );
    }
    assert!(figure(row(&rows, "tcp"), "packets_per_op") >= 8.0);
}

#[test]
fn bulk_counts_octets_at_the_receiver() {
    let args = [
        "bulk", "-l", "64KiB", "-n", "100", "-s", "--runs", "1", "--rivals", "tcp",
    ];
    let rows = rows(&args);
    for transport in ["xtp", "tcp"] {
        let row = row(&rows, transport);
        assert_eq!(row["size"], 65_536);
        assert!(
            figure(row, "gbit_s") > 0.0 && figure(row, "cpu_s_per_gb") > 0.0,
            "{row}"
        );
        assert!(row.get("p50_us").is_none(), "{row}");
    }
}

#[test]
fn a_run_is_written_as_text_json_and_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (json, html) = (file("rows.json"), file("report.html"));
    let args = ["pingpong", "--size", "4,64", "--runs", "1", "--rivals", "udp"];
    let done = bench(&[&args[..], &["--json", &json, "--html", &html]].concat(), 0);
    assert!(done.stdout.contains("pingpong loopback adaptive"), "{done:?}");
    assert!(
        done.stdout.contains("least squares with 95 % confidence"),
        "{done:?}"
    );
    let text = fs::read_to_string(json).expect("written");
    let rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(rows.as_array().expect("a list").len(), 4);
    let page = fs::read_to_string(html).expect("written");
    assert!(page.contains("pingpong") && page.contains("udp"), "{page}");
}

#[test]
fn a_path_between_namespaces_needs_root() {
    let args = ["pingpong", "--size", "64", "--runs", "1", "--rivals", "udp"];
    for path in ["veth", "veth-nooffload"] {
        let all = [&args[..], &["--path", path]].concat();
        if !is_root() {
            let done = bench(&all, 1);
            assert!(done.stderr.contains("needs root"), "{done:?}");
            continue;
        }
        let rows = rows(&all);
        for transport in ["xtp", "udp"] {
            let row = row(&rows, transport);
            assert_eq!(row["path"], path);
            // Two for the round trip; now and then the kernel asks who has an address.
            let counted = figure(row, "packets_per_op");
            assert!((2.0..2.1).contains(&counted), "{row}");
        }
    }
}

#[test]
fn an_interrupted_run_ends_with_130_and_leaves_nobody_behind() {
    let child = start(&["pingpong", "--runs", "1000", "--rivals", "none"]);
    let pid = child.id();
    // Until the first worker runs.
    while children(pid).is_empty() {
        std::thread::yield_now();
    }
    let kill = format!("kill -INT {pid}");
    let status = std::process::Command::new("sh").args(["-c", &kill]).status();
    assert!(status.expect("a shell").success());
    let done = finish(child);
    assert_eq!(done.status, Some(130), "{done:?}");
    assert_eq!(children(pid), "", "{done:?}");
}

/// The processes another one started.
fn children(pid: u32) -> String {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    text.unwrap_or_default().trim().to_owned()
}
