//! Words, messages of cargo, and the order of programs.

use std::path::PathBuf;

use super::{Arguments, Program, parse, program, sort};

#[test]
fn words_are_understood_or_told() {
    let expected = Arguments {
        jobs: Some(1),
        repeat: 20,
        only: vec!["xtp-cli".to_owned(), "counts".to_owned()],
    };
    let words = ["--jobs", "1", "--repeat", "20", "--only", "xtp-cli", "counts"];
    assert_eq!(parse(&words), Ok(Some(expected)));
    assert_eq!(parse(&["--help"]), Ok(None));
    assert!(parse(&["--repeat", "0"]).is_err());
    assert!(parse(&["--jobs"]).is_err());
    assert!(parse(&["counts"]).is_err());
}

fn named(name: &str) -> Program {
    Program {
        name: name.to_owned(),
        command: vec![name.to_owned()],
        folder: PathBuf::new(),
    }
}

#[test]
fn the_longest_comes_first_and_what_is_not_known_before_it() {
    let mut programs = ["short", "long", "new"].map(named);
    let known = [("short".to_owned(), 1.0), ("long".to_owned(), 30.0)].into();
    sort(&mut programs, &known);
    assert_eq!(programs.map(|program| program.name), ["new", "long", "short"]);
}

#[test]
fn a_test_program_is_told_from_all_else_that_cargo_builds() {
    let message = |test: bool, executable: &str| {
        format!(
            r#"{{"reason":"compiler-artifact","manifest_path":"/r/crates/xtp/Cargo.toml","target":{{"src_path":"/r/crates/xtp/tests/alone.rs"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
        )
    };
    let found = program(&message(true, "\"/t/alone-1\"")).unwrap();
    assert_eq!(found.name, "xtp tests/alone.rs");
    assert_eq!(found.command, ["/t/alone-1"]);
    assert_eq!(found.folder, PathBuf::from("/r/crates/xtp"));
    assert_eq!(program(&message(false, "\"/t/xtp\"")), None);
    assert_eq!(program(&message(true, "null")), None);
    assert_eq!(program(r#"{"reason":"build-finished","success":true}"#), None);
}
