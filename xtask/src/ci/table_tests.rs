//! The table of seconds.

use super::super::history::{History, Run};
use super::super::schedule::{Outcome, Verdict};
use super::{names, render};

fn outcome(name: &'static str, verdict: Verdict, ran: &str) -> Outcome {
    Outcome {
        name,
        verdict,
        seconds: 79,
        ran: ran.to_owned(),
    }
}

#[test]
fn a_line_a_step_with_its_seconds_before() {
    let outcomes = [
        outcome("lints", Verdict::Passed, ""),
        outcome("mutants", Verdict::Passed, "140 of 467"),
        outcome("miri", Verdict::LeftOut("nothing changed".to_owned()), ""),
        outcome("demo", Verdict::Failed("exit 1".to_owned()), ""),
    ];
    let mut history = History::default();
    for _ in 0..12 {
        history.add(Run::new(std::path::Path::new("/"), &outcomes[..2], 158, true));
    }
    history.add(Run::new(std::path::Path::new("/"), &outcomes[..1], 80, true));
    let table = render(&outcomes, 200, &history);
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 6, "{table}");
    assert_eq!(lines[0], ["step", "seconds", "before", "ran"]);
    assert_eq!(lines[1].len(), 2 + 10 + 1, "ten runs before: {table}");
    assert_eq!(lines[2][..4], ["mutants", "79", "-", "79"]);
    assert!(table.contains("140 of 467") && table.contains("left out: nothing changed"));
    assert_eq!(lines[3][1], "-");
    assert!(table.contains("FAILED: exit 1"));
    assert_eq!(lines[5][..3], ["all", "200", "80"]);
}

#[test]
fn steps_are_named_by_verdict() {
    let outcomes = [
        outcome("lints", Verdict::Passed, ""),
        outcome("demo", Verdict::Failed(String::new()), ""),
    ];
    assert_eq!(names(&outcomes, |verdict| *verdict == Verdict::Passed), ["lints"]);
}
