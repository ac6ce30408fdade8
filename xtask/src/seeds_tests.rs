//! Tests of the words after `cargo xtask seeds`, and of how its runner is understood.

use super::*;

#[test]
fn words() {
    let all = parse(&[]).expect("nothing is needed").expect("no usage");
    assert_eq!((all.minutes, all.base), (10, None));
    assert_eq!(all.classes, [0, 1, 2, 3, 4, 5, 6]);
    let words = [
        "--class",
        "cast",
        "--minutes",
        "3",
        "--class",
        "plain",
        "--class",
        "cast",
        "--base",
        "7",
    ];
    let some = parse(&words).expect("sound").expect("no usage");
    assert_eq!((some.minutes, some.base), (3, Some(7)));
    assert_eq!(some.classes, [1, 0]);
    assert_eq!(parse(&["--help"]), Ok(None));
}

#[test]
fn words_that_are_refused() {
    for words in [
        &["--minutes", "0"][..],
        &["--minutes", "525601"],
        &["--minutes"],
        &["--class", "calm"],
        &["--class"],
        &["--base", "-1"],
        &["7"],
    ] {
        assert!(parse(words).is_err(), "{words:?}");
    }
}

#[test]
fn the_classes_take_turns_and_no_seed_runs_twice() {
    let campaign = Campaign {
        program: PathBuf::new(),
        classes: vec![1, 0],
        base: 1_000,
        until: Instant::now(),
        next: AtomicU64::new(0),
    };
    let batches: Vec<_> = (0..4).map(|number| campaign.batch(number)).collect();
    assert_eq!(
        batches,
        [(1, 1_000), (0, 1_000), (1, 1_000 + BATCH), (0, 1_000 + BATCH)]
    );
}

#[test]
fn what_a_runner_says() {
    assert_eq!(verdict("0 of 200 seeds from 1 failed\n"), Some(("", 0)));
    let text = "seed 7 failed: late\n  late\n  xtp sim --replay 7\n1 of 200 seeds from 1 failed\n";
    let found = "seed 7 failed: late\n  late\n  xtp sim --replay 7\n";
    assert_eq!(verdict(text), Some((found, 1)));
    for cut in ["", "seed 7 failed: late\n", "1 of 200"] {
        assert_eq!(verdict(cut), None, "{cut}");
    }
}
