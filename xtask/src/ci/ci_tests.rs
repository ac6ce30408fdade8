//! Steps by name, and the last line.

use super::rotation::Rotation;
use super::schedule::{Outcome, Verdict};
use super::steps::STEPS;
use super::{closing, jobs};

#[test]
fn the_steps_named_are_the_jobs() {
    let rotation = Rotation::whole();
    assert_eq!(jobs(&rotation, &[]).unwrap().len(), STEPS.len());
    let one = jobs(&rotation, &["tidy".to_owned()]).unwrap();
    assert_eq!(one.iter().map(|job| job.name).collect::<Vec<_>>(), ["tidy"]);
    let error = jobs(&rotation, &["tody".to_owned()]).unwrap_err();
    assert!(error.contains("tody") && error.contains("tidy"), "{error}");
}

#[test]
fn the_last_line_counts_steps() {
    let outcome = |verdict| Outcome {
        name: "lints",
        verdict,
        seconds: 1,
        ran: String::new(),
    };
    let outcomes = [
        outcome(Verdict::Passed),
        outcome(Verdict::Failed(String::new())),
        outcome(Verdict::LeftOut(String::new())),
        outcome(Verdict::Passed),
    ];
    assert_eq!(closing(&outcomes), "steps: 2 passed, 1 failed, 1 skipped");
}
