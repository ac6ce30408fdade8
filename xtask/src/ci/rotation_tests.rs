//! Parts of commits, and changes since a base.

use std::collections::BTreeSet;
use std::path::Path;

use super::{PARTS, Rotation, git, part_of};
use crate::ci::arguments;
use crate::ci::history::History;

/// A rotation of part 1 with these changes.
fn rotation(changed: &[&str]) -> Rotation {
    let changed: BTreeSet<String> = changed.iter().map(|path| (*path).to_owned()).collect();
    Rotation {
        part: Some(1),
        changed: Some(changed),
        since: "1234".to_owned(),
    }
}

#[test]
fn every_part_has_its_commits() {
    let parts: BTreeSet<u32> = (0..32_u32)
        .map(|number| part_of(&format!("{number:07x}ffff")))
        .collect();
    assert_eq!(parts, (0..PARTS).collect());
    assert_eq!(part_of("not a commit"), 0);
}

#[test]
fn a_turn_comes_with_its_part_or_a_changed_file() {
    let rotation = rotation(&["crates/xtp-engine/src/lib.rs", "README.md"]);
    assert!(rotation.is_due(1, &["docs/"]));
    assert!(!rotation.is_due(2, &["docs/", "crates/xtp/src/"]));
    assert!(rotation.is_due(2, &["crates/xtp-engine/"]));
    let below = rotation.changed_below(&["crates/"]);
    assert_eq!(below, Some(vec!["crates/xtp-engine/src/lib.rs"]));
}

#[test]
fn of_everything_all_is_due() {
    let whole = Rotation::whole();
    assert_eq!(whole.part(), None);
    assert!((0..PARTS).all(|turn| whole.is_due(turn, &[])));
    assert_eq!(whole.changed_below(&["crates/"]), None);
    assert_eq!(whole.to_string(), "all of everything");
}

/// A repository with one commit two days before the other, and a file that is not tracked.
fn repository(folder: &Path) {
    let run = |date: &str, words: &[&str]| {
        let words = [&["-c", "user.name=t", "-c", "user.email=t@t"], words].concat();
        let mut command = std::process::Command::new("git");
        command.args(words).current_dir(folder);
        command
            .env("GIT_COMMITTER_DATE", date)
            .env("GIT_AUTHOR_DATE", date);
        assert!(command.output().unwrap().status.success());
    };
    let write = |name: &str| std::fs::write(folder.join(name), name).unwrap();
    run("", &["init", "--quiet"]);
    write("old.rs");
    run("", &["add", "."]);
    run("2026-01-01T00:00:00Z", &["commit", "--quiet", "-m", "one"]);
    write("new.rs");
    run("", &["add", "."]);
    run("2026-01-03T00:00:00Z", &["commit", "--quiet", "-m", "two"]);
    write("untracked.rs");
}

#[test]
fn without_a_run_that_passed_a_day_counts_as_changed() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let arguments = arguments::parse(&["--part", "2"]).unwrap();
    let rotation = Rotation::of(folder.path(), &arguments, &History::default()).unwrap();
    assert_eq!(rotation.part(), Some(2));
    assert_eq!(
        rotation.changed_below(&[""]),
        Some(vec!["new.rs", "untracked.rs"])
    );
}

#[test]
fn changes_are_counted_from_the_base_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let arguments = arguments::parse(&["--base", "HEAD"]).unwrap();
    let rotation = Rotation::of(folder.path(), &arguments, &History::default()).unwrap();
    assert_eq!(rotation.changed_below(&[""]), Some(vec!["untracked.rs"]));
    let arguments = arguments::parse(&["--base", "nowhere"]).unwrap();
    assert!(Rotation::of(folder.path(), &arguments, &History::default()).is_err());
}

#[test]
fn without_a_history_all_is_due() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(git(folder.path(), &["rev-parse", "HEAD"]), None);
    let arguments = arguments::parse(&[]).unwrap();
    let rotation = Rotation::of(folder.path(), &arguments, &History::default()).unwrap();
    assert_eq!(rotation.part(), None);
    assert!(rotation.is_due(3, &["docs/"]));
}
