//! `xtp listen -o DIR`: what is wrong with one sender's file is that sender's affair.
#![cfg(unix)]

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{Running, noise, xtp_fed};

fn contents(directory: &Path) -> Vec<(String, usize)> {
    let entries = std::fs::read_dir(directory).expect("readable").flatten();
    let mut contents: Vec<_> = entries
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let octets = std::fs::read(entry.path()).expect("readable").len();
            let (number, rest) = name.split_once('-').expect("a number");
            (
                format!("{number}{}", if rest.ends_with(".part") { ".part" } else { "" }),
                octets,
            )
        })
        .collect();
    contents.sort_unstable();
    contents
}

/// What a host takes of a stream before its program reads, octets (`Tuning::recv_capacity`).
const WINDOW: usize = 4 << 20;

/// Waits until so many files are there, complete or not.
fn until_written(inbox: &Path, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while std::fs::read_dir(inbox).expect("readable").count() < count {
        assert!(Instant::now() < deadline, "none is written");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Files may be so long and no longer: as where the disk is full.
#[test]
fn a_file_that_cannot_be_written_ends_its_own_stream() {
    let inbox = tempfile::tempdir().expect("a directory");
    let path = inbox.path().to_str().expect("text");
    let (listen, address) = Running::limited_listener("-f 64", &["listen", "-o", path, "127.0.0.1:0"]);
    let mut slow = Running::start(&["send", "--stream", &address]);
    slow.write(b"begin ");
    // Files are numbered in the order in which their senders were accepted.
    until_written(inbox.path(), 1);
    // More than this host takes before the command has read any of it: a stream that is confirmed to its end has no reason to tell.
    let large = xtp_fed(&["send", "--stream", &address], &noise(3 * WINDOW)).expect(4);
    assert!(
        large.stderr.contains("cannot write what arrived"),
        "{}",
        large.stderr
    );
    let message = xtp_fed(&["send", &address], &noise(300 << 10));
    assert!(message.status == 4 || message.status == 0, "{message:?}");
    xtp_fed(&["send", &address], b"small").expect(0);
    slow.feed(b"and end");
    slow.finish().expect(0);
    listen.signal("TERM");
    let done = listen.finish().expect(0);
    assert!(
        done.stderr.contains("cannot write what arrived"),
        "{}",
        done.stderr
    );
    let contents = contents(inbox.path());
    let whole: Vec<_> = contents
        .iter()
        .filter(|(name, _)| !name.ends_with(".part"))
        .collect();
    let octets: Vec<usize> = whole.iter().map(|(_, octets)| *octets).collect();
    assert_eq!(octets, [13, 5], "{contents:?}");
    assert_eq!(contents.len(), 4, "{contents:?}");
}

/// Each stream has a file open: one address has its share of them.
#[test]
fn descriptors_are_shared_by_those_who_send() {
    let inbox = tempfile::tempdir().expect("a directory");
    let path = inbox.path().to_str().expect("text");
    let (listen, address) = Running::limited_listener("-n 40", &["listen", "-o", path, "127.0.0.1:0"]);
    let mut greedy: Vec<_> = (0..40)
        .map(|_| Running::start(&["send", "--stream", &address]))
        .collect();
    for stream in &mut greedy {
        stream.write(b"begin ");
    }
    let open = || std::fs::read_dir(inbox.path()).expect("readable").count();
    until_written(inbox.path(), 2);
    // What is complete needs no place, and comes behind them.
    xtp_fed(&["send", &address], b"message").expect(0);
    assert!((2..=6).contains(&open()), "{} of one address", open());
    for stream in &mut greedy {
        stream.feed(b"and end");
    }
    let ended: Vec<_> = greedy.into_iter().map(Running::finish).collect();
    let done = ended.iter().filter(|done| done.status == 0).count();
    let refused = ended.iter().filter(|done| done.status == 4);
    let refused = refused.filter(|done| done.stderr.contains("too many come from this address"));
    assert_eq!(done + refused.count(), 40, "{ended:?}");
    xtp_fed(&["send", "--stream", &address], b"afterwards").expect(0);
    listen.signal("TERM");
    let told = listen.finish().expect(0).stderr;
    let there = contents(inbox.path());
    let whole = there.iter().filter(|(name, _)| !name.ends_with(".part")).count();
    assert_eq!(whole, done + 2, "{there:?}, {told}");
}
