//! Disks that are full, servers that refuse, peers that vanish: a clear sentence and the right exit status.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::tempdir;

use crate::support::{Server, assert_same, begin, content, cp, finish, grown, text, xtp};

/// The command below a limit on the size of files, some megabytes.
fn limited(arguments: &[&str]) -> Command {
    limited_to(4_096, arguments)
}

/// Below one of so many blocks, of 512 or 1 024 octets as the shell likes.
fn limited_to(blocks: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_xtp")])
        .args(arguments);
    command
}

#[test]
fn half_a_small_file_does_not_stay() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 20_000)).expect("written");
    let server = Server::of(limited_to(
        8,
        &["serve", "--listen", "127.0.0.1:0", &text(&served)],
    ));
    cp(&[text(&local), server.url("")]).expect_failure(1, "larger than the file system or a limit");
    assert_eq!(fs::read_dir(&served).expect("readable").count(), 0);
}

#[test]
fn a_full_disk_is_named_and_leaves_nothing_half_written() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 16 << 20)).expect("written");
    fs::write(served.join("file"), "old").expect("written");
    fs::write(dir.path().join("small"), "small").expect("written");
    let server = Server::of(limited(&["serve", "--listen", "127.0.0.1:0", &text(&served)]));
    let up = cp(&[text(&local), text(&dir.path().join("small")), server.url("")]);
    let up = up.expect_failure(1, "larger than the file system or a limit");
    assert_eq!(up.report["errors"][0]["code"], Value::from("no-space"));
    assert_eq!(
        (up.number("files"), up.number("failed")),
        (1, 1),
        "the others are copied"
    );
    assert_eq!(fs::read_to_string(served.join("file")).expect("there"), "old");
    // With room it continues.
    let server = Server::start(&served, &[]);
    let up = cp(&[text(&local), server.url("")]).expect_ok();
    assert!(up.number("resumed_from") > 0);
    assert_same(&local, &served.join("file"));
}

#[test]
fn a_full_disk_here_is_named_as_well() {
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(1, 16 << 20)).expect("written");
    let server = Server::start(dir.path(), &[]);
    let out = dir.path().join("out");
    let child = limited(&["cp", "--json", &server.url("file"), &text(&out)])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    finish(child).expect_failure(1, "larger than the file system or a limit");
    assert!(!out.exists());
}

#[test]
fn a_read_only_server_takes_nothing() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, "x").expect("written");
    let server = Server::start(&served, &["--read-only"]);
    cp(&[text(&local), server.url("")]).expect_failure(4, "takes no files");
    assert_eq!(fs::read_dir(&served).expect("readable").count(), 0);
    fs::write(served.join("f"), "y").expect("written");
    cp(&[server.url("f"), text(&dir.path().join("f"))]).expect_ok();
}

#[test]
fn nobody_there_is_status_three() {
    let dir = tempdir().expect("a directory");
    let local = dir.path().join("file");
    fs::write(&local, "x").expect("written");
    // Bound and silent: neither a server nor a port that says no.
    let silent = UdpSocket::bind("127.0.0.1:0").expect("bound");
    let addr = silent.local_addr().expect("an address");
    cp(&["--timeout", "500ms", &text(&local), &format!("xtp://{addr}/")]).expect_failure(3, "xtp://");
    // Connected to itself it takes nothing from others: the host says that no program has the port.
    silent.connect(addr).expect("itself");
    cp(&[text(&local), format!("xtp://{addr}/")]).expect_failure(3, "xtp://");
}

#[test]
fn a_slow_copy_is_no_outage() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 3 << 20)).expect("written");
    let server = Server::start(&served, &[]);
    // Takes three seconds, with never a silence in it.
    let slow = ["--timeout", "1s", "--limit", "1MiB"];
    cp(&[&slow[..], &[&text(&local), &server.url("")]].concat()).expect_ok();
    assert_same(&local, &served.join("file"));
}

#[test]
fn a_signal_ends_a_copy_with_its_status() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 32 << 20)).expect("written");
    let server = Server::start(&served, &[]);
    let child = begin(&["--limit", "4MiB", &text(&local), &server.url("")]);
    grown(&served.join(".file.xtp-part"), 1 << 20);
    let signalled = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signalled.expect("kill runs").success());
    finish(child).expect_failure(130, "interrupted");
    let up = cp(&[text(&local), server.url("")]).expect_ok();
    assert!(up.number("resumed_from") > 0);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&local).expect("made");
    fs::create_dir(&served).expect("made");
    fs::write(local.join("good"), "x").expect("written");
    fs::write(local.join("locked"), "x").expect("written");
    fs::set_permissions(local.join("locked"), fs::Permissions::from_mode(0o000)).expect("ours");
    // Root reads everything.
    let all_is_readable = fs::read(local.join("locked")).is_ok();
    let server = Server::start(&served, &[]);
    let up = cp(&[text(&local), server.url("")]);
    assert_eq!(
        up.status,
        Some(if all_is_readable { 0 } else { 1 }),
        "{}",
        up.errors
    );
    assert!(served.join("t/good").exists());
    assert_eq!(up.errors.contains("locked: permission denied"), !all_is_readable);
}

#[test]
fn a_server_on_the_network_says_that_nothing_is_encrypted() {
    let dir = tempdir().expect("a directory");
    let mut command = xtp();
    command.args(["serve", "--listen", "0.0.0.0:0"]).arg(dir.path());
    let server = Server::of(command);
    let line = server.line().expect("a second line");
    assert!(line.contains("neither encrypted nor authenticated"), "{line}");
}

#[test]
fn usage_errors_are_status_two() {
    for arguments in [
        &["cp", "a", "b"][..],
        &["cp", "a"],
        &["cp", "xtp://h/a", "xtp://h/b"],
    ] {
        let output = xtp().args(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    let output = xtp()
        .args(["serve", "/nonexistent/directory"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such file or directory"));
}
