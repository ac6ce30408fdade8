//! Back the way a walk came, and never elsewhere.

use std::fs;

use super::super::names::RelPath;
use super::super::root::Root;
use super::*;

#[test]
fn the_way_back_is_the_way_there() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = Root::open(dir.path()).expect("a directory");
    let (mut way, mut folder) = (
        Way::default(),
        root.folder(&RelPath::default()).expect("a directory"),
    );
    let top = folder.identity().expect("known");
    for _ in 0..2 * OPEN {
        way.enter(folder.clone()).expect("known");
        folder.make_folder(b"d", 0o755).expect("made");
        folder = folder.enter(b"d").expect("made");
    }
    assert!(way.has(top) && !way.has(folder.identity().expect("known")));
    let open = way.0.iter().filter(|step| step.folder.is_some()).count();
    assert_eq!(open, OPEN);
    // The deepest one that is still open is moved somewhere below.
    let moved = ["d"; OPEN].join("/");
    fs::create_dir(dir.path().join("elsewhere")).expect("made");
    fs::rename(dir.path().join(&moved), dir.path().join("elsewhere/d")).expect("ours");
    for _ in 0..OPEN - 1 {
        way.leave(|| Err(io::Error::other("not asked for")))
            .expect("on the way");
    }
    let above = || {
        let path = RelPath::from_user(["d"; OPEN - 1].join("/").as_bytes()).expect("clean");
        root.folder(&path)
    };
    let there = above().and_then(|folder| folder.identity()).expect("there");
    way.leave(above).expect("opened again");
    let here = way.here().and_then(|folder| folder.identity().ok());
    assert_eq!(here, Some(there), "not where it was moved to");
    // What is opened again is what it was, or the walk ends.
    let wrong = || root.folder(&RelPath::from_user(b"elsewhere").expect("clean"));
    way.0.last_mut().expect("deep").folder = None;
    assert!(way.leave(wrong).is_err());
}
