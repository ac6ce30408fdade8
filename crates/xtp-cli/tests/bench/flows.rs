//! Bulk with rivals of other makes, and many associations.

use crate::run::{bench, figure, row, rows};

#[test]
fn bulk_runs_over_everything_that_moves_octets() {
    let args = ["bulk", "-l", "16KiB", "-n", "200", "--runs", "1", "--rivals"];
    let rows = rows(&[&args[..], &["udp,tcp-reno,quinn"]].concat());
    for transport in ["xtp", "udp", "quinn"] {
        let row = row(&rows, transport);
        assert!(figure(row, "gbit_s") > 0.0, "{row}");
        assert_eq!(row["size"], 16_384);
    }
}

#[test]
fn quic_sets_up_with_and_without_a_round_trip() {
    for experiment in ["oneshot", "transaction"] {
        let args = [
            experiment,
            "--size",
            "64",
            "--runs",
            "1",
            "--wait",
            "block",
            "--rivals",
            "quinn,quinn-0rtt",
        ];
        let rows = rows(&args);
        // Keys are exchanged in either case: more packets than the three of xtp.
        for transport in ["quinn", "quinn-0rtt"] {
            let row = row(&rows, transport);
            assert!(figure(row, "packets_per_op") > 3.0, "{row}");
            assert!(row.get("syscalls_per_op").is_none(), "{row}");
        }
    }
}

#[test]
fn programs_of_others_are_measured_where_they_are_installed() {
    for (experiment, size, name) in [
        ("bulk", "65536", "iperf3"),
        ("pingpong", "64", "fi_pingpong"),
        ("pingpong", "64", "ucx_perftest"),
    ] {
        let done = bench(&[experiment, "--size", size, "--runs", "1", "--rivals", name], 0);
        // One that is missing, or does not work here, is said.
        let (row, note) = (format!("{size}  {name} "), "note: ");
        let told = |line: &str| line.contains(&row) || line.starts_with(note) && line.contains(name);
        assert!(done.stdout.lines().any(told), "{done:?}");
    }
}

#[test]
fn many_associations_have_a_rate_and_take_memory() {
    let rows = rows(&[
        "scale",
        "--associations",
        "500",
        "--in-flight",
        "8",
        "--runs",
        "1",
        "--rivals",
        "tcp,quinn",
    ]);
    let (scale, random): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row["experiment"] == "scale");
    assert_eq!((scale.len(), random.len()), (3, 2));
    for transport in ["xtp", "tcp"] {
        let row = row(&random, transport);
        assert_eq!(
            (row["experiment"].as_str(), row["note"].as_str()),
            (Some("random"), Some("a random one of 500"))
        );
        assert!(figure(row, "p99_us") >= figure(row, "p50_us"), "{row}");
        assert!(figure(row, "p50_us") > 0.0, "{row}");
    }
    for transport in ["xtp", "tcp", "quinn"] {
        let row = row(&scale, transport);
        assert!(
            figure(row, "ops_per_s") > 0.0 && figure(row, "setups_per_s") > 0.0,
            "{row}"
        );
        // Of few associations the kernel's share may drown in what else it does.
        assert!(
            transport == "tcp" || figure(row, "octets_per_association") > 0.0,
            "{row}"
        );
        assert!(
            row["note"].as_str().expect("a note").starts_with("500 open"),
            "{row}"
        );
    }
}

#[test]
fn more_associations_than_there_can_be_are_refused() {
    let done = bench(&["scale", "-o", "associations=2000000"], 2);
    assert!(done.stderr.contains("associations"), "{done:?}");
}
