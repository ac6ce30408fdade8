//! What is read, and what is said of files that are wrong.

use std::path::PathBuf;

use super::*;

const ONE: &str = "[[mutant]]\nname = \"canary\"\nplace = \"c/src/a.rs: f\"\ntext = \"a\"\nbecomes = \"b\"\nbreaks = \"all\"\n";

/// The canaries of all kinds.
fn canaries() -> String {
    ["canary", "canary-facade", "canary-files", "canary-sockets"]
        .map(named)
        .concat()
}

/// A folder with these TOML files, removed when dropped.
struct CatalogueFolder(PathBuf);

impl CatalogueFolder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("xtask-catalogue-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join(FOLDER)).unwrap();
        for (file, text) in files {
            std::fs::write(root.join(path(file)), text).unwrap();
        }
        Self(root)
    }

    fn errors(&self) -> Vec<String> {
        match load(&self.0) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Drop for CatalogueFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn named(name: &str) -> String {
    ONE.replace("canary", name)
}

#[test]
fn the_canary_comes_first_and_concerns_are_in_order() {
    let canaries = canaries();
    let explained = named("three") + "explained = \"no clock\"\n";
    let files = [
        ("flow", explained.as_str()),
        ("canary", canaries.as_str()),
        ("batch", &(named("one") + &named("two"))),
    ];
    let root = CatalogueFolder::new("order", &files);
    std::fs::create_dir_all(root.0.join(FOLDER).join("witnesses")).unwrap();
    let all = load(&root.0).expect("a good catalogue");
    let names: Vec<_> = all
        .iter()
        .map(|one| (one.number, one.concern.as_str(), one.mutant.name.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            (1, "canary", "canary"),
            (2, "canary", "canary-facade"),
            (3, "canary", "canary-files"),
            (4, "canary", "canary-sockets"),
            (5, "batch", "one"),
            (6, "batch", "two"),
            (7, "flow", "three")
        ]
    );
    assert_eq!(all[5].mutant.explained, None);
    assert_eq!(all[6].mutant.explained.as_deref(), Some("no clock"));
    assert_eq!(all[6].mutant.place, "c/src/a.rs: f".to_owned().into());
}

#[test]
fn a_place_is_a_file_and_maybe_a_function() {
    let place = |text: &str| {
        let MutantPlace { file, function } = text.to_owned().into();
        (file, function)
    };
    assert_eq!(
        place("c/src/a.rs: f"),
        ("c/src/a.rs".to_owned(), Some("f".to_owned()))
    );
    assert_eq!(place("c/src/a.rs"), ("c/src/a.rs".to_owned(), None));
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let root = CatalogueFolder::new("unreadable", &[]);
    let told = root.errors();
    assert!(
        matches!(told.as_slice(), [told] if told.starts_with("xtask/mutants/canary.toml: unreadable: ")),
        "{told:?}"
    );
    std::fs::remove_dir_all(&root.0).unwrap();
    let told = root.errors();
    assert!(
        matches!(told.as_slice(), [told] if told.starts_with("xtask/mutants: unreadable: ")),
        "{told:?}"
    );
}

#[test]
fn what_is_no_table_of_mutants_is_told() {
    let canaries = canaries();
    for text in ["[[mutant]", "[[mutants]]\nname = \"a\"\n", "mutant = 3\n"] {
        let root = CatalogueFolder::new("syntax", &[("canary", canaries.as_str()), ("flow", text)]);
        let told = root.errors();
        assert!(
            matches!(told.as_slice(), [told] if told.starts_with("xtask/mutants/flow.toml: TOML parse error at line 1")),
            "{text}: {told:?}"
        );
    }
}

#[test]
fn an_unknown_or_missing_field_is_told_with_its_mutant() {
    let canaries = canaries();
    for (text, told) in [
        (
            named("a").replace("text", "form"),
            "`a`: unknown field `form`, expected one of ",
        ),
        (
            named("a").replace("breaks = \"all\"\n", ""),
            "`a`: missing field `breaks`",
        ),
        (
            named("a").replace("name = \"a\"\n", ""),
            "`mutant 2`: missing field `name`",
        ),
        (
            named("a").replace("\"b\"", "7"),
            "`a`: invalid type: integer `7`, expected a string",
        ),
    ] {
        let flow = named("first") + &text;
        let root = CatalogueFolder::new("fields", &[("canary", canaries.as_str()), ("flow", &flow)]);
        let errors = root.errors();
        let expected = format!("xtask/mutants/flow.toml: {told}");
        assert!(
            matches!(errors.as_slice(), [error] if error.starts_with(&expected)),
            "{expected}: {errors:?}"
        );
    }
}

#[test]
fn two_of_one_name_are_told() {
    let canaries = canaries();
    let files = [
        ("canary", canaries.as_str()),
        ("flow", &named("a")),
        ("wire", &(named("b") + &named("a") + &named("b"))),
    ];
    let root = CatalogueFolder::new("names", &files);
    assert_eq!(
        root.errors(),
        [
            "xtask/mutants/wire.toml: `a`: xtask/mutants/flow.toml has a mutant of this name too: rename one",
            "xtask/mutants/wire.toml: `b`: xtask/mutants/wire.toml has a mutant of this name too: rename one",
        ]
    );
}

#[test]
fn every_kind_of_killer_has_its_canary() {
    let files = named("canary-facade") + &named("canary-files");
    let root = CatalogueFolder::new("canary", &[("canary", &files)]);
    assert_eq!(
        root.errors(),
        ["canary", "canary-sockets"]
            .map(|name| format!("xtask/mutants/canary.toml: there is no canary `{name}`"))
    );
}
