//! Names in a directory.

use super::Target;

#[test]
fn each_has_a_file_and_nothing_is_overwritten() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("000007-older"), "old").expect("writes");
    let mut target = Target::open(Some(directory.path()), false).expect("a directory");
    assert!(!target.is_shared());
    target.write(0, b"first ").expect("writes");
    target.write(1, b"second").expect("writes");
    target.write(0, b"and last").expect("writes");
    // Somebody takes the name meanwhile.
    std::fs::write(directory.path().join("000008-127.0.0.1-9"), "his").expect("writes");
    let mut end = |key, peer, complete| target.end(key, peer, complete).expect("ends").expect("a name");
    assert_eq!(end(1, "[fe80::1%2]:40", false), "000009-fe80--1-2-40.part");
    assert_eq!(end(0, "127.0.0.1:9", true), "000009-127.0.0.1-9");
    assert_eq!(end(2, "127.0.0.1:9", true), "000010-127.0.0.1-9");
    let read = |name| std::fs::read_to_string(directory.path().join(name)).expect("reads");
    assert_eq!(read("000008-127.0.0.1-9"), "his");
    assert_eq!(read("000009-127.0.0.1-9"), "first and last");
    assert_eq!(read("000009-fe80--1-2-40.part"), "second");
    assert_eq!(read("000010-127.0.0.1-9"), "");
    assert_eq!(std::fs::read_dir(directory.path()).expect("reads").count(), 5);
}

#[test]
fn a_path_that_ends_as_a_directory_is_made() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("new/in box/");
    assert!(matches!(
        Target::open(Some(&path), false),
        Ok(Target::Directory(_))
    ));
    assert!(path.is_dir());
    let path = directory.path().join("file");
    assert!(matches!(Target::open(Some(&path), true), Ok(Target::File(_))));
    assert!(matches!(Target::open(None, true), Ok(Target::Object)));
    assert!(matches!(Target::open(None, false), Ok(Target::Standard)));
}

#[cfg(unix)]
#[test]
fn nobody_can_know_the_name_of_a_file_before_it_is_complete() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = tempfile::tempdir().expect("a directory");
    let victim = directory.path().join("victim");
    std::fs::write(&victim, "precious").expect("written");
    let inbox = directory.path().join("inbox");
    std::fs::create_dir(&inbox).expect("made");
    symlink(&victim, inbox.join(format!(".{}-0.part", std::process::id()))).expect("linked");
    let mut target = Target::open(Some(&inbox), false).expect("a directory");
    target.write(0, b"content").expect("writes");
    let mut names = std::fs::read_dir(&inbox)
        .expect("reads")
        .map(|entry| entry.expect("reads"));
    let own = names
        .find(|entry| entry.file_type().expect("known").is_file())
        .expect("there");
    assert_eq!(own.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    let name = target.end(0, "127.0.0.1:9", true).expect("ends").expect("a name");
    assert_eq!(
        std::fs::read_to_string(inbox.join(&name)).expect("there"),
        "content"
    );
    assert_eq!(std::fs::read_to_string(&victim).expect("there"), "precious");
    // With the rights of any new file.
    std::fs::write(directory.path().join("new"), "").expect("written");
    let mode = |path: std::path::PathBuf| std::fs::metadata(path).expect("there").permissions().mode();
    assert_eq!(mode(inbox.join(name)), mode(directory.path().join("new")));
}

#[test]
fn what_cannot_be_written_is_the_affair_of_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let inbox = directory.path().join("inbox");
    std::fs::create_dir(&inbox).expect("made");
    let mut target = Target::open(Some(&inbox), false).expect("a directory");
    target.write(0, b"begun").expect("writes");
    std::fs::rename(&inbox, directory.path().join("moved")).expect("ours");
    target.write(1, b"none").expect("nobody else's");
    target.write(0, b" and on").expect("it is open");
    assert!(target.failure(0).is_none());
    assert!(
        target
            .failure(1)
            .is_some_and(|failure| failure.message.contains("cannot write"))
    );
    assert!(target.failure(1).is_none(), "told once");
    assert!(target.end(1, "127.0.0.1:9", true).is_err());
}
