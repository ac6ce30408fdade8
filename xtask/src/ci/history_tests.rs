//! Runs that are remembered.

use super::{History, KEPT, Run};

fn run(seconds: u64) -> Run {
    Run {
        commit: format!("{seconds:040x}"),
        ended: seconds,
        passed: true,
        seconds,
        steps: [("lints".to_owned(), seconds)].into(),
    }
}

#[test]
fn the_newest_run_comes_first_and_old_ones_go() {
    let mut history = History::default();
    for seconds in 0..KEPT as u64 + 5 {
        history.add(run(seconds));
    }
    assert_eq!(history.newest_first().count(), KEPT);
    assert_eq!(history.newest_first().next(), Some(&run(KEPT as u64 + 4)));
    assert_eq!(history.newest_first().last(), Some(&run(5)));
}

#[test]
fn a_run_is_what_was_written() {
    let text = serde_json::to_string(&run(7)).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run(7));
}
