//! SIGINT, SIGTERM and SIGHUP end every command cleanly, with status 130; SIGTERM and SIGHUP are how a server ends well.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

#[cfg(target_os = "linux")]
use crate::support::hearing_hangups;
use crate::support::{Nobody, Running, noise};

/// What takes nothing of a command's output does not keep it from ending.
#[test]
#[cfg(target_os = "linux")]
fn a_full_pipe_holds_up_no_signal() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = |name| folder.path().join(name).to_str().expect("text").to_owned();
    std::fs::write(path("file"), noise(1 << 20)).expect("written");
    let (_serve, address) = Running::listener(&["serve", "--listen", "127.0.0.1:0", &path("")]);
    let source = format!("xtp://{address}/file");
    let (copy, mut reader) = Running::unread(&["cp", &source, "-"]);
    reader.read_exact(&mut [0]).expect("its beginning");
    copy.signal("TERM");
    copy.finish().expect(130);

    let made = Command::new("mkfifo").arg(path("fifo")).status();
    assert!(made.expect("it runs").success());
    let copy = Running::start(&["cp", &source, &path("fifo")]);
    let mut reader = std::fs::File::open(path("fifo")).expect("a writer");
    reader.read_exact(&mut [0]).expect("its beginning");
    copy.signal("TERM");
    copy.finish().expect(130);

    let (mut listen, mut reader) = Running::unread(&["listen", "127.0.0.1:0"]);
    let address = listen.wait_for("listening on ");
    let address = address.trim_start_matches("listening on ");
    let mut send = Running::start(&["send", "--stream", address]);
    send.write(&noise(1 << 20));
    reader.read_exact(&mut [0]).expect("its beginning");
    listen.signal("INT");
    listen.finish().expect(130);
}

#[test]
fn servers_end_at_either_signal() {
    for args in [
        &["listen", "127.0.0.1:0"][..],
        &["answer", "127.0.0.1:0", "--", "true"],
        &["serve", "--listen", "127.0.0.1:0", "--read-only", "/dev"],
    ] {
        let (running, _) = Running::listener(args);
        running.signal("INT");
        let done = running.finish().expect(130);
        assert_eq!(done.sentence(), "xtp: interrupted");

        let (running, _) = Running::listener(args);
        running.signal("TERM");
        assert_eq!(running.finish().expect(0).stdout, b"");
        #[cfg(target_os = "linux")]
        {
            let (running, _) = Running::hearing_listener(args);
            running.signal("HUP");
            assert_eq!(running.finish().expect(0).stdout, b"");
        }

        let (running, _) = Running::listener(&[&args[..1], &["--json"], &args[1..]].concat());
        running.signal("TERM");
        let object = running.finish().expect(0).json();
        assert_eq!(object["ok"], true, "{args:?}: {object}");
    }
}

#[test]
fn a_server_that_was_to_take_one_thing_only_and_did_not_is_interrupted() {
    for args in [
        &["listen", "--once", "127.0.0.1:0"][..],
        &["answer", "--once", "127.0.0.1:0", "--", "true"],
    ] {
        let (running, _) = Running::listener(args);
        running.signal("TERM");
        running.finish().expect(130);
    }
}

#[test]
fn an_endless_ping_is_summed_up() {
    let (_listen, address) = Running::listener(&["listen", "127.0.0.1:0"]);
    let ping = Running::start(&["ping", "-c", "0", "-i", "10ms", &address]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let done = ping.interrupt().expect(130);
    assert!(done.text().contains("0% lost"), "{done:?}");
}

#[test]
fn a_stream_that_is_interrupted_is_not_complete() {
    let (mut listen, address) = Running::listener(&["listen", "-v", "--once", "127.0.0.1:0"]);
    let mut send = Running::start(&["send", "--stream", &address]);
    send.write(b"the beginning");
    listen.wait_for("from ");
    send.signal("INT");
    send.finish().expect(130);
    let done = listen.finish().expect(1);
    assert_eq!(done.stdout, b"the beginning");
    assert!(done.sentence().contains("incomplete"), "{done:?}");
}

#[test]
fn waiting_for_standard_input_can_be_interrupted() {
    for command in ["send", "call"] {
        let nobody = Nobody::new();
        let running = Running::start(&[command, &nobody.address()]);
        std::thread::sleep(std::time::Duration::from_millis(300));
        running.signal("INT");
        running.finish().expect(130);
    }
}

#[test]
fn a_call_that_is_interrupted_ends_its_program() {
    let (mut answer, address) = Running::listener(&[
        "answer",
        "-v",
        "127.0.0.1:0",
        "--",
        "sh",
        "-c",
        "echo started >&2; exec sleep 1000",
    ]);
    let call = Running::start(&["call", "-m", "x", &address]);
    answer.wait_for("started");
    call.interrupt().expect(130);
    let remark = answer.wait_for("request from ");
    assert!(remark.contains("the caller has gone"), "{remark}");
    answer.interrupt().expect(130);
}

#[test]
fn an_answer_that_is_interrupted_ends_its_program_and_tells_the_caller() {
    let (mut answer, address) = Running::listener(&[
        "answer",
        "127.0.0.1:0",
        "--",
        "sh",
        "-c",
        "echo started >&2; exec sleep 1000",
    ]);
    let call = Running::start(&["call", "-m", "x", &address]);
    answer.wait_for("started");
    answer.interrupt().expect(130);
    call.finish().expect(4);
}

#[test]
fn a_simulation_stops_early() {
    let sim = Running::start(&["sim", "--count", "1000000000"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    sim.interrupt().expect(130);
}

#[test]
fn a_demo_takes_its_receiver_along() {
    let demo = Running::start(&["demo", "--runs", "100000"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    demo.interrupt().expect(130);
}

/// A terminal that is closed may say so several times: what there is to clean up is cleaned up all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_leaves_nothing_behind() {
    let place = tempfile::tempdir().expect("a directory");
    let count = || std::fs::read_dir(place.path()).expect("there").count();
    let mut demo = hearing_hangups()
        .args(["demo", "--runs", "100000"])
        .env("TMPDIR", place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    while count() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let kill = format!("kill -HUP {0}; kill -HUP {0}", demo.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.expect("a shell").success());
    assert_eq!(demo.wait().expect("ended").code(), Some(130));
    assert_eq!(count(), 0);
}

/// `nohup` has SIGHUP ignored: such a server outlives its terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_is_ignored_stays_so() {
    let line = format!(
        "trap '' HUP; exec {} listen 127.0.0.1:0",
        env!("CARGO_BIN_EXE_xtp")
    );
    let mut server = Command::new("sh")
        .args(["-c", &line])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(server.stderr.take().expect("a pipe")).lines();
    lines.next().expect("a line").expect("it listens");
    let send = |signal: &str| {
        let number = server.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &number]).status();
        assert!(sent.expect("kill runs").success());
    };
    send("HUP");
    let mask = std::fs::read_to_string(format!("/proc/{}/status", server.id()));
    let mask = mask.expect("it runs");
    let ignored = mask.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.expect("told").trim(), 16).expect("a mask");
    assert_eq!(ignored & 1, 1, "SIGHUP is number 1");
    send("TERM");
    assert_eq!(server.wait().expect("ended").code(), Some(0));
}
