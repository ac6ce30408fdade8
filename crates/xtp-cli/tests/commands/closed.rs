//! A closed standard output is no place for results: a command that has some fails, one that has none does not.
#![cfg(target_os = "linux")]

use std::process::{Command, Output, Stdio};

use crate::support::Running;

/// Runs the command with its standard output as the shell says.
fn with(redirection: &str, args: &[&str]) -> Output {
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("exec \"$@\" {redirection}"),
            "sh",
            env!("CARGO_BIN_EXE_xtp"),
        ])
        .args(args)
        .stdin(Stdio::null())
        .output();
    output.expect("a shell")
}

#[test]
fn results_for_nobody_are_no_success() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    for args in [
        &["--help"][..],
        &["--version"],
        &["completions", "bash"],
        &["ping", "-c", "1", &address],
        &["ping", "-c", "1", "--json", &address],
        &["sim", "--replay", "1"],
    ] {
        let output = with(">&-", args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("standard output: it is closed"), "{args:?}: {said}");
        // One that was opened to be thrown away is open, whichever way.
        for thrown_away in [">/dev/null", "1<>/dev/null"] {
            assert_eq!(
                with(thrown_away, args).status.code(),
                Some(0),
                "{args:?} {thrown_away}"
            );
        }
    }
}

#[test]
fn without_results_nothing_is_missed() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let output = with(">&-", &["send", "-m", "message", &address]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn a_copy_to_a_closed_standard_output_fails() {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("file"), "content").expect("written");
    let path = folder.path().to_str().expect("text");
    let (_serve, address) = Running::listener(&["serve", "--listen", "127.0.0.1:0", path]);
    let source = format!("xtp://{address}/file");
    let output = with(">&-", &["cp", &source, "-"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("it is closed"), "{said}");
    assert_eq!(with(">/dev/null", &["cp", &source, "-"]).status.code(), Some(0));
}

/// A listener takes no message that it could only throw away.
#[test]
fn a_listener_with_a_closed_standard_output_fails() {
    for args in [
        &["listen", "127.0.0.1:0"][..],
        &["listen", "--json", "127.0.0.1:0"],
    ] {
        let output = with(">&-", args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("standard output: it is closed"), "{said}");
    }
}

/// Log lines to a pipe without a reader are lost, and the work is done.
#[test]
fn a_log_that_nobody_reads_ends_nothing() {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("file"), "content").expect("written");
    let path = folder.path().to_str().expect("text");
    let (_serve, address) = Running::listener(&["serve", "--listen", "127.0.0.1:0", path]);
    let source = format!("xtp://{address}/file");
    let target = folder.path().join("copy");
    for redirection in ["2>/dev/full", "2>&-"] {
        let arguments = ["cp", "-vvv", &source, target.to_str().expect("text")];
        let output = with(redirection, &arguments);
        assert_eq!(output.status.code(), Some(0), "{redirection}");
        assert_eq!(std::fs::read(&target).expect("there"), b"content");
        std::fs::remove_file(&target).expect("there");
    }
}
