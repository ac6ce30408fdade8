//! How it ends where not everybody has everything.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{Running, content, recv, send};

/// A directory with a file of so many octets, and one for what arrives.
fn place(octets: usize) -> TempDir {
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(5, octets)).expect("written");
    fs::create_dir(dir.path().join("out")).expect("made");
    dir
}

fn states(report: &Value) -> Vec<(&str, &str)> {
    let receivers = report["receivers"].as_array().expect("a list");
    receivers
        .iter()
        .map(|receiver| {
            (
                receiver["name"].as_str().expect("text"),
                receiver["state"].as_str().expect("text"),
            )
        })
        .collect()
}

#[test]
fn nobody_comes() {
    let dir = place(10);
    let options = ["--expect", "2", "--wait", "200ms"];
    let sent = send("file", "239.77.4.1", &options, dir.path()).end().expect(3);
    assert!(sent.said.contains("nobody came"), "{}", sent.said);
    let report = sent.report();
    assert_eq!(report["ok"], false);
    assert_eq!(states(&report), [("", "absent"); 2]);
    let sent = send("file", "239.77.4.1", &["--for", "100ms"], dir.path())
        .end()
        .expect(3);
    assert_eq!(states(&sent.report()), []);
}

#[test]
fn one_of_two_who_are_named_does_not_come() {
    let dir = place(10_000);
    let receiver = recv("239.77.4.2", "out", &["--name", "here"], dir.path());
    let options = ["--to", "here,elsewhere", "--wait", "500ms"];
    let sent = send("file", "239.77.4.2", &options, dir.path()).end().expect(1);
    let report = sent.report();
    assert_eq!(report["ok"], false);
    assert_eq!(states(&report), [("here", "complete"), ("elsewhere", "absent")]);
    assert!(sent.said.contains("elsewhere"), "{}", sent.said);
    receiver.end().expect(0);
}

/// A list names those who are expected: one that is not there is waited for, and missed.
#[test]
fn one_of_a_list_does_not_come() {
    let dir = place(10_000);
    let receiver = recv("127.0.0.1:36141", "out", &[], dir.path());
    let group = "127.0.0.1:36141,127.0.0.1:36142";
    let sent = send("file", group, &["--wait", "500ms"], dir.path())
        .end()
        .expect(1);
    let report = sent.report();
    assert_eq!(states(&report), [("", "complete"), ("", "absent")]);
    assert_eq!(report["receivers"][1]["address"], "127.0.0.1:36142");
    receiver.end().expect(0);
}

#[test]
fn any_of_those_who_come_will_do() {
    let dir = place(10_000);
    let receiver = recv("239.77.4.3", "out", &[], dir.path());
    let options = ["--any", "1", "--expect", "2", "--wait", "300ms"];
    let sent = send("file", "239.77.4.3", &options, dir.path()).end().expect(0);
    assert_eq!(sent.report()["ok"], true);
    receiver.end().expect(0);
}

/// Who cannot store it rejects it, with its reason; the others are not concerned.
#[test]
fn a_receiver_that_cannot_store_it() {
    let dir = place(100_000);
    fs::create_dir_all(dir.path().join("blocked/file/is a directory")).expect("made");
    let good = recv("239.77.4.4", "out", &["--name", "good"], dir.path());
    let bad = recv("239.77.4.4", "blocked", &["--name", "bad"], dir.path());
    let sent = send("file", "239.77.4.4", &["--expect", "2"], dir.path())
        .end()
        .expect(1);
    let report = sent.report();
    let mut found = states(&report);
    found.sort_unstable();
    assert_eq!(found, [("bad", "dropped"), ("good", "complete")], "{report}");
    assert!(sent.said.contains("a directory is in the way"), "{}", sent.said);
    good.end().expect(0);
    let ended = bad.end().expect(1);
    assert_eq!(ended.report()["ok"], false);
    assert!(ended.said.contains("a directory is in the way"), "{}", ended.said);
}

/// The report names a receiver that lost its place to another one of its name, and one that left, with what became of each.
#[test]
fn every_receiver_that_joined_is_named() {
    let dir = place(10);
    let arguments = [
        "send",
        "-",
        "239.77.4.9",
        "--interface",
        "127.0.0.1",
        "--expect",
        "3",
        "--json",
    ];
    let mut sender = Running::start(&arguments, dir.path(), Stdio::piped());
    let mut join = |name, target| {
        fs::create_dir(dir.path().join(target)).expect("made");
        let receiver = recv("239.77.4.9", target, &["--name", name], dir.path());
        sender.until("joined");
        receiver
    };
    let stopped = join("twin", "first");
    stopped.signal("STOP");
    let twin = join("twin", "second");
    let (stays, goes) = (join("stays", "third"), join("goes", "fourth"));
    goes.signal("INT");
    goes.end().expect(130);
    sender.until("is out: left");
    sender.close_input();
    let sent = sender.end().expect(1);
    let report = sent.report();
    let named = [
        ("twin", "replaced"),
        ("twin", "complete"),
        ("stays", "complete"),
        ("goes", "left"),
    ];
    assert_eq!(states(&report), named);
    assert!(sent.said.contains("1 of 3 receivers"), "{}", sent.said);
    twin.end().expect(0);
    stays.end().expect(0);
}

/// What was done is said in the sum, also where more were wanted.
#[test]
fn fewer_have_it_than_were_wanted() {
    let dir = place(10_000);
    let receiver = recv("239.77.4.10", "out", &[], dir.path());
    // Joins of a group of unknown size are spread over half a second and more.
    let options = ["--any", "2", "--for", "2s"];
    let sent = send("file", "239.77.4.10", &options, dir.path()).end().expect(1);
    assert!(
        sent.said
            .contains("1 receivers of 239.77.4.10 have everything, of 2"),
        "{}",
        sent.said
    );
    receiver.end().expect(0);
}

#[test]
fn the_sender_is_interrupted() {
    let dir = place(10);
    // A pipe that nobody writes to: the stream begins and does not end.
    let receiver = recv("239.77.4.5", "out", &[], dir.path());
    let arguments = [
        "send",
        "-",
        "239.77.4.5",
        "--interface",
        "127.0.0.1",
        "--expect",
        "1",
    ];
    let mut sender = Running::start(&arguments, dir.path(), Stdio::piped());
    sender.until("joined");
    sender.signal("INT");
    sender.end().expect(130);
    let ended = receiver.end();
    assert!(
        matches!(ended.status, Some(1 | 3)),
        "{:?} {}",
        ended.status,
        ended.said
    );
    assert_eq!(ended.report()["ok"], false);
    assert!(is_empty(&dir.path().join("out")), "nothing of it looks whole");
}

/// A sender that is gone without a word: its host says so when it is asked whether it lives, and that ends the wait.
#[test]
fn the_sender_is_killed() {
    let dir = place(10);
    let receiver = recv("239.77.4.8", "out", &[], dir.path());
    let arguments = [
        "send",
        "-",
        "239.77.4.8",
        "--interface",
        "127.0.0.1",
        "--expect",
        "1",
    ];
    let mut sender = Running::start(&arguments, dir.path(), Stdio::piped());
    sender.until("joined");
    sender.signal("KILL");
    let ended = receiver.end().expect(3);
    assert!(ended.said.contains("lost"), "{}", ended.said);
    assert_eq!(ended.report()["ok"], false);
    assert!(is_empty(&dir.path().join("out")), "nothing of it looks whole");
}

/// What a broken transfer left of a file is continued by a copy of it.
#[test]
fn a_copy_continues_what_a_broken_transfer_left() {
    let dir = place(10_000_000);
    let receiver = recv("239.77.4.15", "out", &[], dir.path());
    let options = ["--expect", "1", "--limit", "20mbit"];
    let sender = send("file", "239.77.4.15", &options, dir.path());
    let part = dir.path().join("out/.file.xtp-part");
    while fs::metadata(&part).map_or(0, |seen| seen.len()) < 100_000 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    sender.signal("KILL");
    let ended = receiver.end().expect(3);
    assert!(ended.said.contains("`xtp cp` from a server"), "{}", ended.said);

    let mut served = Command::new(env!("CARGO_BIN_EXE_xtp"))
        .args(["serve", "--read-only", "--listen", "127.0.0.1:0", "."])
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut said = BufReader::new(served.stderr.take().expect("a pipe")).lines();
    let line = said.next().expect("a line").expect("text");
    let address = line.strip_prefix("listening on ").expect("where it listens");
    let copied = Command::new(env!("CARGO_BIN_EXE_xtp"))
        .args(["cp", "--json", &format!("xtp://{address}/file"), "out"])
        .current_dir(dir.path())
        .output()
        .expect("the command runs");
    served.kill().and_then(|()| served.wait()).expect("ended");
    let report: Value = serde_json::from_slice(&copied.stdout).expect("one object");
    assert!(report["resumed_from"].as_u64() >= Some(100_000), "{report}");
    let read = |path| fs::read(dir.path().join(path)).expect("there");
    assert!(read("out/file") == read("file"));
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).expect("there").all(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .ends_with(".xtp-part")
    })
}

#[test]
fn the_receiver_is_interrupted_or_waits_in_vain() {
    let dir = place(10);
    let receiver = recv("239.77.4.6", "out", &[], dir.path());
    receiver.signal("INT");
    receiver.end().expect(130);
    let receiver = recv("239.77.4.6", "out", &["--timeout", "200ms"], dir.path());
    let ended = receiver.end().expect(3);
    assert!(ended.said.contains("--timeout"), "{}", ended.said);
    assert_eq!(ended.report()["sender"], Value::Null);
}

/// A receiver whose output takes nothing: a signal ends it, and its sender is not told that anything was done.
#[test]
fn a_receiver_that_cannot_write_is_interrupted() {
    let dir = place(1_000_000);
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let arguments = ["recv", "239.77.4.13", "-", "--interface", "127.0.0.1"];
    let mut receiver = Running::writing(&arguments, dir.path(), Stdio::null(), writer.into());
    receiver.until("waiting for a sender");
    let sender = send("file", "239.77.4.13", &["--expect", "1"], dir.path());
    reader.read_exact(&mut [0]).expect("its beginning");
    receiver.signal("TERM");
    receiver.end().expect(130);
    let sent = sender.end().expect(1);
    assert_ne!(states(&sent.report())[0].1, "complete");
}

/// A receiver that is told to end when it has everything, and before its sender said that it knows: both say the same.
#[test]
fn a_receiver_is_interrupted_when_it_is_done() {
    let dir = place(200_000);
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let arguments = ["recv", "239.77.4.14", "-", "--interface", "127.0.0.1"];
    let mut receiver = Running::writing(&arguments, dir.path(), Stdio::null(), writer.into());
    receiver.until("waiting for a sender");
    let sender = send("file", "239.77.4.14", &["--expect", "1"], dir.path());
    reader.read_exact(&mut [0]).expect("its beginning");
    // All of it has left meanwhile; where not, neither says that it is done.
    std::thread::sleep(std::time::Duration::from_secs(1));
    sender.signal("STOP");
    reader.read_exact(&mut vec![0; 199_999]).expect("the rest");
    receiver.signal("TERM");
    let received = receiver.end();
    sender.signal("CONT");
    let sent = sender.end();
    assert_eq!(
        received.status == Some(0),
        sent.status == Some(0),
        "{}{}",
        received.said,
        sent.said
    );
}

#[test]
fn what_is_no_way_to_say_it() {
    let dir = place(10);
    for (arguments, words) in [
        (&["send", "file", "nowhere"][..], "is no group"),
        (&["send", "file", "239.77.4.7,239.77.4.8"], "stands alone"),
        (&["send", "file", "239.77.4.7", "--buckets", "4"], "--mode bucket"),
        (
            &["send", "file", "239.77.4.7", "--mode", "b", "--proactive", "1"],
            "--proactive",
        ),
        (
            &["send", "file", "239.77.4.7", "--mode", "b", "--buckets", "65"],
            "65",
        ),
        (&["send", "file", "232.77.4.7", "--mode", "b"], "any source"),
        (&["send", "file", "127.0.0.1", "--mode", "b"], "any source"),
        (&["send", "file", "239.77.4.7", "--expect", "0"], "0"),
        (
            &["send", "file", "239.77.4.7", "--expect", "1", "--for", "1s"],
            "cannot be used with",
        ),
        (&["send", "file", "239.77.4.7", "--wait", "soon"], "write a time"),
        (&["recv", "239.77.4.7", "-", "--forever"], "--forever"),
    ] {
        let ended = Running::start(arguments, dir.path(), Stdio::null())
            .end()
            .expect(2);
        assert!(ended.said.contains(words), "{arguments:?}: {}", ended.said);
    }
    for arguments in [
        &["send", "none", "239.77.4.7"][..],
        &["send", "file", "239.77.4.7%nowhere0"],
        &["recv", "239.77.4.7", "none"],
    ] {
        let ended = Running::start(arguments, dir.path(), Stdio::null())
            .end()
            .expect(1);
        assert!(!ended.said.is_empty(), "{arguments:?}");
    }
}

/// A device or fifo in the directory is not replaced, whoever sends a file of that name.
#[test]
fn what_is_no_file_is_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(1, 200_000)).expect("written");
    fs::create_dir(dir.path().join("out")).expect("made");
    for (path, name, group) in [("file", "file", "239.77.3.61"), ("-", "stdin", "239.77.3.62")] {
        let fifo = dir.path().join("out").join(name);
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.expect("it runs").success());
        let receiver = recv(group, "out", &[], dir.path());
        send(path, group, &["--expect", "1"], dir.path()).end().expect(1);
        let ended = receiver.end().expect(1);
        assert!(
            ended.said.contains("a device, fifo or socket is in the way"),
            "{}",
            ended.said
        );
        let seen = fs::symlink_metadata(&fifo).expect("there");
        assert!(seen.file_type().is_fifo());
    }
}

/// What is no file cannot be sent: the sender says so in its status, and the receivers have all that was.
#[test]
fn what_cannot_be_sent_shows_at_the_sender() {
    let dir = tempdir().expect("a directory");
    let tree = dir.path().join("tree");
    fs::create_dir_all(&tree).expect("made");
    fs::create_dir(dir.path().join("out")).expect("made");
    fs::write(tree.join("file"), "content").expect("written");
    let _socket = std::os::unix::net::UnixListener::bind(tree.join("socket")).expect("bound");
    let group = "239.77.3.63";
    let receiver = recv(group, "out", &[], dir.path());
    let sent = send("tree", group, &["--expect", "1"], dir.path())
        .end()
        .expect(1);
    assert!(
        sent.said.contains("tree/socket: is a socket, fifo or device"),
        "{}",
        sent.said
    );
    assert_eq!(states(&sent.report())[0].1, "complete", "{}", sent.report());
    receiver.end().expect(0);
    assert_eq!(
        fs::read_to_string(dir.path().join("out/tree/file")).expect("there"),
        "content"
    );
}
