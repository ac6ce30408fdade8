//! What the words mean, and which are refused.

use super::*;

#[test]
fn words_change_the_defaults() {
    let plain = parse(&[]).unwrap();
    assert_eq!((plain.action, plain.jobs, plain.seeds), (Action::Run, None, 400));
    let words = [
        "--only",
        "wire",
        "--all-killers",
        "--jobs",
        "3",
        "--seeds",
        "9",
        "--json",
    ];
    let all = parse(&words).unwrap();
    assert_eq!(all.filter.only, ["wire"]);
    assert_eq!(
        (all.all_killers, all.json, all.jobs, all.seeds),
        (true, true, Some(3), 9)
    );
    assert_eq!(all.kinds, Kind::ALL);
    assert_eq!(parse(&["--killers", "seeds"]).unwrap().kinds, [Kind::Seeds]);
    let quick = parse(&["--quick", "--record"]).unwrap();
    assert!(quick.filter.quick && quick.record && !plain.filter.quick && !plain.record);
    let rotated = parse(&["--part", "2/8", "--changed", "a.rs", "b.rs", "--quick"]).unwrap();
    assert_eq!(rotated.filter.part, Shard::parse("2/8").ok());
    assert_eq!(
        rotated.filter.changed,
        Some(vec!["a.rs".to_owned(), "b.rs".to_owned()])
    );
    assert_eq!(parse(&["--changed"]).unwrap().filter.changed, Some(Vec::new()));
    assert_eq!((plain.filter.part, plain.filter.changed), (None, None));
    assert_eq!(parse(&["--check"]).unwrap().action, Action::Check);
    assert_eq!(parse(&["--list"]).unwrap().action, Action::List);
    assert_eq!(parse(&["-h"]).unwrap().action, Action::Help);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for words in [
        &["--only"][..],
        &["--only", "--json"],
        &["--killers"],
        &["--killers", "nobody"],
        &["--jobs", "0"],
        &["--seeds", "few"],
        &["--quick", "--all-killers"],
        &["--part"],
        &["--part", "8/8"],
        &["wire"],
    ] {
        assert!(parse(words).is_err(), "{words:?} is accepted");
    }
}
