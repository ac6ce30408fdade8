//! Directories that their owner may not write to, and what cannot be removed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

use tempfile::tempdir;

use crate::support::{Server, cp, text, xtp};

/// Who is nobody in particular.
const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").mode() & 0o777
}

/// A server for which rights count: root has them all, so it becomes somebody else, and what is served too.
fn ordinary(served: &Path) -> Server {
    let mut command = xtp();
    command.args(["serve", "--listen", "127.0.0.1:0"]).arg(served);
    if fs::metadata(served).expect("there").uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
        give(served);
    }
    Server::of(command)
}

fn give(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).expect("root");
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("readable") {
            give(&entry.expect("readable").path());
        }
    }
}

#[test]
fn a_directory_that_forbids_its_owner_is_copied_into() {
    let dir = tempdir().expect("a directory");
    set_mode(dir.path(), 0o755);
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    for inner in [local.join("sub"), served.join("t/sub"), served.join("t/gone")] {
        fs::create_dir_all(inner).expect("made");
    }
    fs::write(local.join("sub/a"), "a").expect("written");
    fs::write(served.join("t/sub/old"), "old").expect("written");
    fs::write(served.join("t/gone/old"), "old").expect("written");
    for closed in [local.join("sub"), served.join("t/sub"), served.join("t/gone")] {
        set_mode(&closed, 0o555);
    }
    let server = ordinary(&served);
    let up = cp(&["--delete", &text(&local), &server.url("")]).expect_ok();
    assert_eq!((up.number("files"), up.number("deleted")), (1, 3));
    assert_eq!(fs::read_to_string(served.join("t/sub/a")).expect("there"), "a");
    assert_eq!(mode(&served.join("t/sub")), 0o555, "as at the source, in the end");
    assert!(!served.join("t/gone").exists());
    set_mode(&local.join("sub"), 0o755);
}

#[test]
fn what_cannot_be_removed_keeps_nothing_else_alive() {
    let dir = tempdir().expect("a directory");
    set_mode(dir.path(), 0o755);
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir_all(&local).expect("made");
    fs::create_dir_all(served.join("t/closed")).expect("made");
    fs::write(served.join("t/closed/kept"), "kept").expect("written");
    fs::write(served.join("t/zz"), "goes").expect("written");
    let server = ordinary(&served);
    // Nobody but root can look into it.
    set_mode(&served.join("t/closed"), 0o000);
    let up = cp(&["--delete", &text(&local), &server.url("")]);
    let up = up.expect_failure(1, "t/closed: permission denied");
    assert_eq!((up.number("deleted"), up.number("failed")), (1, 1));
    assert!(!served.join("t/zz").exists());
    set_mode(&served.join("t/closed"), 0o755);
}
