//! Partial files: grown, verified, renamed, taken over, locked.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::super::names::RelPath;
use super::super::record::Stamp;
use super::super::root::Root;
use super::*;

fn folder(top: &Path) -> Folder {
    let root = Root::open(top).expect("a directory");
    root.folder(&RelPath::default()).expect("a directory")
}

fn open(claims: &Claims, folder: &Folder) -> Result<Partial, Problem> {
    Partial::open(claims, folder, b"file", "file")
}

#[test]
fn content_is_collected_under_a_hidden_name_and_found_again() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    let partial = open(&claims, &folder).expect("opened");
    partial.write(&[Bytes::from_static(b"hello ")]).expect("room");
    drop(partial);
    assert!(!dir.path().join("file").exists());
    let partial = open(&claims, &folder).expect("opened again");
    assert_eq!(partial.len(), Ok(6));
    let mut hash = ContentHash::new(false);
    let octets = partial.hash(&mut hash, &Tally::default()).expect("readable");
    let expected = *blake3::hash(b"hello ").as_bytes();
    assert_eq!((octets, hash.value()), (6, expected));
    partial.write(&[Bytes::from_static(b"world")]).expect("room");
    let attributes = Attributes {
        mode: 0o640,
        modified: Stamp { seconds: 1, nanos: 0 },
        owner: None,
    };
    partial.seal(&attributes, true).expect("ours");
    partial.install().expect("ours");
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"hello world");
    assert_eq!(folder.names().expect("readable"), [b"file"]);
    assert!(lock(&claims.0).is_empty());
}

#[test]
fn the_newest_copy_takes_over_at_once() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    let older = open(&claims, &folder).expect("opened");
    older.write(&[Bytes::from_static(b"old")]).expect("room");
    let newer = open(&claims, &folder).expect("taken over");
    assert_eq!(newer.len(), Ok(3));
    let refused = older
        .write(&[Bytes::from_static(b"more")])
        .expect_err("taken over");
    assert_eq!(refused.code, Code::TakenOver);
    assert_eq!(older.install().expect_err("taken over").code, Code::TakenOver);
    newer.write(&[Bytes::from_static(b" and new")]).expect("room");
    newer.install().expect("ours");
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"old and new");
}

#[test]
fn another_process_keeps_its_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = folder(dir.path());
    // Claims are a process's own: two sets behave as two processes do.
    let (ours, theirs) = (Claims::default(), Claims::default());
    let first = open(&theirs, &folder).expect("opened");
    assert_eq!(open(&ours, &folder).expect_err("locked").code, Code::Busy);
    first.write(&[Bytes::from_static(b"x")]).expect("room");
    drop(first);
    open(&ours, &folder).expect("free again").discard();
    assert!(folder.names().expect("readable").is_empty());
}

#[test]
fn links_under_the_hidden_name_are_not_written_through() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let folder = folder(dir.path());
    fs::write(dir.path().join("victim"), "precious").expect("written");
    symlink("victim", dir.path().join(".file.xtp-part")).expect("linked");
    let partial = open(&Claims::default(), &folder).expect("opened");
    partial.write(&[Bytes::from_static(b"content")]).expect("room");
    partial.install().expect("ours");
    assert_eq!(fs::read(dir.path().join("victim")).expect("there"), b"precious");
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"content");
}

#[test]
fn nothing_stays_where_nothing_was_written() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    drop(open(&claims, &folder).expect("opened"));
    assert!(folder.names().expect("readable").is_empty());
    // An empty file is something, once it has its name.
    open(&claims, &folder).and_then(Partial::install).expect("ours");
    assert_eq!(folder.names().expect("readable"), [b"file"]);
}
