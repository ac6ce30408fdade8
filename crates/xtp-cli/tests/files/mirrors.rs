//! `--delete`: what goes, and what must not.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::tempdir;

use crate::support::{Server, cp, text};

fn write(top: &Path, names: &[&str]) {
    for name in names {
        let path = top.join(name);
        fs::create_dir_all(path.parent().expect("below")).expect("made");
        fs::write(path, name).expect("written");
    }
}

fn is_there(top: &Path, names: &[&str]) -> Vec<bool> {
    names
        .iter()
        .map(|name| fs::symlink_metadata(top.join(name)).is_ok())
        .collect()
}

#[test]
fn what_the_source_does_not_have_goes() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    write(&local, &["a", "sub/b"]);
    write(
        &served,
        &["t/a", "t/old", "t/sub/old", "t/gone/deep/x", "other/file"],
    );
    symlink("/etc/passwd", served.join("t/planted")).expect("linked");
    let server = Server::start(&served, &[]);
    let up = cp(&["--delete", &text(&local), &server.url("")]).expect_ok();
    assert_eq!(
        is_there(&served, &["t/a", "t/sub/b", "other/file"]),
        [true; 3],
        "only directories that are copied are cleaned"
    );
    assert_eq!(
        is_there(&served, &["t/old", "t/sub/old", "t/gone", "t/planted"]),
        [false; 4]
    );
    // Two files, a tree of three, and the link itself; nothing it leads to.
    assert_eq!(up.number("deleted"), 6);
    assert!(Path::new("/etc/passwd").exists());
    // Here as well, and from several sources at once.
    let back = dir.path().join("back");
    write(&back, &["t/a", "t/stale", "other/stale", "beside"]);
    let down = cp(&["--delete", &server.url("t"), &server.url("other"), &text(&back)]).expect_ok();
    assert_eq!(down.number("deleted"), 2);
    assert_eq!(
        is_there(&back, &["t/stale", "other/stale", "beside"]),
        [false, false, true]
    );
    // Without the option nothing goes.
    write(&served, &["t/old"]);
    assert_eq!(
        cp(&[text(&local), server.url("")]).expect_ok().number("deleted"),
        0
    );
    assert!(served.join("t/old").exists());
}

#[test]
fn what_is_left_out_stays() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    write(&local, &["a", "a.o"]);
    symlink("/elsewhere", local.join("out")).expect("linked");
    write(
        &served,
        &["t/b.o", "t/out", "t/gone/c.o", "t/gone/d", "t/.half.xtp-part"],
    );
    let half = served.join("t/.half.xtp-part");
    fs::set_permissions(half, fs::Permissions::from_mode(0o600)).expect("ours");
    let server = Server::start(&served, &[]);
    let inside = ["--delete", "--links=inside", "--exclude", "*.o"];
    let up = cp(&[&inside[..], &[&text(&local), &server.url("")]].concat()).expect_ok();
    // Excluded, of the name of a link that is skipped, or of a copy that is not complete.
    assert_eq!(
        is_there(&served, &["t/b.o", "t/out", "t/gone/c.o", "t/.half.xtp-part"]),
        [true; 4]
    );
    assert_eq!(is_there(&served, &["t/gone/d", "t/a.o"]), [false; 2]);
    assert_eq!((up.number("deleted"), up.number("skipped")), (1, 1));
}

#[test]
fn nothing_goes_if_not_everything_came() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    write(&local, &["a", "sub/b"]);
    write(&served, &["t/old"]);
    let server = Server::start(&served, &[]);
    // A source that is not there.
    let missing = dir.path().join("missing");
    let up = cp(&["--delete", &text(&local), &text(&missing), &server.url("")]);
    let up = up.expect_failure(1, &server.url(".: nothing was deleted"));
    assert_eq!((up.number("deleted"), up.number("files")), (0, 2));
    assert!(served.join("t/old").exists());
    // Something in the way of a file.
    fs::create_dir(served.join("t/a.d")).expect("made");
    fs::write(local.join("a.d"), "x").expect("written");
    let up = cp(&["--delete", &text(&local), &server.url("")]).expect_failure(1, "nothing was deleted");
    assert_eq!(up.number("deleted"), 0);
    assert!(served.join("t/old").exists());
}
