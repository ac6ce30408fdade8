//! The list of steps itself, and its documentation.

use std::collections::BTreeSet;
use std::path::Path;

use super::{STEPS, Work};
use crate::ci::arguments;
use crate::ci::history::History;
use crate::ci::rotation::{PARTS, Rotation};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[test]
fn steps_have_names_of_their_own_and_need_earlier_ones() {
    let mut known = BTreeSet::new();
    for step in STEPS {
        assert!(known.insert(step.name), "two steps are called {}", step.name);
        assert!(!step.purpose.is_empty(), "{}", step.name);
        for need in step.needs {
            assert!(
                known.contains(need),
                "{} needs {need}, which does not stand before it",
                step.name
            );
        }
    }
}

#[test]
fn the_documentation_says_what_each_step_is_for() {
    let text = std::fs::read_to_string(root().join("docs/testing.md")).unwrap();
    for step in STEPS {
        let line = format!("| `{}` | {} |", step.name, step.purpose);
        assert!(text.contains(&line), "docs/testing.md lacks `{line}`");
    }
}

#[test]
fn everything_leaves_nothing_out() {
    for step in STEPS {
        assert!(
            matches!((step.work)(&Rotation::whole()), Work::Run(_)),
            "{}",
            step.name
        );
    }
}

/// The steps that are left out in a part when nothing changed.
fn left_out(part: u32) -> BTreeSet<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let words = [&["-c", "user.name=t", "-c", "user.email=t@t"], words].concat();
        crate::ci::rotation::git(folder.path(), &words).unwrap();
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "one"]);
    let part = part.to_string();
    let arguments = arguments::parse(&["--base", "HEAD", "--part", &part]).unwrap();
    let rotation = Rotation::of(folder.path(), &arguments, &History::default()).unwrap();
    let out = STEPS
        .iter()
        .filter(|step| matches!((step.work)(&rotation), Work::LeftOut(_)));
    out.map(|step| step.name).collect()
}

#[test]
fn every_step_runs_in_some_part_and_only_exhaustive_ones_are_left_out() {
    let parts: Vec<BTreeSet<&str>> = (0..PARTS).map(left_out).collect();
    for step in STEPS {
        let out = parts.iter().filter(|part| part.contains(step.name)).count();
        assert!(out < PARTS as usize, "{} never runs", step.name);
        assert!(
            step.rotates || out == 0,
            "{} is left out and not exhaustive",
            step.name
        );
    }
    assert!(parts.iter().all(|part| !part.is_empty()), "nothing rotates");
}
