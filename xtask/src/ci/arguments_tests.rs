//! What may be said to `cargo xtask ci`.

use super::{Action, parse};

#[test]
fn nothing_said_is_everything_once() {
    let arguments = parse(&[]).unwrap();
    assert_eq!(arguments.action, Action::Run);
    assert!(arguments.only.is_empty());
    assert_eq!(
        (arguments.base, arguments.part, arguments.jobs),
        (None, None, None)
    );
}

#[test]
fn every_word_is_understood() {
    let arguments = parse(&[
        "--only", "lints", "tidy", "--base", "HEAD~3", "--part", "3", "--jobs", "1",
    ])
    .unwrap();
    assert_eq!(arguments.only, ["lints", "tidy"]);
    assert_eq!(arguments.base.as_deref(), Some("HEAD~3"));
    assert_eq!((arguments.part, arguments.jobs), (Some(3), Some(1)));
    assert_eq!(parse(&["--list"]).unwrap().action, Action::List);
    assert_eq!(parse(&["--help"]).unwrap().action, Action::Help);
}

#[test]
fn what_makes_no_sense_is_told() {
    for words in [
        &["--part", "4"][..],
        &["--part"],
        &["--part", "-1"],
        &["--jobs", "0"],
        &["--jobs", "two"],
        &["--base"],
        &["--only"],
        &["--only", "--list"],
        &["lints"],
    ] {
        assert!(parse(words).is_err(), "{words:?}");
    }
}
