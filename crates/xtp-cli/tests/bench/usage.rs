//! What is not understood, and what is said about it.

use crate::run::bench;

#[test]
fn what_cannot_be_measured_is_a_usage_error() {
    for (args, said) in [
        (&[][..], "EXPERIMENT"),
        (&["ping-pong"], "pingpong"),
        (&["pingpong", "--size", "0"], "message size"),
        (&["pingpong", "--size", "64,big"], "'big'"),
        (&["pingpong", "--path", "ether"], "veth-nooffload"),
        (&["pingpong", "--runs", "0"], "--runs"),
        (&["pingpong", "--wait", "patiently"], "--wait"),
        (&["pingpong", "--json"], "--json"),
        (&["pingpong", "-n", "5"], "bulk"),
        (&["bulk", "-l", "0"], "octets"),
        (&["bulk", "-n", "0"], "0"),
        (&["pingpong", "--limit", "1mbit"], "--limit"),
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
