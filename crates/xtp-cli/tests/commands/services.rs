//! Each command takes what it serves and refuses the rest at once.

use crate::support::{Running, xtp};

/// What is refused is told apart from what is not reached.
const REFUSED: i32 = 4;

/// Ways to send that a server of files or of calls has no use for.
const MESSAGES: [&[&str]; 3] = [&[], &["--acknowledged"], &["--acknowledged", "--delivered"]];

#[test]
fn a_file_server_takes_no_messages_and_no_calls() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("text");
    let (_serve, address) = Running::listener(&["serve", "--listen", "127.0.0.1:0", path]);
    let address = format!("{address}/21");
    for way in MESSAGES {
        let mut args = vec!["send", "-m", "lost", &address];
        args.extend(way);
        let done = xtp(&args).expect(REFUSED);
        assert!(done.sentence().contains("no provider for service"), "{done:?}");
    }
    xtp(&["call", "-m", "lost", &address]).expect(REFUSED);
}

#[test]
fn who_answers_calls_takes_no_messages() {
    let (_answer, address) = Running::listener(&["answer", "127.0.0.1:0", "--", "cat"]);
    let address = format!("{address}/10");
    for way in MESSAGES.iter().chain(&[&["--lines"] as &[&str]]) {
        let mut args = vec!["send", "-m", "lost", &address];
        args.extend(*way);
        xtp(&args).expect(REFUSED);
    }
    let answer = xtp(&["call", "-m", "kept", &address]).expect(0);
    assert_eq!(answer.stdout, b"kept");
}

#[test]
fn who_listens_for_messages_answers_no_calls() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let address = format!("{address}/9");
    xtp(&["call", "-m", "lost", &address]).expect(REFUSED);
}

#[test]
fn an_echo_needs_a_way_back() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let echo = format!("{address}/7");
    xtp(&["send", "--acknowledged", "-m", "lost", &echo]).expect(REFUSED);
    let answer = xtp(&["call", "-m", "back", &echo]).expect(0);
    assert_eq!(answer.stdout, b"back");
}
