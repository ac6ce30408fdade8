//! Tests of hints: what goes on counts, what ended does not.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_hint_of_the_carrier_must_go_on_for_three_seconds() {
    let start = Time::ZERO + SECOND;
    let once = Reports::and(None, Duration::from_millis(1), start);
    assert_eq!(once.outcome(start + 2 * SECOND), HintOutcome::Open);
    assert_eq!(once.outcome(start + 3 * SECOND), HintOutcome::Void);
    let again = Reports::and(Some(once), Duration::from_millis(1), start + SECOND);
    assert_eq!(again.due(), start + 3 * SECOND, "no report prolongs it");
    assert_eq!(again.outcome(start + 3 * SECOND), HintOutcome::Gone);
}

#[test]
fn a_long_path_is_given_more_time() {
    assert_eq!(Hint::Peer.patience(Duration::ZERO), Duration::from_millis(200));
    assert_eq!(Hint::Carrier.patience(2 * SECOND), 6 * SECOND);
    assert_eq!(Hint::Peer.patience(60 * SECOND), 30 * SECOND);
}
