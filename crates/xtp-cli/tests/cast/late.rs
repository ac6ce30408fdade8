//! Whoever comes late gets the beginning, though the sender does not keep it: it reads its file again.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

use crate::support::{Running, content, recv, send};

/// Octets that are sent, in some three seconds, and how many have arrived when the late one comes.
const OCTETS: usize = 3_000_000;
const BEFORE: u64 = 300_000;
/// What the late one lacks is not kept.
const HOW: [&str; 6] = ["--keep", "0", "--limit", "8mbit", "--expect", "1"];

/// A file, and a directory for each receiver.
fn place() -> TempDir {
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(9, OCTETS)).expect("written");
    for name in ["first", "late"] {
        fs::create_dir(dir.path().join(name)).expect("made");
    }
    dir
}

/// Waits until the first receiver has so much of the file.
fn until_some_of_it_arrived(directory: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let entries = fs::read_dir(directory).expect("there").flatten();
        let arrived = entries.filter_map(|entry| entry.metadata().ok());
        if arrived.map(|seen| seen.len()).sum::<u64>() >= BEFORE {
            return;
        }
        assert!(Instant::now() < deadline, "nothing arrives");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts the sender and the first receiver, and the late one when `meanwhile` was done.
fn one_late(group: &str, dir: &TempDir, meanwhile: impl FnOnce(&Path)) -> [Running; 3] {
    let first = recv(group, "first", &["--name", "first"], dir.path());
    let sender = send("file", group, &HOW, dir.path());
    until_some_of_it_arrived(&dir.path().join("first"));
    meanwhile(&dir.path().join("file"));
    let late = recv(group, "late", &["--name", "late"], dir.path());
    [sender, first, late]
}

#[test]
fn one_that_comes_late_gets_what_is_not_kept() {
    let dir = place();
    let [sender, first, late] = one_late("239.77.8.1", &dir, |_| {});
    let report = sender.end().expect(0).report();
    let states: Vec<_> = report["receivers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|receiver| (receiver["name"].as_str(), receiver["state"].as_str()))
        .collect();
    let expected = [
        (Some("first"), Some("complete")),
        (Some("late"), Some("caught-up")),
    ];
    assert_eq!(states, expected, "{report}");
    for (receiver, name) in [(first, "first"), (late, "late")] {
        assert_eq!(receiver.end().expect(0).report()["ok"], true);
        assert!(fs::read(dir.path().join(name).join("file")).expect("there") == content(9, OCTETS));
    }
}

/// Something wrote into the file meanwhile, and nobody can see that by its length and time: the late one sees it by the hash.
#[test]
fn a_file_that_is_no_longer_what_was_sent() {
    let dir = place();
    let [sender, first, late] = one_late("239.77.8.2", &dir, |path| {
        let mut file = File::options().write(true).open(path).expect("there");
        let modified = file.metadata().and_then(|seen| seen.modified()).expect("told");
        file.seek(SeekFrom::Start(1_000)).expect("possible");
        file.write_all(b"other octets than before").expect("written");
        file.set_modified(modified).expect("ours");
    });
    let ended = late.end().expect(5);
    assert_eq!(ended.report()["ok"], false);
    assert!(
        ended.said.contains("differs from what was sent"),
        "{}",
        ended.said
    );
    assert!(
        !dir.path().join("late/file").exists(),
        "nothing of it looks whole"
    );
    first.end().expect(0);
    let sent = sender.end().expect(1);
    assert!(sent.said.contains("differs from what was sent"), "{}", sent.said);
}
