//! What is not understood, and what is said about it.

use crate::run::bench;

#[test]
fn what_cannot_be_measured_is_a_usage_error() {
    for (args, said) in [
        (&[][..], "EXPERIMENT"),
        (&["ping-pong"], "pingpong"),
        (&["pingpong", "--size", "0"], "message size"),
        (&["pingpong", "--size", "64,big"], "'big'"),
        (&["pingpong", "--size", "256-64"], "64-256"),
        (&["bulk", "--size", "64-256"], "one length"),
        (&["pingpong", "--path", "ether"], "veth-nooffload"),
        (&["pingpong", "--runs", "0"], "--runs"),
        (&["pingpong", "--wait", "patiently"], "--wait"),
        (&["pingpong", "--json"], "--json"),
        (&["pingpong", "-n", "5"], "bulk"),
        (&["bulk", "-l", "0"], "octets"),
        (&["bulk", "-n", "0"], "0"),
        (&["pingpong", "--limit", "1mbit"], "--limit"),
        (&["flow"], "--to"),
        (&["flow", "--to", "127.0.0.1", "--time", "1h"], "--time"),
        (&["flow", "--to", "127.0.0.1", "-i", "11"], "--interval"),
        (&["flow", "--to", "127.0.0.1", "-P", "0"], "--parallel"),
        (&["flow", "--to", "127.0.0.1", "-R", "--bidir"], "--bidir"),
        (&["flow", "--to", "127.0.0.1", "-b", "1mbit"], "--datagrams"),
        (&["flow", "--to", "127.0.0.1", "-u", "-l", "10"], "--length"),
        (&["flow", "--to", "127.0.0.1", "-u", "-l", "1MiB"], "--length"),
        (
            &["flow", "--to", "127.0.0.1", "-u", "--controller", "cubic"],
            "--controller",
        ),
        (&["flow", "--to", "127.0.0.1", "--size", "64"], "--size"),
        (&["flow", "--to", "127.0.0.1", "-n", "5"], "--count"),
        (&["flow", "--to", "127.0.0.1", "-o", "case=tcp"], "--option"),
        (&["flow", "--to", "127.0.0.1", "--rivals", "tcp"], "--rivals"),
        (&["flow", "--to", "127.0.0.1", "--listen", "127.0.0.1"], "serve"),
        (&["bulk", "-t", "5"], "xtp bench flow"),
        (&["serve", "-P", "5"], "xtp bench flow"),
    ] {
        let done = bench(args, 2);
        assert!(done.stderr.contains(said), "{args:?}: {done:?}");
        assert_eq!(done.stdout, "", "{args:?}");
    }
}

#[test]
fn an_unknown_rival_is_answered_with_those_there_are() {
    let done = bench(&["pingpong", "--rivals", "udp,carrier-pigeon"], 2);
    assert!(done.stderr.contains("'carrier-pigeon'"), "{done:?}");
    for name in [
        "xtp",
        "udp",
        "r-udp",
        "t-udp",
        "tcp",
        "tcp-fastopen",
        "tcp-abort",
        "tcp-reno",
        "tcp-bbr",
    ] {
        assert!(done.stderr.contains(name), "{name}: {done:?}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_anything_is_measured() {
    for option in ["--json", "--html"] {
        let done = bench(&["pingpong", option, "/no/such/folder/file"], 1);
        assert!(done.stderr.contains("/no/such/folder/file"), "{done:?}");
        assert!(!done.stdout.contains("pingpong"), "{done:?}");
    }
}

#[test]
fn help_has_examples_and_exit_statuses() {
    let done = bench(&["--help"], 0);
    for part in [
        "Examples:",
        "xtp bench pingpong",
        "Exit status",
        "--rivals",
        "--json <FILE>",
        "--wait",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
}

/// A worker that is told nonsense says so and ends.
#[test]
fn a_worker_without_a_job_fails_in_its_own_words() {
    use std::process::{Command, Stdio};
    let output = Command::new(env!("CARGO_BIN_EXE_xtp"))
        .arg("bench-worker")
        .stdin(Stdio::null())
        .output()
        .expect("starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let line = String::from_utf8(output.stdout).expect("text");
    assert!(line.starts_with("{\"error\":"), "{line}");
}

/// What was found goes between the marks of a page, its pictures beside it; a page without marks is left as it is.
#[test]
fn figures_are_put_into_a_page() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = |name: &str| folder.path().join(name);
    let rows = r#"[{"experiment":"pingpong","transport":"xtp","path":"loopback","size":64,"p50_us":5.0},
        {"experiment":"pingpong","transport":"tcp","path":"loopback","size":64,"p50_us":8.0,"ratio_to_xtp":1.6}]"#;
    std::fs::write(place("rows.json"), rows).expect("written");
    let before = "# Figures\n<!-- figures: here -->\nold\n<!-- end of figures -->\nbehind\n";
    std::fs::write(place("page.md"), before).expect("written");
    std::fs::write(place("other.md"), "no marks\n").expect("written");
    let path = |name: &str| place(name).to_str().expect("text").to_owned();
    bench(&["--from", &path("rows.json"), "--page", &path("page.md")], 0);
    let after = std::fs::read_to_string(place("page.md")).expect("there");
    assert!(
        after.contains("| 5.00 µs |") && after.contains("tcp 8.00 (1.60×)"),
        "{after}"
    );
    assert!(after.ends_with("<!-- end of figures -->\nbehind\n") && !after.contains("old"));
    assert!(after.contains("](plots/pingpong.svg)") && place("plots/pingpong.svg").exists());
    let done = bench(&["--from", &path("rows.json"), "--page", &path("other.md")], 1);
    assert!(done.stderr.contains("no place for figures"), "{done:?}");
}
