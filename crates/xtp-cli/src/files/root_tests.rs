//! No path leads out, neither by the kernel's way of resolving nor by steps.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path();
    fs::write(top.join("secret"), "secret").expect("written");
    fs::create_dir_all(top.join("served/a/b")).expect("made");
    fs::write(top.join("served/a/b/file"), "inside").expect("written");
    for (link, target) in [
        ("served/up", ".."),
        ("served/out", "../secret"),
        ("served/absolute", "/etc"),
        ("served/within", "a/b"),
        ("served/a/back", "../a"),
        ("served/far", "a/../../served"),
    ] {
        symlink(target, top.join(link)).expect("linked");
    }
    dir
}

fn path(text: &str) -> RelPath {
    RelPath::from_user(text.as_bytes()).expect("clean")
}

#[test]
fn paths_and_links_that_lead_outside_are_refused() {
    let dir = tree();
    let root = Root::open(&dir.path().join("served")).expect("a directory");
    for by_steps in [false, true] {
        root.by_steps.store(by_steps, Ordering::Relaxed);
        for bad in ["up", "absolute", "far", "up/secret", "absolute/passwd", "far/a"] {
            assert!(root.folder(&path(bad)).is_err(), "{bad} {by_steps}");
            assert!(root.file(&path(bad)).is_err(), "{bad} {by_steps}");
        }
        assert!(root.file(&path("out")).is_err());
        assert!(root.file(&path("missing")).is_err());
        assert!(root.folder(&path("")).is_ok());
        assert!(root.folder(&path("a/b")).is_ok());
        assert!(root.file(&path("a/b/file")).is_ok());
        // Links that stay inside are followed where the kernel can tell.
        assert_eq!(root.folder(&path("within")).is_ok(), !by_steps);
        assert_eq!(root.file(&path("a/back/b/file")).is_ok(), !by_steps);
    }
}

#[test]
fn files_are_made_renamed_and_removed_by_name() {
    let dir = tree();
    let root = Root::open(&dir.path().join("served")).expect("a directory");
    let folder = root.folder(&path("a")).expect("a directory");
    folder.make_folder(b"new", 0o500).expect("made");
    assert_eq!(folder.look(b"new").expect("there").mode() & 0o700, 0o700);
    let file = folder.make_file(b"part").expect("made");
    assert!(folder.make_file(b"part").is_err(), "there already");
    assert!(folder.reopen_file(b"part").is_ok() && folder.reopen_file(b"none").is_err());
    assert_eq!(folder.look(b"part").expect("there").mode(), 0o600);
    let modified = Stamp {
        seconds: 1_000_000_000,
        nanos: 123_456_789,
    };
    let attributes = Attributes {
        mode: 0o644,
        modified,
        owner: None,
    };
    attributes.set(&file).expect("ours");
    synchronise(&file).expect("ours");
    folder.rename(b"part", b"whole").expect("ours");
    let seen = folder.look(b"whole").expect("there");
    assert_eq!((seen.shape(), seen.mode()), (Shape::File, 0o644));
    assert!(same_time(seen.modified(), modified));
    folder.remove(b"whole").expect("ours");
    folder.remove(b"whole").expect("gone already");
    assert!(folder.find(b"whole").expect("may be looked at").is_none());
    assert!(folder.make_file(b"back").is_err(), "there already");
    std::os::unix::fs::symlink("b/file", dir.path().join("served/a/leads")).expect("linked");
    assert!(
        folder.reopen_file(b"leads").is_err(),
        "links are not written through"
    );
    folder.remove(b"leads").expect("ours");
    assert_eq!(folder.link_target(b"back").expect("a link"), b"../a");
    assert_eq!(folder.names().expect("readable"), [&b"b"[..], b"back", b"new"]);
}

#[test]
fn no_link_is_followed_below_what_was_named() {
    let dir = tree();
    let root = Root::open(&dir.path().join("served")).expect("a directory");
    for by_steps in [false, true] {
        root.by_steps.store(by_steps, Ordering::Relaxed);
        let top = root.folder(&path("")).expect("a directory");
        assert!(root.below(&top, &path("")).is_ok());
        assert!(root.below(&top, &path("a/b")).is_ok());
        for bad in ["within", "up", "a/back/b", "a/b/file", "missing"] {
            assert!(root.below(&top, &path(bad)).is_err(), "{bad} {by_steps}");
        }
    }
}

#[test]
fn rights_are_set_of_what_was_seen() {
    let dir = tree();
    let root = Root::open(&dir.path().join("served")).expect("a directory");
    let folder = root.folder(&path("a/b")).expect("a directory");
    let seen = folder.look(b"file").expect("there");
    assert!(
        folder
            .set_rights(b"file", &seen, (0o640, None, None))
            .expect("ours")
    );
    assert_eq!(folder.look(b"file").expect("there").mode(), 0o640);
    // Something else has the name by now.
    fs::write(dir.path().join("served/a/b/other"), "other").expect("written");
    folder.rename(b"other", b"file").expect("ours");
    assert!(
        !folder
            .set_rights(b"file", &seen, (0o777, None, None))
            .expect("looked at")
    );
    assert_ne!(folder.look(b"file").expect("there").mode(), 0o777);
    fs::remove_file(dir.path().join("served/a/b/file")).expect("ours");
    symlink("../../../secret", dir.path().join("served/a/b/file")).expect("linked");
    assert!(
        !folder
            .set_rights(b"file", &seen, (0o777, None, None))
            .expect("looked at")
    );
}

#[test]
fn times_are_compared_as_precisely_as_they_are_kept() {
    let stamp = |seconds, nanos| Stamp { seconds, nanos };
    let there = stamp(5, 123_456_789);
    for (here, same) in [
        (stamp(5, 123_456_789), true),
        (stamp(5, 123_456_000), true),
        (stamp(5, 0), true),
        (stamp(5, 123_456_788), false),
        (stamp(5, 123_000_000), false),
        (stamp(4, 123_456_789), false),
    ] {
        assert_eq!(same_time(here, there), same, "{here:?}");
    }
}
