//! What a copy keeps of a tree, and what it says it does not: rights, lists of rights, further names, deep trees.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, XattrFlags, mkdirat, openat, setxattr};
use tempfile::tempdir;

use crate::support::{Server, begin, content, cp, finish, grown, text};

/// An access control list as the system stores it: tag, bits.
fn list(entries: &[(u16, u16)]) -> Vec<u8> {
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, bits) in entries {
        list.extend_from_slice(&tag.to_le_bytes());
        list.extend_from_slice(&bits.to_le_bytes());
        let user: u32 = if *tag == 2 { 1_000 } else { u32::MAX };
        list.extend_from_slice(&user.to_le_bytes());
    }
    list
}

/// 640, and a user who may everything.
const WIDE: [(u16, u16); 5] = [(1, 6), (2, 7), (4, 4), (16, 7), (32, 0)];

/// Gives a file a list; false on a file system that has none.
fn set_list(path: &Path, entries: &[(u16, u16)]) -> bool {
    setxattr(
        path,
        "system.posix_acl_access",
        &list(entries),
        XattrFlags::empty(),
    )
    .is_ok()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("there").mode() & 0o7777
}

#[test]
fn a_list_that_is_dropped_gives_nobody_more() {
    let dir = tempdir().expect("a directory");
    let (local, served, back) = (
        dir.path().join("t"),
        dir.path().join("served"),
        dir.path().join("back"),
    );
    fs::create_dir_all(local.join("sub")).expect("made");
    fs::create_dir(&served).expect("made");
    fs::write(local.join("file"), "content").expect("written");
    fs::write(local.join("large"), content(1, 300_000)).expect("written");
    fs::write(local.join("plain"), "content").expect("written");
    fs::set_permissions(local.join("plain"), fs::Permissions::from_mode(0o664)).expect("ours");
    for name in ["file", "large", "sub"] {
        if !set_list(&local.join(name), &WIDE) {
            return; // This file system has no lists.
        }
    }
    assert_eq!(mode(&local.join("file")), 0o670, "the group's bits are the mask");
    let server = Server::start(&served, &[]);
    let source = Server::start(dir.path(), &[]);
    for (arguments, target) in [
        ([text(&local), server.url("")], served.join("t")),
        ([source.url("t"), text(&back)], back.clone()),
    ] {
        let copied = cp(&arguments).expect_ok();
        let words = "not kept: 3 access control lists";
        assert!(copied.errors.contains(words), "{}", copied.errors);
        assert_eq!(mode(&target.join("file")), 0o640);
        assert_eq!(mode(&target.join("large")), 0o640);
        assert_eq!(mode(&target.join("sub")), 0o640);
        assert_eq!(mode(&target.join("plain")), 0o664);
    }
    assert_eq!(
        cp(&[text(&local), server.url("")])
            .expect_ok()
            .number("unchanged"),
        3
    );
}

/// Offered anew, because it has changed.
#[test]
fn a_list_gives_nobody_more_where_its_file_changes() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("file"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, content(1, 24 << 20)).expect("written");
    if !set_list(&local, &WIDE) {
        return; // This file system has no lists.
    }
    let server = Server::start(&served, &[]);
    let copy = begin(&["--limit", "12MiB", &text(&local), &server.url("")]);
    grown(&served.join(".file.xtp-part"), 1 << 20);
    let file = File::options().append(true).open(&local).expect("ours");
    std::io::Write::write_all(&mut &file, b"more").expect("room");
    finish(copy).expect_ok();
    assert_eq!(mode(&served.join("file")), 0o640);
}

#[test]
fn what_is_not_kept_is_told_by_number() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&local).expect("made");
    fs::create_dir(&served).expect("made");
    for name in ["a", "b", "c"] {
        fs::write(local.join(name), name).expect("written");
    }
    fs::hard_link(local.join("a"), local.join("a2")).expect("linked");
    symlink("a", local.join("link")).expect("linked");
    let has = setxattr(local.join("b"), "user.note", b"x", XattrFlags::empty()).is_ok();
    // Of cap_net_raw, as its tool writes it.
    let raw = [
        0x01, 0, 0, 0x02, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let may = setxattr(local.join("c"), "security.capability", &raw, XattrFlags::empty()).is_ok();
    let server = Server::start(&served, &[]);
    let source = Server::start(dir.path(), &[]);
    let back = dir.path().join("back");
    for arguments in [
        ["-a".to_owned(), text(&local), server.url("")],
        ["-a".to_owned(), source.url("t"), text(&back)],
        ["-n".to_owned(), text(&local), server.url("other")],
    ] {
        let copied = cp(&arguments).expect_ok();
        let said = &copied.errors;
        assert!(said.contains("t: not kept: 2 hard links"), "{said}");
        assert_eq!(said.contains("1 files with extended attributes"), has, "{said}");
        assert_eq!(said.contains("1 capabilities"), may, "{said}");
        assert_eq!(copied.report["errors"][0]["code"], "remark");
    }
    // Nothing is said where nothing is lost.
    let plain = cp(&[text(&local.join("link")), server.url("")]).expect_ok();
    assert!(!plain.errors.contains("not kept"), "{}", plain.errors);
}

/// Directories so deep that no path leads there at once, with a file in the last one.
fn plant(top: &Path, levels: usize, name: &str) {
    let mut at = openat(CWD, top, OFlags::DIRECTORY, Mode::empty()).expect("there");
    for _ in 0..levels {
        mkdirat(&at, name, Mode::from_raw_mode(0o755)).expect("room");
        at = openat(&at, name, OFlags::DIRECTORY, Mode::empty()).expect("made");
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    let file = openat(&at, "last", flags, Mode::from_raw_mode(0o644)).expect("room");
    rustix::io::write(&file, b"deep").expect("room");
}

/// How deep it goes, and what is in the last directory.
fn dug(top: &Path, name: &str) -> (usize, Vec<u8>) {
    let mut at = openat(CWD, top, OFlags::DIRECTORY, Mode::empty()).expect("there");
    let mut levels = 0;
    while let Ok(next) = openat(&at, name, OFlags::DIRECTORY, Mode::empty()) {
        (at, levels) = (next, levels + 1);
    }
    let mut octets = [0; 16];
    let read = openat(&at, "last", OFlags::RDONLY, Mode::empty())
        .and_then(|file| rustix::io::read(&file, &mut octets[..]))
        .unwrap_or(0);
    (levels, octets[..read].to_vec())
}

#[test]
fn deep_trees_and_long_paths_are_copied_and_removed() {
    let dir = tempdir().expect("a directory");
    let (local, served, back) = (
        dir.path().join("t"),
        dir.path().join("served"),
        dir.path().join("back"),
    );
    let long = "n".repeat(200);
    for (levels, name) in [(1_500, "d"), (60, long.as_str())] {
        for directory in [&local, &served, &back] {
            let _ = fs::remove_dir_all(directory);
            fs::create_dir(directory).expect("made");
        }
        plant(&local, levels, name);
        let server = Server::start(&served, &[]);
        let up = cp(&[text(&local), server.url("")]).expect_ok();
        assert_eq!(up.number("directories"), levels as u64 + 1);
        assert_eq!(dug(&served.join("t"), name), (levels, b"deep".to_vec()));
        cp(&[server.url("t"), text(&back)]).expect_ok();
        assert_eq!(dug(&back.join("t"), name), (levels, b"deep".to_vec()));
        // And goes again.
        fs::remove_dir_all(local.join(name)).expect("ours");
        let up = cp(&["--delete", &text(&local), &server.url("")]).expect_ok();
        assert_eq!(up.number("deleted"), levels as u64 + 1);
        assert_eq!(dug(&served.join("t"), name).0, 0);
    }
}
