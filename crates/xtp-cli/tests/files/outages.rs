//! Outages inside one command: a server that is stopped or started anew, a link that is down.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::tempdir;
use xtp_link::relay::{Relay, RelayConfig};

use crate::support::{Server, assert_same, begin, content, cp, finish, grown, signal_to, text, url, xtp};

const SIZE: usize = 24 << 20;
/// Slow enough to be interrupted in the middle.
const SLOW: [&str; 2] = ["--limit", "12MiB"];
/// What may be sent twice: what was in buffers when the other side went away.
const SLACK: u64 = 20 << 20;

fn prepare(dir: &Path) -> (PathBuf, PathBuf) {
    let (local, served) = (dir.join("file"), dir.join("served"));
    fs::write(&local, content(1, SIZE)).expect("written");
    fs::create_dir(&served).expect("made");
    (local, served)
}

#[test]
fn a_server_that_is_stopped_is_waited_for() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let server = Server::start(&served, &[]);
    let copy = begin(&[&SLOW[..], &["--timeout", "30s", &text(&local), &server.url("")]].concat());
    grown(&served.join(".file.xtp-part"), 4 << 20);
    server.signal("STOP");
    // Longer than anybody waits for an answer before asking again.
    std::thread::sleep(Duration::from_secs(4));
    server.signal("CONT");
    let copied = finish(copy).expect_ok();
    assert_eq!(
        copied.number("outages"),
        0,
        "the association has lived through it"
    );
    assert_same(&local, &served.join("file"));
}

#[test]
fn a_server_that_stays_away_is_given_up_after_the_timeout() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let server = Server::start(&served, &[]);
    let copy = begin(&[&SLOW[..], &["--timeout", "1s", &text(&local), &server.url("")]].concat());
    grown(&served.join(".file.xtp-part"), 4 << 20);
    server.signal("STOP");
    finish(copy).expect_failure(3, "allow more with --timeout");
    server.signal("CONT");
    assert!(!served.join("file").exists());
    cp(&[text(&local), server.url("")]).expect_ok();
}

#[test]
fn a_copy_to_a_server_that_is_started_anew_goes_on() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    fs::write(dir.path().join("before"), "before").expect("written");
    let mut server = Server::start(&served, &[]);
    let before = text(&dir.path().join("before"));
    let copy = begin(&[&SLOW[..], &[&before, &text(&local), &server.url("")]].concat());
    grown(&served.join(".file.xtp-part"), 8 << 20);
    server.kill();
    let _server = Server::restart(&served, server.addr);
    let copied = finish(copy).expect_ok();
    assert_same(&local, &served.join("file"));
    assert_eq!(copied.number("outages"), 1);
    assert_eq!(
        (copied.number("files"), copied.number("unchanged")),
        (2, 0),
        "each file counts once"
    );
    assert!(copied.number("sent_bytes") < SIZE as u64 + SLACK);
}

#[test]
fn a_copy_from_a_server_that_is_started_anew_goes_on() {
    let dir = tempdir().expect("a directory");
    let (local, _) = prepare(dir.path());
    let mut server = Server::start(dir.path(), &[]);
    let out = dir.path().join("out");
    let copy = begin(&[&SLOW[..], &[&server.url("file"), &text(&out)]].concat());
    grown(&dir.path().join(".out.xtp-part"), 8 << 20);
    // Politely this time: it says goodbye.
    server.signal("TERM");
    server.wait();
    let _server = Server::restart(dir.path(), server.addr);
    let copied = finish(copy).expect_ok();
    assert_same(&local, &out);
    assert_eq!((copied.number("outages"), copied.number("files")), (1, 1));
    assert!(copied.number("sent_bytes") < SIZE as u64 + SLACK);
}

#[test]
fn what_is_out_on_standard_output_is_not_put_out_again() {
    let dir = tempdir().expect("a directory");
    let (local, _) = prepare(dir.path());
    let mut server = Server::start(dir.path(), &[]);
    let out = dir.path().join("out");
    let file = fs::File::create(&out).expect("made");
    let mut copy = xtp()
        .args([&["cp"], &SLOW[..], &[&server.url("file"), "-"]].concat())
        .stdout(file)
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    grown(&out, 8 << 20);
    server.kill();
    let _server = Server::restart(dir.path(), server.addr);
    assert!(copy.wait().expect("it ends").success());
    assert_same(&local, &out);
}

#[test]
fn a_link_that_is_down_for_a_while_changes_nothing() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let server = Server::start(&served, &[]);
    let relay = Relay::spawn(RelayConfig::new(server.addr)).expect("a relay");
    let copy = begin(
        &[
            &SLOW[..],
            &["--timeout", "30s", &text(&local), &url(relay.addr(), "")],
        ]
        .concat(),
    );
    grown(&served.join(".file.xtp-part"), 4 << 20);
    relay.set_up(false);
    std::thread::sleep(Duration::from_secs(4));
    relay.set_up(true);
    finish(copy).expect_ok();
    assert_same(&local, &served.join("file"));
}

/// A whole program at the other end of a pipe cannot be asked to say it again.
#[test]
fn standard_input_is_not_made_up() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let mut server = Server::start(&served, &[]);
    let copy = Command::new("sh")
        .args([
            "-c",
            "exec \"$0\" cp --json --limit 12MiB --timeout 1s - \"$2\" <\"$1\"",
        ])
        .args([env!("CARGO_BIN_EXE_xtp"), &text(&local), &server.url("file")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    grown(&served.join(".file.xtp-part"), 4 << 20);
    server.kill();
    let _server = Server::restart(&served, server.addr);
    finish(copy).expect_failure(3, "the other side has gone");
    assert!(!served.join("file").exists());
}

#[test]
fn a_signal_ends_the_wait_for_a_server() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let mut server = Server::start(&served, &[]);
    let copy = begin(&[&SLOW[..], &[&text(&local), &server.url("")]].concat());
    grown(&served.join(".file.xtp-part"), 4 << 20);
    server.kill();
    signal_to(&copy, "INT");
    finish(copy).expect_failure(130, "interrupted");
}
