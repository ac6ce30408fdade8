//! Programs that do as they should, and programs that do not.
#![cfg(unix)]

use std::ffi::OsString;
use std::time::Duration;

use bytes::Bytes;

use super::{Ended, Environment, Program};

static ENV: Environment = Environment {
    whole: false,
    named: Vec::new(),
};

fn program(command: &[OsString]) -> Program<'_> {
    Program {
        command,
        limit: 1,
        timeout: Some(Duration::from_secs(60)),
        env: &ENV,
        asks: ("192.0.2.1:4000", 10),
    }
}

fn shell(script: &str) -> Vec<OsString> {
    ["sh", "-c", script].map(OsString::from).to_vec()
}

fn answer(ended: Ended) -> String {
    match ended {
        Ended::Answer(answer) => String::from_utf8_lossy(&answer).into_owned(),
        other => panic!("{other:?}"),
    }
}

fn run(script: &str, request: &[u8], limit: usize, unwanted: bool) -> Ended {
    let command = shell(script);
    let program = Program {
        limit,
        ..program(&command)
    };
    program.run(&Bytes::copy_from_slice(request), &|| unwanted)
}

fn why(ended: Ended) -> String {
    match ended {
        Ended::Failed(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn output_is_the_answer() {
    let Ended::Answer(answer) = run("tr a-z A-Z", b"hello", 100, false) else {
        panic!("no answer")
    };
    assert_eq!(&answer[..], b"HELLO");
}

#[test]
fn a_program_need_not_read_its_input() {
    let request = vec![b'x'; 1 << 20];
    let Ended::Answer(answer) = run("echo done", &request, 100, false) else {
        panic!("no answer")
    };
    assert_eq!(&answer[..], b"done\n");
}

#[test]
fn a_program_may_write_before_it_has_read() {
    let request = vec![b'x'; 4 << 20];
    let Ended::Answer(answer) = run("cat", &request, 8 << 20, false) else {
        panic!("no answer")
    };
    assert_eq!(answer.len(), request.len());
}

#[test]
fn failing_programs_say_how() {
    assert!(why(run("echo partly; exit 3", b"", 100, false)).contains("status 3"));
    assert!(why(run("kill -9 $$", b"", 100, false)).contains("ended from outside"));
    let command = [OsString::from("no-such-program-anywhere")];
    assert!(why(program(&command).run(&Bytes::new(), &|| false)).contains("cannot be started"));
}

#[test]
fn a_program_that_writes_too_much_is_stopped() {
    assert!(why(run("yes", b"", 1_000, false)).contains("--max-response"));
}

#[test]
fn a_program_that_runs_too_long_is_stopped() {
    let command = shell("exec sleep 1000");
    let program = Program {
        timeout: Some(Duration::from_millis(1)),
        ..program(&command)
    };
    assert!(why(program.run(&Bytes::new(), &|| false)).contains("ran longer"));
}

#[test]
fn a_program_nobody_waits_for_is_stopped() {
    assert!(matches!(run("exec sleep 1000", b"", 100, true), Ended::Unwanted));
}

#[test]
fn what_a_child_that_is_left_writes_is_no_answer() {
    // Its output is open for another while; waiting for its end would bring this, too.
    let said = answer(run(
        "(sleep 2; echo late) 2>/dev/null & echo mine",
        b"",
        100,
        false,
    ));
    assert_eq!(said, "mine\n");
}

#[test]
fn a_program_knows_who_asks_and_no_secret_of_the_server() {
    assert_eq!(
        answer(run("echo $XTP_PEER $XTP_SERVICE", b"", 100, false)),
        "192.0.2.1:4000 10\n"
    );
    let given = answer(run("env", b"", 10_000, false));
    assert!(given.lines().any(|line| line.starts_with("PATH=")), "{given}");
    // Cargo sets this for tests, and for what runs them.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!given.contains("CARGO_MANIFEST_DIR"), "{given}");
    let with = |env: Environment| {
        let command = shell("env");
        let program = Program {
            limit: 100_000,
            env: &env,
            ..program(&command)
        };
        answer(program.run(&Bytes::new(), &|| false))
    };
    let named = with(Environment {
        whole: false,
        named: ["CARGO_MANIFEST_DIR", "MODE=a=b", "NOT_THERE"]
            .map(OsString::from)
            .to_vec(),
    });
    assert!(
        named.contains("CARGO_MANIFEST_DIR=/") && named.contains("MODE=a=b\n"),
        "{named}"
    );
    assert!(
        !named.contains("NOT_THERE") && !named.contains("CARGO="),
        "{named}"
    );
    let whole = with(Environment {
        whole: true,
        named: Vec::new(),
    });
    assert!(whole.contains("CARGO_MANIFEST_DIR"), "{whole}");
}
