//! Words, parts and what a target uses.

use std::path::Path;

use crate::shard::Shard;

use super::{Arguments, Length, RUNS, parse, targets, uses};

fn fuzz() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("fuzz")
}

#[test]
fn words_are_understood_or_told() {
    let words = ["--part", "2/4", "--changed", "crates/a", "crates/b"];
    let expected = Arguments {
        length: Length::Part(Shard::parse("2/4").unwrap()),
        targets: Vec::new(),
        changed: vec!["crates/a".to_owned(), "crates/b".to_owned()],
    };
    assert_eq!(parse(&words), Ok(Some(expected)));
    let seconds = parse(&["--seconds", "9", "wire_packet"]).unwrap().unwrap();
    assert_eq!(
        (seconds.length, seconds.targets),
        (Length::Seconds(9), vec!["wire_packet".to_owned()])
    );
    assert!(parse(&["--seconds", "long"]).is_err());
    assert!(parse(&["--parts", "1/4"]).is_err());
}

#[test]
fn every_target_has_a_number_of_runs() {
    let names: Vec<String> = RUNS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(targets(&fuzz()).unwrap(), names);
}

#[test]
fn a_target_uses_what_it_names_and_what_its_helpers_do() {
    let used = |target: &str, path: &str| uses(&fuzz(), target, &[path.to_owned()]).unwrap();
    assert!(used("wire_packet", "crates/xtp-wire/src/header.rs"));
    assert!(!used("wire_packet", "crates/xtp-wire/tests/errors.rs"));
    assert!(!used("wire_packet", "crates/xtp-engine/src/lib.rs"));
    assert!(used("engine_groups", "crates/xtp-group/src/lib.rs"));
    assert!(used("engine_groups", "crates/xtp-wire/src/header.rs"));
    assert!(used("wire_packet", "fuzz/src/lib.rs"));
    assert!(used("wire_packet", "fuzz/corpus/wire_packet/data"));
    assert!(!used("wire_packet", "fuzz/targets/engine_groups.rs"));
    assert!(!used("wire_packet", "README.md"));
}
