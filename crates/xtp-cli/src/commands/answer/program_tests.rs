//! Programs that do as they should, and programs that do not.
#![cfg(unix)]

use std::ffi::OsString;
use std::time::Duration;

use bytes::Bytes;

use super::{Ended, Program};

fn run(script: &str, request: &[u8], limit: usize, unwanted: bool) -> Ended {
    let command: Vec<OsString> = ["sh", "-c", script].map(OsString::from).to_vec();
    let program = Program {
        command: &command,
        limit,
        timeout: Some(Duration::from_secs(60)),
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
    let program = Program {
        command: &command,
        limit: 1,
        timeout: None,
    };
    assert!(why(program.run(&Bytes::new(), &|| false)).contains("cannot be started"));
}

#[test]
fn a_program_that_writes_too_much_is_stopped() {
    assert!(why(run("yes", b"", 1_000, false)).contains("--max-response"));
}

#[test]
fn a_program_that_runs_too_long_is_stopped() {
    let command: Vec<OsString> = ["sh", "-c", "exec sleep 1000"].map(OsString::from).to_vec();
    let program = Program {
        command: &command,
        limit: 1,
        timeout: Some(Duration::from_millis(1)),
    };
    assert!(why(program.run(&Bytes::new(), &|| false)).contains("ran longer"));
}

#[test]
fn a_program_nobody_waits_for_is_stopped() {
    assert!(matches!(run("exec sleep 1000", b"", 100, true), Ended::Unwanted));
}
