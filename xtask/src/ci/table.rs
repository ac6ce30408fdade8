//! The table at the end of a run: what each step took, now and before, and what it ran.

use super::history::History;
use super::schedule::{Outcome, Verdict};

/// Earlier runs that are shown.
const SHOWN: usize = 10;

/// Steps whose verdict is as `wanted`.
pub(super) fn names(outcomes: &[Outcome], wanted: impl Fn(&Verdict) -> bool) -> Vec<&'static str> {
    let those = outcomes.iter().filter(|outcome| wanted(&outcome.verdict));
    those.map(|outcome| outcome.name).collect()
}

/// A line a step and one for all, seconds of earlier runs of this machine behind those of this one, the newest first.
pub(super) fn render(outcomes: &[Outcome], seconds: u64, history: &History) -> String {
    let mut rows = vec![[
        "step".to_owned(),
        "seconds".to_owned(),
        "before".to_owned(),
        "ran".to_owned(),
    ]];
    for outcome in outcomes {
        let now = match outcome.verdict {
            Verdict::LeftOut(_) => "-".to_owned(),
            _ => outcome.seconds.to_string(),
        };
        let earlier = before(history, |run| run.steps.get(outcome.name).copied());
        rows.push([outcome.name.to_owned(), now, earlier, remark(outcome)]);
    }
    let earlier = before(history, |run| Some(run.seconds));
    rows.push(["all".to_owned(), seconds.to_string(), earlier, String::new()]);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let [first, second, third] = [width(0), width(1), width(2)];
    let lines = rows.iter().map(|[name, now, before, ran]| {
        let line = format!("{name:<first$}  {now:>second$}  {before:<third$}  {ran}");
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn remark(outcome: &Outcome) -> String {
    match &outcome.verdict {
        Verdict::Passed if outcome.ran.is_empty() => "all".to_owned(),
        Verdict::Passed => outcome.ran.clone(),
        Verdict::Failed(reason) => format!("FAILED: {reason}"),
        Verdict::LeftOut(reason) => format!("left out: {reason}"),
    }
}

fn before(history: &History, of_run: impl Fn(&super::history::Run) -> Option<u64>) -> String {
    let seconds = history
        .newest_first()
        .take(SHOWN)
        .map(|run| of_run(run).map_or_else(|| "-".to_owned(), |seconds| seconds.to_string()));
    seconds.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
