//! Trees are walked in order, and what cannot be copied is named.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

fn source(top: &Path, start: &str, name: &str) -> Source {
    Source {
        follow: false,
        root: Arc::new(Root::open(top).expect("a directory")),
        start: RelPath::from_user(start.as_bytes()).expect("clean"),
        name: name.as_bytes().to_vec(),
        label: format!("src/{start}"),
    }
}

/// What was found, a line each.
fn walked_with(sources: Vec<Source>, excludes: Excludes, links: Links) -> Vec<String> {
    let line = |found| match found {
        Ok(Entry {
            source,
            path,
            name,
            kind,
            ..
        }) => {
            let kind = match kind {
                Kind::Directory => "directory".to_owned(),
                Kind::File { size } => format!("file of {size}"),
                Kind::Link { target } => format!("link to {}", shown(&target)),
                Kind::Stream => "stream".to_owned(),
            };
            format!("{source} {} [{}] {kind}", shown(&path), shown(&name))
        }
        Err(Missed { problem, .. }) => format!("{:?} {}", problem.code, problem.text),
    };
    Walk::new(sources, excludes, Holes::Kept, links)
        .map(line)
        .collect()
}

fn walked(sources: Vec<Source>) -> Vec<String> {
    walked_with(sources, Excludes::default(), Links::Keep)
}

#[test]
fn directories_come_before_what_is_in_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path();
    fs::create_dir_all(top.join("t/sub/deep")).expect("made");
    fs::write(top.join("t/b"), "12345").expect("written");
    fs::write(top.join("t/sub/a"), "").expect("written");
    symlink("../b", top.join("t/sub/link")).expect("linked");
    symlink("../../b", top.join("t/sub/loose")).expect("linked");
    let sources = vec![
        source(top, "t", "t"),
        source(top, "missing", "missing"),
        source(top, "t/sub", ""),
    ];
    assert_eq!(
        walked_with(sources, Excludes::default(), Links::Inside),
        [
            "0  [t] directory",
            "0 b [] file of 5",
            "0 sub [] directory",
            "0 sub/a [] file of 0",
            "0 sub/deep [] directory",
            "0 sub/link [] link to ../b",
            "Skipped src/t/sub/loose: is a symbolic link that leads outside (../../b); skipped",
            "NotFound src/missing: no such file or directory; check the name",
            "2  [] directory",
            "2 a [] file of 0",
            "2 deep [] directory",
            "Skipped src/t/sub/link: is a symbolic link that leads outside (../b); skipped",
            "Skipped src/t/sub/loose: is a symbolic link that leads outside (../../b); skipped",
        ]
    );
}

/// What a broken copy left is offered behind its name, and what it looks like is said.
#[test]
fn partial_files_are_files_and_told() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (left, under_way) = (dir.path().join(".b.xtp-part"), dir.path().join(".c.xtp-part"));
    for path in [&left, &under_way] {
        fs::write(path, "123").expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("ours");
    }
    fs::write(dir.path().join(".d.xtp-part"), "other").expect("written");
    let open = fs::File::open(&under_way).expect("there");
    open.lock().expect("free");
    let found = walked(vec![
        source(dir.path(), ".b.xtp-part", ".b.xtp-part"),
        source(dir.path(), ".c.xtp-part", ".c.xtp-part"),
        source(dir.path(), "", "all"),
    ]);
    let looks =
        "looks like what a broken copy left; it is copied as it is; remove it if no copy is to continue it";
    assert_eq!(
        found,
        [
            "0  [.b.xtp-part] file of 3".to_owned(),
            format!("Remark src/.b.xtp-part: {looks}"),
            "Special src/.c.xtp-part: a copy is writing it; skipped".to_owned(),
            "2  [all] directory".to_owned(),
            "2 .b.xtp-part [] file of 3".to_owned(),
            format!("Remark src/.b.xtp-part: {looks}"),
            "Skipped src/.c.xtp-part: a copy is writing it; skipped".to_owned(),
            "2 .d.xtp-part [] file of 5".to_owned(),
        ]
    );
}

#[test]
fn what_is_excluded_is_neither_offered_nor_entered() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path();
    fs::create_dir_all(top.join("t/target/deep")).expect("made");
    for name in ["t/a.o", "t/a.c", "t/target/deep/x"] {
        fs::write(top.join(name), "").expect("written");
    }
    symlink("/etc/passwd", top.join("t/out.o")).expect("linked");
    let mut excludes = Excludes::default();
    excludes.filter(b"target/", false);
    excludes.filter(b"*.o", false);
    let sources = vec![source(top, "t", "t"), source(top, "t/a.o", "a.o")];
    assert_eq!(
        walked_with(sources, excludes, Links::Keep),
        ["0  [t] directory", "0 a.c [] file of 0"]
    );
}

#[test]
fn files_with_holes_are_known() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let sparse = fs::File::create(dir.path().join("sparse")).expect("made");
    sparse.set_len(1 << 30).expect("made longer");
    fs::write(dir.path().join("whole"), vec![1; 1 << 20]).expect("written");
    fs::write(dir.path().join("small"), "x").expect("written");
    let stored = |holes| -> Vec<_> {
        let walk = Walk::new(
            vec![source(dir.path(), "", "")],
            Excludes::default(),
            holes,
            Links::Keep,
        );
        walk.map(|found| found.expect("readable").stored.is_some())
            .collect()
    };
    // The directory, the small file, the sparse one, the whole one.
    assert_eq!(stored(Holes::Never), [false; 4]);
    assert_eq!(stored(Holes::Kept), [false, false, true, false]);
    assert_eq!(stored(Holes::Made), [false, false, true, true]);
}

#[test]
fn what_is_in_a_served_directory_is_shown_below_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut shown = source(directory.path(), "", "");
    for (label, expected) in [("", "a/b"), ("/", "/a/b"), ("src/", "src/a/b"), (".", "./a/b")] {
        shown.label = label.to_owned();
        assert_eq!(shown.shown(b"a/b"), expected);
    }
}
