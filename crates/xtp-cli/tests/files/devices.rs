//! Targets that are neither files, directories nor links.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::tempdir;

use crate::support::{Server, assert_same, begin, content, cp, finish, piped, text, xtp};

const LARGE: usize = 300_000;

fn mkfifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("it runs").success());
}

fn is_fifo(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|seen| seen.file_type().is_fifo())
}

/// A device of one's own: what is wrong with the test destroys none of the host's.
fn null(path: &Path) -> bool {
    let mut made = Command::new("mknod");
    made.arg(path).args(["c", "1", "3"]).stderr(Stdio::null());
    made.status().is_ok_and(|status| status.success())
}

#[test]
fn a_device_or_fifo_that_is_named_is_written_through() {
    let dir = tempdir().expect("a directory");
    let file = dir.path().join("file");
    let server = Server::start(dir.path(), &[]);
    for octets in [0, 100, LARGE] {
        fs::write(&file, content(1, octets)).expect("written");
        let fifo = dir.path().join("fifo");
        let _ = fs::remove_file(&fifo);
        mkfifo(&fifo);
        let copying = begin(&[server.url("file"), text(&fifo)]);
        let mut read = Vec::new();
        let taken = File::open(&fifo).and_then(|mut fifo| fifo.read_to_end(&mut read));
        assert_eq!(taken.expect("ours"), octets);
        finish(copying).expect_ok();
        assert!(read == content(1, octets) && is_fifo(&fifo));
        // Behind a link as well.
        let link = dir.path().join("link");
        let _ = fs::remove_file(&link);
        symlink(&fifo, &link).expect("linked");
        let copying = begin(&[server.url("file"), text(&link)]);
        let taken = fs::read(&fifo);
        finish(copying).expect_ok();
        assert!(taken.expect("ours") == content(1, octets) && is_fifo(&fifo));
        assert!(fs::read_link(&link).is_ok());
    }
    let device = dir.path().join("null");
    if null(&device) {
        cp(&[server.url("file"), text(&device)]).expect_ok();
        let seen = fs::symlink_metadata(&device).expect("there");
        assert!(seen.file_type().is_char_device());
        // Several files do not become one device.
        let both = cp(&[server.url("file"), server.url("file"), text(&device)]);
        both.expect_failure(1, "is no directory");
    } // Only some may make devices.
}

#[test]
fn what_a_process_has_open_is_written_through() {
    let dir = tempdir().expect("a directory");
    fs::write(dir.path().join("file"), content(1, LARGE)).expect("written");
    let link = dir.path().join("out");
    symlink("/proc/self/fd/1", &link).expect("linked");
    let server = Server::start(dir.path(), &[]);
    let copied = piped(&["cp", &server.url("file"), &text(&link)], b"");
    assert_eq!(
        copied.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&copied.stderr)
    );
    assert!(copied.stdout == content(1, LARGE));
    // Where a file is open there, it is that file, and not one of this name.
    let taken = dir.path().join("taken");
    let open = File::create(&taken).expect("made");
    let copied = xtp()
        .args(["cp", "-q", &server.url("file"), &text(&link)])
        .stdout(open)
        .status();
    assert!(copied.expect("it runs").success());
    assert_same(&dir.path().join("file"), &taken);
    assert!(fs::read_link(&link).is_ok());
    // Behind what is there already, where that is how it is open.
    fs::write(&taken, "before").expect("written");
    let open = File::options().append(true).open(&taken).expect("there");
    let mut appending = xtp();
    appending
        .args(["cp", "-q", &server.url("file"), &text(&link)])
        .stdout(open);
    assert!(appending.status().expect("it runs").success());
    assert!(fs::read(&taken).expect("there") == [b"before", &content(1, LARGE)[..]].concat());
}

#[test]
fn in_a_tree_nothing_replaces_them() {
    let dir = tempdir().expect("a directory");
    let (local, served, back) = (
        dir.path().join("t"),
        dir.path().join("served"),
        dir.path().join("back"),
    );
    fs::create_dir(&local).expect("made");
    fs::write(local.join("a"), "a").expect("written");
    fs::write(local.join("b"), content(1, LARGE)).expect("written");
    symlink("a", local.join("c")).expect("linked");
    fs::write(local.join("d"), "d").expect("written");
    for target in [&served, &back] {
        fs::create_dir_all(target.join("t")).expect("made");
        for name in ["a", "b", "c"] {
            mkfifo(&target.join("t").join(name));
        }
    }
    let source = Server::start(dir.path(), &[]);
    let server = Server::start(&served, &[]);
    let words = "a device, fifo or socket is in the way";
    for (from, to, target) in [
        (text(&local), server.url(""), &served),
        (source.url("t"), text(&back), &back),
    ] {
        for options in [&["-n"][..], &[]] {
            let copied = cp(&[options, &[&from, &to]].concat()).expect_failure(1, words);
            assert_eq!((copied.number("failed"), copied.number("files")), (3, 1));
        }
        for name in ["a", "b", "c"] {
            assert!(is_fifo(&target.join("t").join(name)), "{name}");
        }
        assert_same(&local.join("d"), &target.join("t/d"));
    }
    // Nor where a stranger names it: it is not written through either.
    cp(&[text(&local.join("a")), server.url("t/b")]).expect_failure(1, words);
    let sent = piped(&["cp", "-", &server.url("t/b")], b"octets");
    assert_eq!(sent.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&sent.stderr).contains(words));
    assert!(is_fifo(&served.join("t/b")));
}

#[test]
fn this_machines_links_are_no_refusals_of_the_other_side() {
    let dir = tempdir().expect("a directory");
    let here = dir.path().join("here");
    fs::create_dir(&here).expect("made");
    fs::write(dir.path().join("file"), "content").expect("written");
    fs::write(dir.path().join("elsewhere"), "precious").expect("written");
    let server = Server::start(dir.path(), &[]);
    // As one that stays inside: what is copied takes the place of the link.
    for target in ["../elsewhere", "../nowhere", "/nowhere"] {
        let link = here.join("link");
        let _ = fs::remove_file(&link);
        symlink(target, &link).expect("linked");
        cp(&[server.url("file"), text(&link)]).expect_ok();
        assert_eq!(fs::read_to_string(&link).expect("there"), "content");
        assert!(!fs::symlink_metadata(&link).expect("there").is_symlink());
    }
    assert_eq!(
        fs::read_to_string(dir.path().join("elsewhere")).expect("there"),
        "precious"
    );
    symlink("loop", here.join("loop")).expect("linked");
    let looped = format!("{}/", text(&here.join("loop")));
    cp(&[looped, server.url("")]).expect_failure(1, "through too many");
}
