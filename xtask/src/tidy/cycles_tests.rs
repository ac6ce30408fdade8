//! Circles of imports, and what only looks like one.

use super::*;

/// The circles in these files of `crates/xtp/src/`.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let source =
        |(path, text): &(&str, &str)| Source::new(&format!("crates/xtp/src/{path}"), (*text).to_owned());
    let sources: Vec<Source> = files.iter().map(source).collect();
    let tests = HashSet::from(["crates/xtp/src/a_tests.rs".to_owned()]);
    let mut findings = Vec::new();
    check(&sources, &tests, &mut findings);
    let circle = |finding: &Finding| {
        let (_, names) = finding.message.split_once(": ").expect("names");
        let (names, _) = names.split_once(';').expect("an end");
        format!("{} {names}", finding.line)
    };
    findings.iter().map(circle).collect()
}

const ROOT: (&str, &str) = ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n");

#[test]
fn two_files_that_use_each_other_are_a_circle() {
    let (a, b) = (
        ("a.rs", "pub struct A;\nuse crate::b::B;\n"),
        ("b.rs", "fn b(_: &crate::a::A) {}\n"),
    );
    assert_eq!(circles(&[ROOT, a, b]), ["2 a.rs -> b.rs -> a.rs"]);
    assert_eq!(circles(&[ROOT, a, ("b.rs", "pub struct B;\n")]), [""; 0]);
}

#[test]
fn a_name_leads_to_the_file_that_has_the_item() {
    // By way of the root, which only passes the names on.
    let (a, b) = (("a.rs", "use crate::B;\n"), ("b.rs", "use crate::A;\n"));
    assert_eq!(circles(&[ROOT, a, b]), ["1 a.rs -> b.rs -> a.rs"]);
    // A root that uses what it passes on is part of it.
    let root = (
        "lib.rs",
        "mod a;\npub use a::A;\nfn f() -> A { A }\npub struct C;\n",
    );
    assert_eq!(
        circles(&[root, ("a.rs", "use crate::C;\n")]),
        ["2 lib.rs -> a.rs -> lib.rs"]
    );
    let root = ("lib.rs", "mod a;\npub use a::A;\npub struct C;\n");
    assert_eq!(circles(&[root, ("a.rs", "use crate::C;\n")]), [""; 0]);
}

#[test]
fn parents_and_children_are_files_like_others() {
    let child = ("a/c.rs", "use super::A;\n");
    for parent in [
        "mod c;\npub struct A(c::C);\n",
        "mod c;\nuse c::C;\npub struct A;\n",
    ] {
        for name in ["a.rs", "a/mod.rs"] {
            assert_eq!(
                circles(&[ROOT, (name, parent), child]).len(),
                1,
                "{name}: {parent}"
            );
        }
    }
    assert_eq!(
        circles(&[ROOT, ("a.rs", "mod c;\npub struct A;\n"), child]),
        [""; 0]
    );
    // What a file has of another one by a `use` of its own is the other one's.
    let root = ("lib.rs", "mod a;\nmod b;\n");
    let (parent, other) = (
        ("a.rs", "mod c;\nuse crate::b::A;\nfn f(_: A) {}\n"),
        ("b.rs", "pub struct A;\n"),
    );
    assert_eq!(circles(&[root, parent, other, child]), [""; 0]);
}

#[test]
fn each_circle_is_told_once_and_tests_are_in_none() {
    let files = [
        ROOT,
        ("a.rs", "use crate::b::B;\nuse crate::d::D;\n"),
        ("b.rs", "use crate::c::C;\n"),
        ("c.rs", "use crate::a::A;\nuse crate::b::B;\n"),
        ("d.rs", "use crate::e::E;\n"),
        ("e.rs", "use crate::d::D;\n"),
    ];
    let found = circles(&files);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[1], "1 d.rs -> e.rs -> d.rs");
    let test = ("a_tests.rs", "use super::super::*;\nuse crate::a::A;\n");
    assert_eq!(
        circles(&[ROOT, ("a.rs", "use crate::a_tests::T;\n"), test]),
        [""; 0]
    );
}
