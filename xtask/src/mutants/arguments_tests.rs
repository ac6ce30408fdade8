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
    assert_eq!(all.only, ["wire"]);
    assert_eq!(
        (all.all_killers, all.json, all.jobs, all.seeds),
        (true, true, Some(3), 9)
    );
    assert_eq!(all.kinds, Kind::ALL);
    assert_eq!(parse(&["--killers", "seeds"]).unwrap().kinds, [Kind::Seeds]);
    let quick = parse(&["--quick", "--record"]).unwrap();
    assert!(quick.quick && quick.record && !plain.quick && !plain.record);
    assert_eq!(parse(&["--check"]).unwrap().action, Action::Check);
    assert_eq!(parse(&["--list"]).unwrap().action, Action::List);
    assert_eq!(parse(&["-h"]).unwrap().action, Action::Help);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for words in [
        &["--only"][..],
        &["--only", "--json"],
        &["--only", "no-such-mutant"],
        &["--killers"],
        &["--killers", "nobody"],
        &["--jobs", "0"],
        &["--seeds", "few"],
        &["--quick", "--all-killers"],
        &["wire"],
    ] {
        assert!(parse(words).is_err(), "{words:?} is accepted");
    }
}

#[test]
fn only_chooses_by_name_or_concern() {
    let all = super::super::numbered();
    let count = |words: &[&str]| {
        let arguments = parse(words).unwrap();
        all.iter().filter(|one| arguments.chooses(one)).count()
    };
    assert_eq!(count(&[]), all.len());
    assert_eq!(count(&["--only", all[1].mutant.name]), 1);
    assert!(count(&["--only", all[1].concern]) > 1);
}
