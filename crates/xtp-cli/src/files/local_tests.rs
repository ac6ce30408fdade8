//! Local paths as `cp` understands them.

use std::fs;

use super::*;

#[test]
fn parents_of_paths() {
    for (path, parent) in [
        ("a", "."),
        ("a/b", "a"),
        ("/a", "/"),
        ("/a/", "/"),
        ("x/a//", "x"),
        ("./a", "."),
    ] {
        assert_eq!(parent_of(path.as_bytes()), Path::new(parent), "{path}");
    }
}

#[test]
fn sources_are_names_in_directories_or_directories() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path().to_str().expect("text").to_owned();
    fs::create_dir(dir.path().join("d")).expect("made");
    let found =
        |path: String| local_source(OsStr::new(&path), Links::Keep).map(|source| (source.name, source.start));
    let named = RelPath::from_user(b"d").expect("clean");
    assert_eq!(found(format!("{top}/d")), Ok((b"d".to_vec(), named)));
    assert_eq!(
        found(format!("{top}/d/")),
        Ok((b"d".to_vec(), RelPath::default()))
    );
    assert_eq!(found(format!("{top}/d/.")), Ok((Vec::new(), RelPath::default())));
    assert_eq!(found(".".into()), Ok((Vec::new(), RelPath::default())));
    assert!(found(format!("{top}/none/x")).is_err());
}

#[test]
fn targets_are_directories_or_names_in_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path().to_str().expect("text").to_owned();
    let sources = [b"/x".to_vec()];
    let found = |path: &str| {
        let (options, excludes) = (CopyOptions::default(), Excludes::default());
        local_target(OsStr::new(path), &sources, options, excludes).map(|target| (target.path, target.prefix))
    };
    assert_eq!(found(&top), Ok((RelPath::default(), format!("{top}/"))));
    let named = RelPath::from_user(b"new").expect("clean");
    assert_eq!(found(&format!("{top}/new")), Ok((named, format!("{top}/"))));
    assert_eq!(found("."), Ok((RelPath::default(), String::new())));
    let failed = found(&format!("{top}/none/new")).expect_err("no such directory");
    assert_eq!(failed.code, super::super::problem::Code::NotFound);
}
