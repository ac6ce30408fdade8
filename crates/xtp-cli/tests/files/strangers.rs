//! Directories that other users write to, and what they put there for a copy to find.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::support::{Server, assert_same, begin, content, cp, finish, grown, text};

/// Who is nobody in particular.
const NOBODY: u32 = 65_534;
/// Beyond what travels in one record: such files are continued.
const LARGE: usize = 300_000;

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|seen| seen.uid() == 0)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).expect("readable");
    let mut names: Vec<_> = names
        .map(|entry| entry.expect("there").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

/// Copies files there and back over what `plant` puts under the names of their partial files. `check` looks at that afterwards.
fn copied_over(plant: impl Fn(&Path), check: impl Fn(&Path)) {
    for size in [100, LARGE] {
        let dir = tempdir().expect("a directory");
        let (local, served, back) = (
            dir.path().join("f"),
            dir.path().join("served"),
            dir.path().join("back"),
        );
        fs::write(&local, content(1, size)).expect("written");
        set_mode(&local, 0o644);
        fs::create_dir(&served).expect("made");
        fs::create_dir(&back).expect("made");
        let server = Server::start(&served, &[]);
        for (arguments, target) in [
            ([text(&local), server.url("")], &served),
            ([server.url("f"), text(&back)], &back),
        ] {
            plant(&target.join(".f.xtp-part"));
            let copied = cp(&arguments).expect_ok();
            assert_eq!(copied.number("resumed_from"), 0);
            assert_same(&local, &target.join("f"));
            let seen = fs::symlink_metadata(target.join("f")).expect("there");
            assert_eq!((seen.nlink(), seen.mode() & 0o7777), (1, 0o644));
            assert_eq!(seen.uid(), fs::metadata(target).expect("there").uid());
            check(&target.join(".f.xtp-part"));
            assert_eq!(names(target), [".f.xtp-part", "f"], "nothing else is left");
        }
    }
}

#[test]
fn a_file_of_another_user_does_not_become_the_copy() {
    if !is_root() {
        return; // Only root can make files of others.
    }
    let half = content(1, LARGE / 2);
    copied_over(
        |path| {
            fs::write(path, &half).expect("written");
            set_mode(path, 0o600);
            chown(path, Some(NOBODY), Some(NOBODY)).expect("root");
        },
        |path| {
            assert!(fs::read(path).expect("there") == half);
            assert_eq!(fs::metadata(path).expect("there").uid(), NOBODY);
        },
    );
}

#[test]
fn a_file_of_several_names_is_not_written_to() {
    copied_over(
        |path| {
            let victim = path.with_file_name("../victim");
            let _ = fs::remove_file(&victim);
            fs::write(&victim, "precious").expect("written");
            set_mode(&victim, 0o600);
            fs::hard_link(&victim, path).expect("linked");
        },
        |path| {
            let victim = fs::read_to_string(path.with_file_name("../victim")).expect("there");
            assert_eq!(victim, "precious");
        },
    );
}

#[test]
fn a_file_that_others_can_open_is_not_continued() {
    copied_over(
        |path| {
            fs::write(path, content(1, 100)).expect("written");
            set_mode(path, 0o644);
        },
        |path| assert!(fs::read(path).expect("there") == content(1, 100)),
    );
}

#[test]
fn a_link_or_fifo_in_the_place_of_a_partial_file_stays() {
    copied_over(
        |path| symlink("nowhere", path).expect("linked"),
        |path| assert!(fs::read_link(path).is_ok()),
    );
    copied_over(
        |path| {
            let made = Command::new("mkfifo").arg(path).status();
            assert!(made.expect("it runs").success());
        },
        |path| assert!(!fs::symlink_metadata(path).expect("there").is_file()),
    );
}

/// What root copies must not become root's own where another user can still write to it.
#[test]
fn what_another_user_made_is_not_taken_for_the_copy_of_a_file_with_an_owner() {
    if !is_root() {
        return; // Only root can make files of others.
    }
    let dir = tempdir().expect("a directory");
    let (local, back) = (dir.path().join("f"), dir.path().join("back"));
    fs::write(&local, "genuine").expect("written");
    fs::create_dir(&back).expect("made");
    fs::write(back.join("f"), "planted").expect("written");
    chown(back.join("f"), Some(NOBODY), Some(NOBODY)).expect("root");
    let modified = fs::metadata(&local)
        .and_then(|seen| seen.modified())
        .expect("a time");
    File::options()
        .write(true)
        .open(back.join("f"))
        .and_then(|file| file.set_modified(modified))
        .expect("ours");
    let server = Server::start(dir.path(), &[]);
    let copied = cp(&["-a", &server.url("f"), &text(&back)]).expect_ok();
    assert_eq!(copied.number("files"), 1);
    assert_eq!(fs::read_to_string(back.join("f")).expect("there"), "genuine");
    assert_eq!(fs::metadata(back.join("f")).expect("there").uid(), 0);
}

/// Whoever writes to a directory could exchange one in it for a link to another place.
#[test]
fn links_in_the_place_of_directories_are_not_followed_while_writing() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir_all(local.join("sub/deep")).expect("made");
    fs::write(local.join("sub/a"), "a").expect("written");
    fs::write(local.join("sub/deep/b"), "b").expect("written");
    fs::write(local.join("c"), "c").expect("written");
    fs::create_dir_all(served.join("t")).expect("made");
    fs::create_dir_all(served.join("precious/deep")).expect("made");
    fs::write(served.join("precious/old"), "old").expect("written");
    symlink("../precious", served.join("t/sub")).expect("linked");
    let server = Server::start(&served, &[]);
    for options in [&[][..], &["-n"], &["--delete"]] {
        let up = cp(&[options, &[&text(&local), &server.url("")]].concat());
        up.expect_failure(1, "t/sub: is a symbolic link in the way of a directory");
        assert_eq!(names(&served.join("precious")), ["deep", "old"]);
        assert_eq!(names(&served.join("precious/deep")), [""; 0]);
    }
    assert!(served.join("t/c").exists(), "the others are copied");
    // The other way as well.
    let back = dir.path().join("back");
    fs::create_dir_all(back.join("elsewhere")).expect("made");
    symlink("elsewhere", back.join("t")).expect("linked");
    fs::remove_file(served.join("t/sub")).expect("ours");
    cp(&[server.url("t"), text(&back)]).expect_failure(1, "symbolic link in the way of a directory");
    assert_eq!(names(&back.join("elsewhere")), [""; 0]);
    // What the user names leads there.
    cp(&[server.url("t/."), text(&back.join("t"))]).expect_ok();
    assert_eq!(names(&back.join("elsewhere")), ["c"]);
}

#[test]
fn files_that_are_called_like_partial_ones_are_files() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&local).expect("made");
    fs::create_dir(&served).expect("made");
    for (name, octets) in [("f", 10), (".f.xtp-part", 20), (".g.xtp-part", LARGE)] {
        fs::write(local.join(name), content(octets as u64, octets)).expect("written");
        set_mode(&local.join(name), 0o644);
    }
    symlink("f", local.join("g")).expect("linked");
    let server = Server::start(&served, &[]);
    let back = dir.path().join("back");
    for arguments in [[text(&local), server.url("")], [server.url("t"), text(&back)]] {
        let copied = cp(&arguments).expect_ok();
        assert_eq!((copied.number("files"), copied.number("links")), (3, 1));
        assert!(!copied.errors.contains("xtp-part"), "{}", copied.errors);
    }
    for name in ["f", ".f.xtp-part", ".g.xtp-part"] {
        assert_same(&local.join(name), &served.join("t").join(name));
        assert_same(&local.join(name), &back.join(name));
    }
    // Named itself, and as a target.
    let out = dir.path().join("out");
    cp(&[server.url("t/.f.xtp-part"), text(&out)]).expect_ok();
    cp(&[text(&local.join("f")), server.url(".f.xtp-part")]).expect_ok();
    assert_same(&local.join(".f.xtp-part"), &out);
    assert_same(&local.join("f"), &served.join(".f.xtp-part"));
    // The source does not have it: it goes as others do.
    fs::remove_file(local.join(".g.xtp-part")).expect("ours");
    let up = cp(&["--delete", &text(&local), &server.url("")]).expect_ok();
    assert_eq!(up.number("deleted"), 1);
    assert!(!served.join("t/.g.xtp-part").exists());
}

#[test]
fn what_a_broken_copy_left_is_told_and_what_is_under_way_left_out() {
    let dir = tempdir().expect("a directory");
    let (served, back) = (dir.path().join("served"), dir.path().join("back"));
    fs::create_dir_all(served.join("t")).expect("made");
    let left = served.join("t/.old.xtp-part");
    fs::write(&left, "half").expect("written");
    set_mode(&left, 0o600);
    let server = Server::start(&served, &[]);
    let down = cp(&[server.url("t"), text(&back)]).expect_ok();
    assert!(
        down.errors
            .contains("t/.old.xtp-part: looks like what a broken copy left"),
        "{}",
        down.errors
    );
    assert_same(&left, &back.join(".old.xtp-part"));
    // A mirror of what does not have it: it stays, and that is told.
    fs::create_dir(dir.path().join("t")).expect("made");
    let up = cp(&["--delete", &text(&dir.path().join("t")), &server.url("")]).expect_ok();
    assert!(up.errors.contains("t/.old.xtp-part: looks like"), "{}", up.errors);
    assert!(left.exists());
    // One that a copy writes to.
    let local = dir.path().join("big");
    fs::write(&local, content(1, 24 << 20)).expect("written");
    let slow = begin(&["--limit", "12MiB", &text(&local), &server.url("t/")]);
    grown(&served.join("t/.big.xtp-part"), 1 << 20);
    let again = dir.path().join("again");
    let down = cp(&[server.url("t"), text(&again)]).expect_ok();
    assert!(
        down.errors
            .contains("t/.big.xtp-part: a copy is writing it; skipped"),
        "{}",
        down.errors
    );
    assert_eq!(names(&again), [".old.xtp-part"]);
    finish(slow).expect_ok();
    assert_same(&local, &served.join("t/big"));
}
