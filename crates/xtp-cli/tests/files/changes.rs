//! Sources that change while they are copied.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::tempdir;

use crate::support::{Server, assert_same, begin, content, cp, finish, grown, text};

const SLOW: [&str; 2] = ["--limit", "12MiB"];
/// For files that are copied several times: long enough under way, beyond what the sender reads ahead, to be seen to change.
const BRISK: [&str; 2] = ["--limit", "48MiB"];

#[test]
fn a_file_that_has_grown_is_copied_as_it_is_then() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("log"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 24 << 20)).expect("written");
    let server = Server::start(&served, &[]);
    let copy = begin(&[&SLOW[..], &[&text(&local), &server.url("")]].concat());
    grown(&served.join(".log.xtp-part"), 1 << 20);
    let mut file = File::options().append(true).open(&local).expect("ours");
    file.write_all(b"one line more\n").expect("room");
    drop(file);
    let copied = finish(copy).expect_ok();
    assert_same(&local, &served.join("log"));
    // What was there was its beginning, and was not sent again.
    assert!(
        copied.number("sent_bytes") <= (24 << 20) + 14,
        "{}",
        copied.report
    );
    assert_eq!(
        (copied.number("files"), copied.number("bytes")),
        (1, (24 << 20) + 14)
    );
    // The other way round as well.
    let back = dir.path().join("back");
    let copy = begin(&[&SLOW[..], &[&server.url("log"), &text(&back)]].concat());
    grown(&dir.path().join(".back.xtp-part"), 1 << 20);
    let mut file = File::options()
        .append(true)
        .open(served.join("log"))
        .expect("ours");
    file.write_all(b"and another\n").expect("room");
    drop(file);
    finish(copy).expect_ok();
    assert_same(&served.join("log"), &back);
}

#[test]
fn a_file_that_changes_all_the_time_is_in_place_and_named() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("busy"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 24 << 20)).expect("written");
    let server = Server::start(&served, &[]);
    let done = AtomicBool::new(false);
    let write = || {
        let file = File::options().write(true).open(&local).expect("ours");
        let mut octet = 0_u8;
        while !done.load(Ordering::Relaxed) {
            octet = octet.wrapping_add(1);
            file.write_all_at(&[octet], 0).expect("ours");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let back = dir.path().join("back");
    let (up, down) = std::thread::scope(|scope| {
        scope.spawn(write);
        let up = cp(&[&BRISK[..], &[&text(&local), &server.url("")]].concat());
        let other = Server::start(dir.path(), &[]);
        let down = cp(&[&BRISK[..], &[&other.url("busy"), &text(&back)]].concat());
        done.store(true, Ordering::Relaxed);
        (up, down)
    });
    for (copied, path) in [(up, served.join("busy")), (down, back)] {
        let copied = copied.expect_failure(1, "changed each time it was copied");
        assert!(
            copied
                .errors
                .contains("before, so that the next copy takes it again")
        );
        assert_eq!(
            copied.report["errors"][0]["code"],
            serde_json::Value::from("changed")
        );
        let (one, other) = (fs::read(&local).expect("there"), fs::read(&path).expect("there"));
        assert!(one[1..] == other[1..]);
        // With the time it had when it was offered: the next copy takes it again.
        assert_ne!(
            fs::metadata(&path).expect("there").modified().expect("a time"),
            fs::metadata(&local).expect("there").modified().expect("a time")
        );
    }
    assert_eq!(cp(&[text(&local), server.url("")]).expect_ok().number("files"), 1);
}

#[test]
fn a_file_that_has_become_shorter_is_copied_as_it_is_then() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 24 << 20)).expect("written");
    let server = Server::start(&served, &[]);
    let copy = begin(&[&SLOW[..], &[&text(&local), &server.url("")]].concat());
    grown(&served.join(".file.xtp-part"), 1 << 20);
    let file = File::options().write(true).open(&local).expect("ours");
    file.set_len(20 << 20).expect("ours");
    let copied = finish(copy).expect_ok();
    assert_same(&local, &served.join("file"));
    assert_eq!(copied.number("bytes"), 20 << 20);
}

#[test]
fn a_file_that_becomes_shorter_all_the_time_leaves_what_was_there() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 24 << 20)).expect("written");
    fs::write(served.join("file"), "old").expect("written");
    let server = Server::start(&served, &[]);
    let done = AtomicBool::new(false);
    let shrink = || {
        let file = File::options().write(true).open(&local).expect("ours");
        let mut size = 24 << 20;
        while !done.load(Ordering::Relaxed) {
            size -= 1;
            file.set_len(size).expect("ours");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let up = std::thread::scope(|scope| {
        scope.spawn(shrink);
        let up = cp(&[&BRISK[..], &[&text(&local), &server.url("")]].concat());
        done.store(true, Ordering::Relaxed);
        up
    });
    up.expect_failure(1, "changed while it was copied");
    assert_eq!(fs::read_to_string(served.join("file")).expect("there"), "old");
}

/// Nobody can put back when a file was changed last.
#[test]
fn a_file_whose_time_is_put_back_is_not_copied_in_two_parts() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("disk"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    let size = 24 << 20;
    fs::write(&local, content(1, size)).expect("written");
    let modified = fs::metadata(&local)
        .and_then(|seen| seen.modified())
        .expect("a time");
    let server = Server::start(&served, &[]);
    let source = Server::start(dir.path(), &[]);
    let back = dir.path().join("back");
    for (arguments, target, partial, seed) in [
        (
            [text(&local), server.url("")],
            served.join("disk"),
            served.join(".disk.xtp-part"),
            2,
        ),
        (
            [source.url("disk"), text(&back)],
            back.clone(),
            dir.path().join(".back.xtp-part"),
            3,
        ),
    ] {
        let copy = begin(&[&SLOW[..], &arguments.each_ref().map(String::as_str)].concat());
        grown(&partial, 4 << 20);
        let file = File::options().write(true).open(&local).expect("ours");
        file.write_all_at(&content(seed, size), 0).expect("ours");
        file.set_modified(modified).expect("ours");
        drop(file);
        finish(copy).expect_ok();
        assert!(fs::read(&target).expect("there") == content(seed, size));
    }
    // Changed again and again: what would be taken for a whole copy the next time is none.
    let done = AtomicBool::new(false);
    let write = || {
        let file = File::options().write(true).open(&local).expect("ours");
        let mut octet = 0_u8;
        while !done.load(Ordering::Relaxed) {
            octet = octet.wrapping_add(1);
            file.write_all_at(&[octet], 0).expect("ours");
            file.set_modified(modified).expect("ours");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let up = std::thread::scope(|scope| {
        scope.spawn(write);
        let up = cp(&[&BRISK[..], &[&text(&local), &server.url("new")]].concat());
        done.store(true, Ordering::Relaxed);
        up
    });
    let up = up.expect_failure(1, "it was copied");
    // Looked at between a change and its new time it shows by that: what was read stays, older than the source.
    let seen = up.errors.contains("changed each time");
    assert_eq!(served.join("new").exists(), seen, "{}", up.errors);
}
