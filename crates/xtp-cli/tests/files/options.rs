//! The options people have in their fingers.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use tempfile::tempdir;

use crate::support::{Server, cp, piped, text, xtp};

fn plant(top: &Path) {
    fs::create_dir_all(top.join("src/target")).expect("made");
    for name in ["main.c", "main.o", "src/lib.c", "src/lib.o", "src/target/out"] {
        fs::write(top.join(name), name).expect("written");
    }
}

/// The names below a directory, sorted.
fn names(top: &Path) -> Vec<String> {
    fn go(top: &Path, path: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(path).expect("readable") {
            let path = entry.expect("there").path();
            found.push(path.strip_prefix(top).expect("below").display().to_string());
            if path.is_dir() {
                go(top, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    go(top, top, &mut found);
    found.sort();
    found
}

#[test]
fn what_is_the_default_can_be_said() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    plant(&local);
    let server = Server::start(&served, &[]);
    for (index, flags) in [&["-r"][..], &["-a"], &["-p"], &["-rap"], &["-av"], &["-rpq"]]
        .iter()
        .enumerate()
    {
        let (source, target) = (text(&local), server.url(&format!("t{index}")));
        let up = cp(&[flags, &[source.as_str(), &target][..]].concat()).expect_ok();
        assert_eq!(up.number("files"), 5, "{flags:?}");
        assert_eq!(names(&served.join(format!("t{index}"))), names(&local));
    }
}

#[test]
fn verbose_and_quiet_say_what_rsync_would() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    plant(&local);
    let server = Server::start(&served, &[]);
    let up = piped(&["cp", "-v", &text(&local), &server.url("")], b"");
    assert!(up.status.success());
    let listed = String::from_utf8(up.stdout).expect("text");
    let mut listed: Vec<_> = listed.lines().collect();
    listed.sort_unstable();
    let top = text(&local);
    let expected = ["main.c", "main.o", "src/lib.c", "src/lib.o", "src/target/out"];
    assert_eq!(listed, expected.map(|name| format!("{top}/{name}")));
    // The other way, where the names are those of this side.
    let back = dir.path().join("back");
    let down = piped(&["cp", "-v", &server.url("t"), &text(&back)], b"");
    let listed = String::from_utf8(down.stdout).expect("text");
    assert!(
        listed.lines().any(|line| line == text(&back.join("src/lib.o"))),
        "{listed}"
    );
    // A list that is not whole is a failure, though the copy is.
    let full = fs::File::create("/dev/full").expect("every system has it");
    let (third, source) = (dir.path().join("third"), server.url("t"));
    let listing = xtp()
        .args(["cp", "-v", &source, &text(&third)])
        .stdout(full)
        .output()
        .expect("it starts");
    let said = String::from_utf8(listing.stderr).expect("text");
    assert_eq!(listing.status.code(), Some(1), "{said}");
    assert!(said.contains("standard output: no space left"), "{said}");
    assert_eq!(names(&third), names(&local));
    let again = piped(&["cp", "-q", &server.url("t/."), &text(&back)], b"");
    assert!(again.status.success() && again.stdout.is_empty() && again.stderr.is_empty());
    // What is left out is told once, in plain words where nobody sees colours, and is no error.
    symlink("/etc/passwd", local.join("outside")).expect("linked");
    for (flag, times) in [("-v", 1), ("-q", 0)] {
        let up = piped(
            &[
                "cp",
                "--links=inside",
                flag,
                &format!("{}/.", text(&local)),
                &server.url("t"),
            ],
            b"",
        );
        let said = String::from_utf8(up.stderr).expect("text");
        assert!(up.status.success() && !said.contains('\u{1b}'), "{said:?}");
        assert_eq!(said.matches("leads outside").count(), times, "{said}");
        assert_eq!(
            said.matches(&format!("xtp: {}/outside", text(&local))).count(),
            times,
            "{said}"
        );
    }
}

#[test]
fn a_dry_run_says_everything_and_does_nothing() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir_all(served.join("t/old")).expect("made");
    plant(&local);
    fs::write(served.join("t/main.c"), "another size").expect("written");
    fs::write(served.join("t/old/gone"), "").expect("written");
    let before = names(&served);
    let server = Server::start(&served, &[]);
    let run = piped(&["cp", "-n", "--delete", &text(&local), &server.url("")], b"");
    let said = String::from_utf8(run.stdout).expect("text");
    assert!(run.status.success(), "{said}");
    let top = text(&local);
    for line in [
        format!("{top}/main.c"),
        format!("{top}/src/target/out"),
        format!("deleting {}", server.url("t/old/gone")),
        format!("deleting {}", server.url("t/old")),
    ] {
        assert!(said.lines().any(|said| said == line), "{line} in {said}");
    }
    assert_eq!(names(&served), before);
    assert_eq!(
        fs::read_to_string(served.join("t/main.c")).expect("there"),
        "another size"
    );
    let counted = cp(&["--dry-run", "--delete", &text(&local), &server.url("")]).expect_ok();
    assert_eq!((counted.number("files"), counted.number("deleted")), (5, 2));
    assert_eq!(counted.number("sent_bytes"), 0);
    // To this side, several sources into a directory that is not there.
    let out = dir.path().join("out");
    let down = cp(&["-n", &server.url("t/main.c"), &server.url("t/old"), &text(&out)]).expect_ok();
    assert_eq!((down.number("files"), down.number("directories")), (2, 1));
    assert!(!out.exists());
    // What could not be copied is found out as well.
    let lost = cp(&["-n", &text(&local), &server.url("none/there")]);
    lost.expect_failure(1, "no such file or directory");
}

#[test]
fn what_is_excluded_stays_behind_in_both_directions() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    plant(&local);
    let server = Server::start(&served, &[]);
    let exclude = ["--exclude", "*.o", "--exclude", "target/"];
    cp(&[&exclude[..], &[&text(&local), &server.url("")]].concat()).expect_ok();
    assert_eq!(names(&served), ["t", "t/main.c", "t/src", "t/src/lib.c"]);
    let back = dir.path().join("back");
    let anchored = ["--exclude", "/main.c"];
    cp(&[&anchored[..], &[&server.url("t"), &text(&back)]].concat()).expect_ok();
    assert_eq!(names(&back), ["src", "src/lib.c"]);
    let nothing = cp(&["--exclude", "t", &text(&local), &server.url("x")]).expect_ok();
    assert_eq!(nothing.number("files"), 0);
}

#[test]
fn files_are_on_the_disk_before_they_have_their_names_unless_that_is_not_wanted() {
    let dir = tempdir().expect("a directory");
    let served = dir.path().join("served");
    plant(&served);
    let server = Server::start(&served, &[]);
    let down = |flags: &[&str], name: &str| {
        let out = text(&dir.path().join(name));
        cp(&[flags, &[&server.url(""), &out]].concat()).expect_ok()
    };
    let synced = down(&[], "synced");
    assert_eq!((synced.number("files"), synced.number("synced")), (5, 5));
    let unsynced = down(&["--no-sync"], "unsynced");
    assert_eq!((unsynced.number("files"), unsynced.number("synced")), (5, 0));
    assert_eq!(names(&dir.path().join("unsynced")), names(&served));
}

/// Owner and set-ID bits need a receiver that is root, and somebody who says so: without `-a`, and without `--owner` of a
/// server, a stranger's word is not enough.
#[test]
fn owners_and_set_id_bits_are_kept_by_root_alone() {
    let dir = tempdir().expect("a directory");
    let (local, served) = (dir.path().join("t"), dir.path().join("served"));
    fs::create_dir(&served).expect("made");
    fs::create_dir(&local).expect("made");
    fs::write(local.join("tool"), "#!").expect("written");
    symlink("tool", local.join("link")).expect("linked");
    let root = fs::metadata(&local).expect("there").uid() == 0;
    let owned = |path: &Path| {
        let seen = fs::symlink_metadata(path).expect("there");
        (seen.uid(), seen.gid(), seen.mode() & 0o7777)
    };
    if root {
        std::os::unix::fs::chown(local.join("tool"), Some(1_234), Some(4_321)).expect("root");
        std::os::unix::fs::lchown(local.join("link"), Some(1_234), Some(4_321)).expect("root");
    }
    fs::set_permissions(local.join("tool"), fs::Permissions::from_mode(0o4755)).expect("ours");
    let (uid, gid, _) = owned(&served);
    let plain = Server::start(&served, &[]);
    cp(&["-a", &text(&local), &plain.url("plain")]).expect_ok();
    assert_eq!(owned(&served.join("plain/tool")), (uid, gid, 0o755));
    let down = dir.path().join("down");
    cp(&[plain.url("plain"), text(&down)]).expect_ok();
    assert_eq!(owned(&down.join("tool")), (uid, gid, 0o755));
    if !root {
        // Nobody else may give files away, and a server says so at once.
        let refused = piped(&["serve", "--owner", &text(&served)], b"");
        assert_eq!(refused.status.code(), Some(2));
        return;
    }
    let generous = Server::start(&served, &["--owner"]);
    cp(&["-a", &text(&local), &generous.url("kept")]).expect_ok();
    assert_eq!(owned(&served.join("kept/tool")), (1_234, 4_321, 0o4755));
    assert_eq!(owned(&served.join("kept/link")).0, 1_234);
    cp(&[text(&local), generous.url("unasked")]).expect_ok();
    assert_eq!(owned(&served.join("unasked/tool")), (uid, gid, 0o755));
    let back = dir.path().join("back");
    cp(&["-a", &generous.url("kept"), &text(&back)]).expect_ok();
    assert_eq!(owned(&back.join("tool")), (1_234, 4_321, 0o4755));
    // A file that is there already gets what it lacks.
    cp(&["-a", &text(&local.join("tool")), &generous.url("plain/tool")]).expect_ok();
    assert_eq!(owned(&served.join("plain/tool")), (1_234, 4_321, 0o4755));
}
