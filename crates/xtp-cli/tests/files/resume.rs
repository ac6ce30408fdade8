//! Interrupted copies continue; lossy networks change nothing but the time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use tempfile::tempdir;
use xtp_link::relay::{Relay, RelayConfig};
use xtp_link::{LinkConfig, Loss};

use crate::support::{Server, assert_same, begin, content, cp, finish, grown, text, url};

const SIZE: usize = 48 << 20;
/// What a second run may send beyond what is missing.
const SLACK: u64 = 16 << 20;
/// What had arrived when the sender was killed, and was written after its length was looked at: a receive buffer.
const ARRIVED: u64 = 4 << 20;
/// Slow enough to be interrupted in the middle.
const SLOW: [&str; 2] = ["--limit", "20MiB"];

/// A file to copy, and an empty directory to serve.
fn prepare(dir: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let (local, served) = (dir.join("file"), dir.join("served"));
    fs::write(&local, content(1, SIZE)).expect("written");
    fs::create_dir(&served).expect("made");
    (local, served)
}

/// What a broken copy leaves: nobody else can open it.
fn plant(partial: &Path, octets: &[u8]) {
    fs::write(partial, octets).expect("written");
    fs::set_permissions(partial, fs::Permissions::from_mode(0o600)).expect("ours");
}

/// The second run: sends what is missing, and not much more.
fn resumes(arguments: &[String; 2], partial: &Path) {
    let there = fs::metadata(partial).expect("the partial file stays").len();
    let second = cp(arguments).expect_ok();
    let (resumed, sent) = (second.number("resumed_from"), second.number("sent_bytes"));
    assert_eq!(resumed + sent, SIZE as u64);
    assert!(resumed > 0 && resumed <= there + ARRIVED, "{resumed} of {there}");
    assert!(
        sent <= SIZE as u64 - there + SLACK,
        "{sent} sent, {there} were there"
    );
    assert!(!partial.exists());
}

#[test]
fn a_killed_sender_resumes() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let server = Server::start(&served, &[]);
    let arguments = [text(&local), server.url("")];
    let mut first = begin(&[&SLOW[..], &arguments.each_ref().map(String::as_str)].concat());
    let partial = served.join(".file.xtp-part");
    grown(&partial, 12 << 20);
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    assert!(
        !served.join("file").exists(),
        "nothing half-written under the final name"
    );
    // The server has not noticed yet: the newest association takes over.
    resumes(&arguments, &partial);
    assert_same(&local, &served.join("file"));
}

#[test]
fn a_killed_server_is_noticed_and_the_copy_resumes() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let mut server = Server::start(&served, &[]);
    let arguments = [text(&local), server.url("")];
    let first = begin(
        &[
            &SLOW[..],
            &["--timeout", "1s"],
            &arguments.each_ref().map(String::as_str),
        ]
        .concat(),
    );
    let partial = served.join(".file.xtp-part");
    grown(&partial, 12 << 20);
    server.kill();
    finish(first).expect_failure(3, "run it again and it continues");
    assert!(!served.join("file").exists());
    let _server = Server::restart(&served, server.addr);
    resumes(&arguments, &partial);
    assert_same(&local, &served.join("file"));
}

#[test]
fn a_killed_receiver_resumes() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let server = Server::start(dir.path(), &[]);
    let arguments = [server.url("file"), text(&served)];
    let mut first = begin(&[&SLOW[..], &arguments.each_ref().map(String::as_str)].concat());
    let partial = served.join(".file.xtp-part");
    grown(&partial, 12 << 20);
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    resumes(&arguments, &partial);
    assert_same(&local, &served.join("file"));
}

#[test]
fn another_source_starts_anew() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    plant(&served.join(".file.xtp-part"), &content(2, SIZE / 2));
    let server = Server::start(&served, &[]);
    let copied = cp(&[text(&local), server.url("")]).expect_ok();
    assert_eq!(
        (copied.number("resumed_from"), copied.number("sent_bytes")),
        (0, SIZE as u64)
    );
    assert_same(&local, &served.join("file"));
    // A partial file longer than the source belongs to another one, too.
    plant(&served.join(".next.xtp-part"), &content(1, SIZE + 1));
    let copied = cp(&[text(&local), server.url("next")]).expect_ok();
    assert_eq!(copied.number("resumed_from"), 0);
    // One that is complete only needs its name.
    plant(&served.join(".last.xtp-part"), &content(1, SIZE));
    let copied = cp(&[text(&local), server.url("last")]).expect_ok();
    assert_eq!(
        (copied.number("resumed_from"), copied.number("sent_bytes")),
        (SIZE as u64, 0)
    );
    assert_same(&local, &served.join("last"));
}

#[test]
fn the_newest_copy_takes_over() {
    let dir = tempdir().expect("a directory");
    let (local, served) = prepare(dir.path());
    let server = Server::start(&served, &[]);
    let arguments = [text(&local), server.url("")];
    let older = begin(&[&SLOW[..], &arguments.each_ref().map(String::as_str)].concat());
    let partial = served.join(".file.xtp-part");
    grown(&partial, 8 << 20);
    let newer = cp(&arguments).expect_ok();
    assert!(newer.number("resumed_from") >= 8 << 20);
    finish(older).expect_failure(4, "a newer copy to the same file took over");
    assert_same(&local, &served.join("file"));
}

/// 64 MiB with 5 % loss, 10 % reordering and 1 % duplication on the way to the receiver and back.
#[test]
fn a_bad_network_changes_nothing_but_the_time() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::write(&local, content(3, 64 << 20)).expect("written");
    fs::create_dir(&served).expect("made");
    let server = Server::start(&served, &[]);
    let link = LinkConfig {
        loss: Loss::Random(0.05),
        reorder: 0.1,
        reorder_delay: Duration::from_millis(1),
        duplicate: 0.01,
        ..LinkConfig::default()
    };
    let relay = Relay::spawn(RelayConfig::new(server.addr).with_links(link)).expect("a relay");
    cp(&[text(&local), url(relay.addr(), "")]).expect_ok();
    assert_same(&local, &served.join("file"));
    let stats = relay.stop();
    assert!(stats.to_server.dropped.loss > 0 && stats.to_client.dropped.loss > 0);
}
