//! What is read of a run, and what happens when.

use std::time::Duration;

use super::{Action, actions, states};
use crate::multicast::cell::Event;

#[test]
fn a_stopped_receiver_goes_on_ten_seconds_later() {
    assert_eq!(actions(Event::Calm), []);
    let stopped = actions(Event::Stopped);
    let times: Vec<Duration> = stopped.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [Duration::from_secs(1), Duration::from_secs(11)]);
    assert_eq!(actions(Event::Late), [(Duration::from_secs(1), Action::Start)]);
}

#[test]
fn states_other_than_complete_are_told() {
    let said = r#"progress
{"ok":false,"receivers":[{"state":"complete"},{"state":"dropped"},{"state":"complete"}]}"#;
    assert_eq!(
        states(said).as_deref(),
        Some("its sender reports 2 complete, 1 dropped")
    );
    assert_eq!(states(r#"{"receivers":[{"state":"complete"}]}"#), None);
    assert_eq!(states("nothing of this kind"), None);
}
