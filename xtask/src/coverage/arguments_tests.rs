//! What the words mean, and which are refused.

use std::collections::BTreeMap;

use super::*;

#[test]
fn words_change_the_defaults() {
    assert_eq!(parse(&[]), Ok(Some(Arguments::default())));
    let words = ["--seeds", "7", "--first", "9", "--whole", "50", "--file", "12.5"];
    let expected = Arguments {
        seeds: 7,
        first: 9,
        whole: 50.0,
        file: 12.5,
        missed: None,
    };
    assert_eq!(parse(&words), Ok(Some(expected)));
    assert_eq!(parse(&["--help"]), Ok(None));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for words in [
        &["--seeds", "many"][..],
        &["--seeds", "0"],
        &["--seeds"],
        &["--whole", "101"],
        &["--file", "-1"],
        &["--file", "NaN"],
        &["coverage"],
    ] {
        assert!(parse(words).is_err(), "{words:?} is accepted");
    }
}

#[test]
fn missed_lines_are_printed_of_the_files_asked_for() {
    let file = |path: &str, count| FileLines {
        path: path.to_owned(),
        lines: BTreeMap::from([(1, count)]),
    };
    let (run, missed) = (file("src/a.rs", 1), file("src/b.rs", 0));
    let asked = |words: &[&str]| {
        let arguments = parse(words).unwrap().unwrap();
        (arguments.asks_for(&run), arguments.asks_for(&missed))
    };
    assert_eq!(asked(&[]), (false, false));
    assert_eq!(asked(&["--missed"]), (false, true));
    assert_eq!(asked(&["--missed", "a.rs"]), (true, false));
}
