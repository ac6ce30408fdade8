//! Targets as `cp` understands them.

use std::fs;
use std::path::Path;

use super::super::record::{Owner, Stamp};
use super::*;

fn entry(source: u32, name: &str, path: &str, kind: Kind) -> Entry {
    Entry {
        id: 0,
        source,
        path: path.into(),
        name: name.into(),
        kind,
        stored: None,
        hash: None,
        mode: 0o644,
        owner: Owner::default(),
        modified: Stamp { seconds: 0, nanos: 0 },
    }
}

fn target(top: &Path, path: &str, several: bool, slash: bool) -> Places {
    Places::new(Target {
        root: Arc::new(Root::open(top).expect("a directory")),
        path: RelPath::from_user(path.as_bytes()).expect("clean"),
        several,
        slash,
        prefix: "out/".to_owned(),
        names: None,
        options: CopyOptions::default(),
        excludes: Excludes::default(),
    })
}

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::create_dir(dir.path().join("dir")).expect("made");
    fs::write(dir.path().join("file"), "x").expect("written");
    dir
}

const FILE: Kind = Kind::File { size: 1 };

fn lands(places: &mut Places, entry: &Entry) -> Result<String, Code> {
    places
        .place(entry)
        .map(|place| place.label)
        .map_err(|problem| problem.code)
}

#[test]
fn sources_go_into_directories_or_become_the_target() {
    let dir = tree();
    for (path, several, slash, kind, expected) in [
        ("", false, false, FILE, Ok("out/n")),
        ("dir", false, false, FILE, Ok("out/dir/n")),
        ("dir", false, true, FILE, Ok("out/dir/n")),
        ("dir", false, false, Kind::Directory, Ok("out/dir/n")),
        ("file", false, false, FILE, Ok("out/file")),
        ("file", false, false, Kind::Directory, Err(Code::InTheWay)),
        ("file", true, false, FILE, Err(Code::InTheWay)),
        ("file", false, true, FILE, Err(Code::InTheWay)),
        ("new1", false, false, FILE, Ok("out/new1")),
        ("new2", false, false, Kind::Directory, Ok("out/new2")),
        ("new3", true, false, FILE, Ok("out/new3/n")),
        ("new4", false, true, FILE, Ok("out/new4/n")),
        ("new5", false, true, Kind::Directory, Ok("out/new5")),
        ("none/new", false, false, FILE, Err(Code::NotFound)),
        (".n.xtp-part", false, false, FILE, Ok("out/.n.xtp-part")),
    ] {
        let mut places = target(dir.path(), path, several, slash);
        let landed = lands(&mut places, &entry(0, "n", "", kind.clone()));
        assert_eq!(
            landed,
            expected.map(str::to_owned),
            "{path} {several} {slash} {kind:?}"
        );
    }
}

#[test]
fn what_is_in_a_directory_follows_it() {
    let dir = tree();
    let mut places = target(dir.path(), "dir", false, false);
    assert_eq!(
        lands(&mut places, &entry(0, "", "", Kind::Directory)),
        Ok("out/dir".into())
    );
    assert_eq!(
        lands(&mut places, &entry(0, "", "a", FILE)),
        Ok("out/dir/a".into())
    );
    // A source whose beginning had no place, or was never sent.
    assert_eq!(lands(&mut places, &entry(1, "", "a", FILE)), Err(Code::Parent));
    let broken = RelPath::from_user(b"dir/sub").expect("clean");
    places.breaks(&broken);
    assert_eq!(
        lands(&mut places, &entry(0, "", "sub/x", FILE)),
        Err(Code::Parent)
    );
    assert_eq!(
        lands(&mut places, &entry(0, "", "subway", FILE)),
        Ok("out/dir/subway".into())
    );
}

#[test]
fn nothing_but_what_was_asked_for_is_taken() {
    let dir = tree();
    let mut places = target(dir.path(), "", false, false);
    places.target.names = Some(vec![b"wanted".to_vec()]);
    assert_eq!(
        lands(&mut places, &entry(0, "wanted", "", FILE)),
        Ok("out/wanted".into())
    );
    assert_eq!(
        lands(&mut places, &entry(0, ".bashrc", "", FILE)),
        Err(Code::Protocol)
    );
    assert_eq!(
        lands(&mut places, &entry(1, "wanted", "", FILE)),
        Err(Code::Protocol)
    );
    assert_eq!(
        lands(&mut places, &entry(0, "../x", "", FILE)),
        Err(Code::Protocol)
    );
}
