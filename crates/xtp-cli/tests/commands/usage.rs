//! Help, versions, and what is not understood.

use crate::support::{Nobody, xtp};

const COMMANDS: [&str; 15] = [
    "demo",
    "serve",
    "cp",
    "ls",
    "cast",
    "ping",
    "send",
    "listen",
    "call",
    "answer",
    "doctor",
    "sim",
    "linkem",
    "completions",
    "man",
];

#[test]
fn the_version_is_a_semantic_one() {
    let done = xtp(&["--version"]).expect(0);
    let version = done
        .text()
        .trim()
        .strip_prefix("xtp ")
        .expect("name first")
        .to_owned();
    let core = version.split(['-', '+']).next().expect("something");
    let numbers: Vec<u64> = core
        .split('.')
        .map(|number| number.parse().expect("a number"))
        .collect();
    assert_eq!(numbers.len(), 3, "{version}");
}

#[test]
fn every_command_has_help_with_examples() {
    let all = xtp(&["--help"]).expect(0);
    for command in COMMANDS {
        assert!(
            all.text().contains(&format!("\n  {command} ")),
            "{command} is not listed"
        );
        let help = xtp(&[command, "--help"]).expect(0);
        assert!(help.text().contains("\nExamples:\n"), "{command}");
        assert!(help.text().contains(&format!("xtp {command}")), "{command}");
        let speaks = !["sim", "linkem", "completions", "man"].contains(&command);
        for option in ["--quiet", "--json"] {
            assert!(help.text().contains(option), "{command} {option}");
        }
        // What means nothing to a command is not in its help.
        for option in ["--limit", "--trace"] {
            assert_eq!(help.text().contains(option), speaks, "{command} {option}");
        }
        let takes_time = !["completions", "man"].contains(&command);
        assert_eq!(help.text().contains("--timeout"), takes_time, "{command}");
    }
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    for args in [
        &["--help"][..],
        &["cp", "--help"],
        &["--version"],
        &["completions", "bash"],
    ] {
        let full = std::fs::File::create("/dev/full").expect("every system has it");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xtp"));
        let done = command.args(args).stdout(full).output().expect("xtp starts");
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("no space left"), "{args:?}: {said}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_a_command_without_a_word() {
    let script = format!(
        "'{}' completions bash | head -c 1 >&2; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_xtp")
    );
    let mut bash = std::process::Command::new("bash");
    let done = bash.args(["-c", &script]).output().expect("bash starts");
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "141");
    assert_eq!(done.stderr.len(), 1, "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn addresses_of_other_programs_are_told_from_ours() {
    for (source, said) in [
        ("host.example:/path", "xtp://host.example/path"),
        ("user@host.example:path", "xtp://host.example/path"),
        ("http://host.example/x", "does not speak http"),
        ("xtp:/host.example/x", "lacks a slash"),
        ("xtp://user@host.example/x", "leave 'user@' out"),
    ] {
        let done = xtp(&["cp", source, "here"]).expect(2);
        assert!(done.sentence().contains(said), "{source}: {}", done.sentence());
    }
    for (address, said) in [
        ("http://127.0.0.1", "'127.0.0.1'"),
        ("user@127.0.0.1", "no users"),
        ("xtp:/127.0.0.1", "perhaps '127.0.0.1'"),
    ] {
        let done = xtp(&["ping", address]).expect(2);
        assert!(done.sentence().contains(said), "{address}: {}", done.sentence());
    }
}

#[test]
fn help_is_not_wider_than_a_terminal() {
    for command in COMMANDS {
        let help = xtp(&[command, "--help"]);
        for line in help.text().lines() {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
    }
}

#[test]
fn what_is_not_understood_is_a_usage_error() {
    for args in [
        &[][..],
        &["no-such-command"],
        &["ping"],
        &["ping", "127.0.0.1", "--no-such-option"],
        &["ping", "127.0.0.1:99999"],
        &["ping", "127.0.0.1/x"],
        &["ping", "[::1"],
        &["ping", ":4000"],
        &["ping", "127.0.0.1", "--timeout", "soon"],
        &["ping", "127.0.0.1", "--limit", "fast"],
        &["ping", "127.0.0.1", "--size", "0"],
        &["ping", "127.0.0.1", "-v", "-q"],
        &["send", "127.0.0.1", "--stream", "--datagram"],
        &["listen", "--once", "--keep"],
        &["answer"],
        &["cp", "only-one"],
        &["sim", "--count", "0"],
        &["sim", "--replay", "1", "--seed", "2"],
        &["completions", "no-such-shell"],
    ] {
        let done = xtp(args).expect(2);
        assert!(done.stdout.is_empty(), "{args:?}");
        assert!(!done.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn failures_are_an_object_with_json() {
    let done = xtp(&["send", &Nobody::new().address(), "-m", "hello", "--json"]).expect(3);
    let object = done.json();
    assert_eq!(object["ok"], false);
    assert_eq!(object["exit_status"], 3);
    assert_eq!(
        format!("xtp: {}", object["error"].as_str().expect("text")),
        done.sentence()
    );
}

#[test]
fn a_trace_that_cannot_be_written_is_said_before_anything_is_sent() {
    let done = xtp(&["ping", "127.0.0.1", "--trace", "/no/such/directory/trace.pcap"]).expect(1);
    assert!(
        done.sentence().contains("/no/such/directory/trace.pcap"),
        "{done:?}"
    );
}
