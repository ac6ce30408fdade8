//! Mutants without a place, and what is said of them.

use std::path::PathBuf;

use super::super::catalogue::Mutant;
use super::*;

const SOURCE: &str = "const A: u32 = 3;\n\nfn f() {\n    a(1);\n    a(2, b);\n}\n";

/// A folder with one source, removed when dropped.
struct SourceFolder(PathBuf);

impl SourceFolder {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("xtask-resolve-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("crates/c/src")).unwrap();
        std::fs::write(root.join("crates/c/src/a.rs"), SOURCE).unwrap();
        Self(root)
    }
}

impl Drop for SourceFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn one(number: u32, place: &str, text: &str) -> Numbered {
    Numbered {
        number,
        concern: "flow".to_owned(),
        mutant: Mutant {
            name: format!("bug-{number}"),
            place: place.to_owned().into(),
            text: text.to_owned(),
            becomes: "x".to_owned(),
            breaks: "a rule".to_owned(),
            explained: None,
        },
    }
}

fn errors(root: &SourceFolder, mutants: &[Numbered]) -> Vec<String> {
    match places(&root.0, mutants) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn places_are_found_in_functions_and_outside() {
    let root = SourceFolder::new("found");
    let mutants = [one(1, "c/src/a.rs: f", "a(«1»)"), one(2, "c/src/a.rs", "3")];
    let changes = places(&root.0, &mutants).expect("both have a place");
    let (source, list) = &changes["c/src/a.rs"];
    let found: Vec<_> = list
        .iter()
        .map(|change| (change.number, &source[change.range.clone()], change.to))
        .collect();
    assert_eq!(found, [(1, "1", "x"), (2, "3", "x")]);
}

#[test]
fn a_lost_place_is_told_with_file_and_mutant() {
    let root = SourceFolder::new("lost");
    for (place, text, told) in [
        (
            "c/src/a.rs: g",
            "a",
            "crates/c/src/a.rs has no function `g`: name that of the place",
        ),
        (
            "c/src/a.rs: f",
            "a(3)",
            "the text occurs 0 times in `f` of crates/c/src/a.rs, and not once: `a(3)`. Adapt it to the source, so that \
             the mutant breaks the same rule (\"a rule\")",
        ),
        (
            "c/src/a.rs",
            "a(1)",
            "the text occurs 0 times in crates/c/src/a.rs outside every function, and not once: `a(1)`. Adapt it to the \
             source, so that the mutant breaks the same rule (\"a rule\")",
        ),
        (
            "c/src/a.rs: f",
            "a(",
            "the text occurs 2 times in `f` of crates/c/src/a.rs, and not once: `a(`. Adapt it to the source, so that \
             the mutant breaks the same rule (\"a rule\")",
        ),
        (
            "c/src/a.rs: f",
            "a»(1)",
            "one « and one » behind it, or neither: `a»(1)`",
        ),
        ("c/src/a.rs: f", "«»", "the text is empty"),
    ] {
        let expected = format!("xtask/mutants/flow.toml: `bug-1`: {told}");
        assert_eq!(errors(&root, &[one(1, place, text)]), [expected]);
    }
}

#[test]
fn a_source_that_is_not_there_is_told() {
    let root = SourceFolder::new("source");
    let told = errors(&root, &[one(1, "c/src/b.rs: f", "a")]);
    let [told] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert!(
        told.starts_with("xtask/mutants/flow.toml: `bug-1`: crates/c/src/b.rs: "),
        "{told}"
    );
}

#[test]
fn places_that_overlap_are_told() {
    let root = SourceFolder::new("overlap");
    let mutants = [
        one(1, "c/src/a.rs: f", "a(1); a"),
        one(2, "c/src/a.rs: f", "a(2, b)"),
        one(3, "c/src/a.rs: f", "a(1);"),
    ];
    assert_eq!(
        errors(&root, &mutants),
        ["xtask/mutants/flow.toml: `bug-2`: its place and that of `bug-1` overlap"]
    );
}
