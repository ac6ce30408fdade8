//! Names of types.

use super::*;

fn found(files: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::new(path, (*text).to_owned()))
        .collect();
    let tests = HashSet::from(["crates/xtp/src/a_tests.rs".to_owned()]);
    let mut findings = Vec::new();
    check(&files, &tests, &mut findings);
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_name_that_is_defined_twice_is_found_across_crates_and_within_one() {
    let files = [
        (
            "crates/xtp-core/src/a.rs",
            "struct One;\npub enum Two<'a> {\n    One,\n}\n",
        ),
        (
            "crates/xtp-io/src/b.rs",
            "//! struct Two\n\npub(crate) struct One {\n    two: Two,\n}\n",
        ),
        (
            "crates/xtp-io/src/c.rs",
            "unsafe trait Two {\n    type One;\n}\ntype Three = u8;\n",
        ),
        ("crates/xtp/src/a_tests.rs", "struct One;\n"),
        ("crates/xtp-sim/src/a.rs", "struct One;\n"),
        ("crates/xtp-io/tests/a.rs", "struct One;\n"),
    ];
    let expected = [
        "crates/xtp-io/src/b.rs:3: `One` is defined in crates/xtp-core/src/a.rs:1 too: give each a name of its own",
        "crates/xtp-io/src/c.rs:1: `Two` is defined in crates/xtp-core/src/a.rs:2 too: give each a name of its own",
    ];
    assert_eq!(found(&files), expected);
}

#[test]
fn a_twin_for_tokio_is_the_same_thing_and_two_of_them_are_not() {
    let twins = [
        ("crates/xtp/src/a.rs", "pub struct Stream;\n"),
        ("crates/xtp/src/tokio/a.rs", "pub struct Stream;\nstruct Own;\n"),
    ];
    assert_eq!(found(&twins), Vec::<String>::new());
    let twice = [
        twins[1],
        ("crates/xtp/src/tokio/b.rs", "struct Own;\n"),
        ("crates/xtp-engine/src/a.rs", "struct Stream;\n"),
    ];
    assert_eq!(found(&twice).len(), 2);
}

#[test]
fn an_exception_is_of_one_file() {
    let files = [
        ("crates/xtp-engine/src/error.rs", "pub enum Error {}\n"),
        ("crates/xtp/src/error.rs", "pub enum Error {}\n"),
    ];
    assert_eq!(found(&files), Vec::<String>::new());
    let third = [
        files[0],
        files[1],
        ("crates/xtp-io/src/error.rs", "pub struct Error;\n"),
    ];
    assert_eq!(found(&third).len(), 1);
}
