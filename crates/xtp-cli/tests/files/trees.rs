//! What `cp -r` and `rsync -a` would do.

use std::fs::{self, File, FileTimes};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::tempdir;

use crate::support::{Server, assert_same, content, cp, text};

fn set(path: &Path, mode: u32, seconds: u64) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
    let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789);
    let times = FileTimes::new().set_modified(time);
    File::open(path)
        .and_then(|file| file.set_times(times))
        .expect("ours");
}

/// Mode, time and content of everything in a tree.
fn described(top: &Path) -> Vec<String> {
    fn go(top: &Path, path: &Path, lines: &mut Vec<String>) {
        let seen = fs::symlink_metadata(path).expect("there");
        let name = path.strip_prefix(top).expect("below").display().to_string();
        let (mode, time) = (seen.mode() & 0o777, (seen.mtime(), seen.mtime_nsec()));
        if seen.is_symlink() {
            lines.push(format!(
                "{name} -> {}",
                fs::read_link(path).expect("a link").display()
            ));
        } else if seen.is_dir() {
            lines.push(format!("{name}/ {mode:o} {time:?}"));
            let mut inside: Vec<_> = fs::read_dir(path)
                .expect("readable")
                .map(|entry| entry.expect("there").path())
                .collect();
            inside.sort();
            for path in inside {
                go(top, &path, lines);
            }
        } else {
            let hash = blake3::hash(&fs::read(path).expect("readable"));
            lines.push(format!("{name} {mode:o} {time:?} {}", hash.to_hex()));
        }
    }
    let mut lines = Vec::new();
    go(top, top, &mut lines);
    lines
}

/// A tree with all sizes that are treated differently.
fn plant(top: &Path) {
    fs::create_dir_all(top.join("sub/deep")).expect("made");
    for (index, (name, octets)) in [
        ("empty", 0),
        ("one", 1),
        ("inline", 64 << 10),
        ("sub/large", (64 << 10) + 1),
        ("sub/piece", 256 << 10),
        ("sub/deep/larger", 3_000_001),
        ("name with space\nand line", 10),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(top.join(name), content(index as u64, octets)).expect("written");
        set(
            &top.join(name),
            0o640 - (index as u32 % 2) * 0o40,
            1_000_000_000 + index as u64,
        );
    }
    let foreign = std::ffi::OsString::from_vec(b"not \xff text".to_vec());
    fs::write(top.join(foreign), "x").expect("written");
    std::os::unix::fs::symlink("../one", top.join("sub/link")).expect("linked");
    set(&top.join("sub/deep"), 0o500, 1_100_000_000);
    set(&top.join("sub"), 0o755, 1_200_000_000);
    set(top, 0o750, 1_300_000_000);
}

#[test]
fn a_tree_goes_there_and_back_unchanged() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("local"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    plant(&local);
    let server = Server::start(&served, &[]);
    let up = cp(&[text(&local), server.url("")]).expect_ok();
    assert_eq!(
        (up.number("files"), up.number("directories"), up.number("links")),
        (8, 3, 1)
    );
    assert_eq!(up.number("sent_bytes"), up.number("bytes"));
    assert_eq!(described(&served.join("local")), described(&local));
    let back = dir.path().join("back");
    cp(&[server.url("local"), text(&back)]).expect_ok();
    assert_eq!(described(&back), described(&local));
    // Again: nothing is sent.
    for arguments in [
        [text(&local), server.url("/")],
        [server.url("local"), text(&back)],
    ] {
        let into_itself = arguments[1] == text(&back);
        let again = cp(&arguments).expect_ok();
        let expected = if into_itself { (8, 0) } else { (0, 9) };
        assert_eq!((again.number("files"), again.number("unchanged")), expected);
    }
    // Once more, into the directory itself: its content belongs there.
    let again = cp(&[server.url("local/."), text(&back)]).expect_ok();
    assert_eq!((again.number("sent_bytes"), again.number("unchanged")), (0, 9));
    fs::set_permissions(served.join("local/sub/deep"), fs::Permissions::from_mode(0o700)).expect("ours");
}

#[test]
fn targets_are_found_as_cp_finds_them() {
    let dir = tempdir().expect("a directory");
    let served = dir.path().join("served");
    fs::create_dir_all(served.join("dir")).expect("made");
    let [a, b] = ["a", "b"].map(|name| {
        let path = dir.path().join(name);
        // Sizes differ, because times may not.
        fs::write(&path, name.repeat(usize::from(name.as_bytes()[0]))).expect("written");
        text(&path)
    });
    let server = Server::start(&served, &[]);
    cp(&[a.clone(), server.url("new")]).expect_ok();
    cp(&[a.clone(), server.url("dir")]).expect_ok();
    cp(&[a.clone(), b.clone(), server.url("both")]).expect_ok();
    cp(&[b.clone(), server.url("new")]).expect_ok();
    for (path, original) in [("new", "b"), ("dir/a", "a"), ("both/a", "a"), ("both/b", "b")] {
        assert_same(&served.join(path), &dir.path().join(original));
    }
    cp(&[a.clone(), server.url("none/new")]).expect_failure(1, "no such file or directory");
    cp(&[text(&served.join("dir")), server.url("new")]).expect_failure(1, "is no directory");
    fs::create_dir(served.join("dir/b")).expect("made");
    cp(&[b, server.url("dir")]).expect_failure(1, "a directory is in the way");
    let out = dir.path().join("out");
    cp(&[server.url("new"), text(&out)]).expect_ok();
    assert_same(&served.join("new"), &out);
    let down = cp(&[server.url("missing"), server.url("new"), text(dir.path())]);
    let down = down.expect_failure(1, "missing: no such file or directory");
    assert_eq!((down.number("files"), down.number("failed")), (1, 1));
    assert!(dir.path().join("new").exists(), "the others are copied");
    cp(&[server.url("new"), text(&dir.path().join("no/where"))])
        .expect_failure(1, "no such file or directory");
}

#[test]
fn a_changed_file_replaces_and_an_unchanged_one_keeps_its_mode_in_step() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("f"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::write(&local, "one").expect("written");
    set(&local, 0o644, 1_000);
    let server = Server::start(&served, &[]);
    cp(&[text(&local), server.url("")]).expect_ok();
    // Same size, another time.
    fs::write(&local, "two").expect("written");
    set(&local, 0o644, 2_000);
    assert_eq!(cp(&[text(&local), server.url("")]).expect_ok().number("files"), 1);
    assert_same(&local, &served.join("f"));
    set(&local, 0o600, 2_000);
    let skipped = cp(&[text(&local), server.url("")]).expect_ok();
    assert_eq!(
        (skipped.number("unchanged"), skipped.number("sent_bytes")),
        (1, 0)
    );
    assert_eq!(
        fs::metadata(served.join("f")).expect("there").mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::read_dir(&served).expect("readable").count(),
        1,
        "nothing is left beside it"
    );
}

#[test]
fn many_small_files_go_together() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("many"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    for directory in 0..20 {
        let sub = local.join(format!("d{directory}"));
        fs::create_dir_all(&sub).expect("made");
        for file in 0..60 {
            fs::write(sub.join(format!("f{file}")), content(file, 100 + file as usize)).expect("written");
        }
    }
    let server = Server::start(&served, &[]);
    let up = cp(&[text(&local), server.url("")]).expect_ok();
    assert_eq!((up.number("files"), up.number("directories")), (1_200, 21));
    assert_eq!(described(&served.join("many")), described(&local));
    let back = dir.path().join("back");
    let down = cp(&[server.url("many"), text(&back)]).expect_ok();
    assert_eq!(down.number("files"), 1_200);
    assert_eq!(described(&back), described(&local));
}
