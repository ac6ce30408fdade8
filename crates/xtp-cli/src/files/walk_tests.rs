//! Trees are walked in order, and what cannot be copied is named.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

fn source(top: &Path, start: &str, name: &str) -> Source {
    Source {
        root: Arc::new(Root::open(top).expect("a directory")),
        start: RelPath::from_user(start.as_bytes()).expect("clean"),
        name: name.as_bytes().to_vec(),
        label: format!("src/{start}"),
    }
}

/// What was found, a line each.
fn walked(sources: Vec<Source>) -> Vec<String> {
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
            };
            format!("{source} {} [{}] {kind}", shown(&path), shown(&name))
        }
        Err(Problem { code, text }) => format!("{code:?} {text}"),
    };
    Walk::new(sources).map(line).collect()
}

#[test]
fn directories_come_before_what_is_in_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path();
    fs::create_dir_all(top.join("t/sub/deep")).expect("made");
    fs::write(top.join("t/b"), "12345").expect("written");
    fs::write(top.join("t/sub/a"), "").expect("written");
    fs::write(top.join("t/.b.xtp-part"), "123").expect("written");
    symlink("../b", top.join("t/sub/link")).expect("linked");
    symlink("../../b", top.join("t/sub/loose")).expect("linked");
    let sources = vec![
        source(top, "t", "t"),
        source(top, "missing", "missing"),
        source(top, "t/sub", ""),
    ];
    assert_eq!(
        walked(sources),
        [
            "0  [t] directory",
            "0 b [] file of 5",
            "0 sub [] directory",
            "0 sub/a [] file of 0",
            "0 sub/deep [] directory",
            "0 sub/link [] link to ../b",
            "Special src/t/sub/loose: is a symbolic link that leads outside (../../b); skipped",
            "NotFound src/missing: no such file or directory; check the name",
            "2  [] directory",
            "2 a [] file of 0",
            "2 deep [] directory",
            "Special src/t/sub/link: is a symbolic link that leads outside (../b); skipped",
            "Special src/t/sub/loose: is a symbolic link that leads outside (../../b); skipped",
        ]
    );
}

#[test]
fn partial_files_are_not_sources() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join(".b.xtp-part"), "123").expect("written");
    let found = walked(vec![
        source(dir.path(), ".b.xtp-part", ".b.xtp-part"),
        source(dir.path(), "", "all"),
    ]);
    assert_eq!(
        found,
        [
            "Special src/.b.xtp-part: is part of an unfinished copy; skipped",
            "1  [all] directory",
        ]
    );
}
