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
    let octets = partial
        .hash(u64::MAX, &mut hash, &Tally::default())
        .expect("readable");
    let expected = *blake3::hash(b"hello ").as_bytes();
    assert_eq!((octets, hash.value()), (6, expected));
    partial.write(&[Bytes::from_static(b"world")]).expect("room");
    partial.seal(true).expect("ours");
    partial.install(&ATTRIBUTES).expect("ours");
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"hello world");
    assert_eq!(folder.names().expect("readable"), [b"file"]);
    assert!(lock(&claims.0).is_empty());
}

/// What comes for others is compared with what is here, and what differs is cut off.
#[test]
fn what_stands_there_is_compared() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    let partial = open(&claims, &folder).expect("opened");
    let content = |text: &'static str| Bytes::from_static(text.as_bytes());
    partial.write(&[content("hello world")]).expect("room");
    for (offset, parts, there) in [
        (0, &["hello ", "world"][..], true),
        (6, &["wor"], true),
        (6, &["wor", "d"], false),
        (0, &["Hello"], false),
        (6, &["world", "!"], false),
        (11, &["!"], false),
    ] {
        let parts: Vec<_> = parts.iter().copied().map(content).collect();
        assert_eq!(partial.holds(offset, &parts), Ok(there), "{offset} {parts:?}");
    }
    partial.cut(6).expect("ours");
    partial.write(&[content("there")]).expect("room");
    let mut hash = ContentHash::new(false);
    let octets = partial.hash(8, &mut hash, &Tally::default());
    assert_eq!(octets.expect("readable"), 8);
    assert_eq!(hash.value(), *blake3::hash(b"hello th").as_bytes());
    partial.install(&ATTRIBUTES).expect("ours");
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"hello there");
}

const ATTRIBUTES: Attributes = Attributes {
    mode: 0o640,
    modified: Stamp { seconds: 1, nanos: 0 },
    owner: None,
};

/// A complete partial file that the system cannot synchronise: it refuses to for a pipe, which can stand for the file.
fn unsynchronisable(claims: &Claims, folder: &Folder) -> Partial {
    let partial = open(claims, folder).expect("opened");
    partial.write(&[Bytes::from_static(b"whole")]).expect("room");
    let (pipe, _) = io::pipe().expect("a pipe");
    if let Some(held) = lock(&partial.claim.file).as_mut() {
        held.file = std::os::fd::OwnedFd::from(pipe).into();
    }
    partial
}

/// Nothing a program can see tells a file on the disk from one in memory, but the system says what it was asked for.
#[test]
fn sealing_waits_for_the_disk_unless_told_otherwise() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let partial = unsynchronisable(&Claims::default(), &folder(dir.path()));
    assert_eq!(partial.seal(true).expect_err("asked").code, Code::Io);
    assert_eq!(partial.seal(false), Ok(()));
}

#[test]
fn what_is_not_on_the_disk_is_not_given_its_name() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    for unsynced in [false, true] {
        let partial = unsynchronisable(&claims, &folder);
        let complete = super::super::install::Complete::new(7, partial, ATTRIBUTES);
        let outcomes = super::super::install::install(vec![complete], unsynced);
        assert_eq!((outcomes.len(), outcomes[0].0), (1, 7));
        assert_eq!(outcomes[0].1.is_ok(), unsynced, "{outcomes:?}");
        assert_eq!(dir.path().join("file").exists(), unsynced);
    }
}

#[test]
fn a_small_file_is_not_appended_to_what_a_broken_copy_left() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    let broken = open(&claims, &folder).expect("opened");
    broken
        .write(&[Bytes::from_static(b"a longer beginning")])
        .expect("room");
    drop(broken);
    let partial = open(&claims, &folder).expect("opened again");
    partial.fill(&Bytes::from_static(b"all of it")).expect("room");
    partial.install(&ATTRIBUTES).expect("ours");
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"all of it");
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
    assert_eq!(
        older.install(&ATTRIBUTES).expect_err("taken over").code,
        Code::TakenOver
    );
    newer.write(&[Bytes::from_static(b" and new")]).expect("room");
    newer.install(&ATTRIBUTES).expect("ours");
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
    partial.install(&ATTRIBUTES).expect("ours");
    assert_eq!(fs::read(dir.path().join("victim")).expect("there"), b"precious");
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"content");
}

#[test]
fn the_rights_come_last_and_what_is_verified_gets_the_name() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    let partial = open(&claims, &folder).expect("opened");
    partial.write(&[Bytes::from_static(b"verified")]).expect("room");
    partial.seal(true).expect("ours");
    assert_eq!(folder.look(b".file.xtp-part").expect("there").mode(), 0o600);
    // Where others may write to the directory one of them puts a file in its place.
    fs::write(dir.path().join("planted"), "planted").expect("written");
    folder.rename(b"planted", b".file.xtp-part").expect("ours");
    let refused = partial.install(&ATTRIBUTES).expect_err("another file");
    assert_eq!(refused.code, Code::InTheWay);
    assert!(!dir.path().join("file").exists());
    assert_eq!(
        fs::read(dir.path().join(".file.xtp-part")).expect("there"),
        b"planted"
    );
}

#[test]
fn a_partial_file_of_another_name_is_taken_over_as_well_and_never_stays() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    fs::write(dir.path().join(".file.xtp-part"), "somebody's").expect("written");
    let older = open(&claims, &folder).expect("opened");
    older.write(&[Bytes::from_static(b"old")]).expect("room");
    let newer = open(&claims, &folder).expect("taken over");
    let refused = older.install(&ATTRIBUTES).expect_err("taken over");
    assert_eq!((newer.len(), refused.code), (Ok(0), Code::TakenOver));
    newer.write(&[Bytes::from_static(b"new")]).expect("room");
    assert_eq!(folder.names().expect("readable").len(), 2);
    drop(newer);
    assert_eq!(folder.names().expect("readable"), [b".file.xtp-part"]);
}

/// In one copy: a file, and one that is called as its partial file would be. Both orders.
#[test]
fn two_files_of_a_copy_do_not_meet_under_one_name() {
    for first in [&b"file"[..], b".file.xtp-part"] {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (claims, folder) = (Claims::default(), folder(dir.path()));
        let mut names = [&b"file"[..], b".file.xtp-part"];
        names.sort_by_key(|name| *name != first);
        let partials = names.map(|name| {
            let partial = Partial::open(&claims, &folder, name, "file").expect("opened");
            partial.write(&[Bytes::copy_from_slice(name)]).expect("room");
            partial
        });
        for partial in partials {
            partial.install(&ATTRIBUTES).expect("ours");
        }
        for name in names {
            let path = dir.path().join(std::str::from_utf8(name).expect("text"));
            assert_eq!(fs::read(path).expect("there"), name);
        }
        assert_eq!(folder.names().expect("readable").len(), 2);
    }
}

#[test]
fn nothing_stays_where_nothing_was_written() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (claims, folder) = (Claims::default(), folder(dir.path()));
    drop(open(&claims, &folder).expect("opened"));
    assert!(folder.names().expect("readable").is_empty());
    // An empty file is something, once it has its name.
    open(&claims, &folder)
        .and_then(|partial| partial.install(&ATTRIBUTES))
        .expect("ours");
    assert_eq!(folder.names().expect("readable"), [b"file"]);
}
