//! Tests of the end of startup: whose queue it is that grows.

use super::*;
use xtp_core::Time;

const MS: Duration = Duration::from_millis(1);
const BANDWIDTH: u64 = 1_000_000;

/// A round all of whose packets had this round trip.
fn round(ms: u32) -> Round {
    let mut round = Round::default();
    for _ in 0..4 {
        round.sample(MS * ms, true);
    }
    round
}

/// Startup on a path of 100 ms after rounds whose window stood still.
fn after(round_trips: [u32; 3]) -> (Startup, LeastRtt) {
    let mut least = LeastRtt::default();
    least.sample(MS * 100, Time::from_nanos(1));
    let mut startup = Startup::default();
    for ms in round_trips {
        startup.watch(true, &round(ms), &least);
    }
    (startup, least)
}

#[test]
fn a_queue_that_stands_still_with_the_window_is_ours() {
    let (mut startup, least) = after([110, 110, 110]);
    assert!(startup.on_rtt(BANDWIDTH, &round(130), &least));
    assert!(startup.is_full());
}

#[test]
fn a_queue_that_grows_while_the_window_stands_still_is_others() {
    let (mut startup, least) = after([110, 117, 124]);
    assert!(!startup.on_rtt(BANDWIDTH, &round(130), &least));
    assert!(!startup.is_full());
    // More than that is ours.
    assert!(startup.on_rtt(BANDWIDTH, &round(150), &least));
    assert!(startup.is_full());
}

#[test]
fn the_queue_of_others_goes_on_growing() {
    let (mut startup, least) = after([110, 117, 124]);
    for _ in 0..2 {
        startup.watch(false, &round(138), &least);
    }
    assert!(!startup.on_rtt(BANDWIDTH, &round(143), &least));
    assert!(startup.on_rtt(BANDWIDTH, &round(146), &least));
}

/// Ends by packets that wait at this bandwidth, and is judged by two rounds whose packets waited.
fn end(startup: &mut Startup, bandwidth: u64) -> Option<StartupVerdict> {
    let mut least = LeastRtt::default();
    least.sample(MS * 100, Time::from_nanos(1));
    startup.on_rtt(bandwidth, &round(130), &least);
    assert_eq!(startup.judge(bandwidth, &round(130)), None);
    startup.judge(bandwidth, &round(130))
}

#[test]
fn what_waiting_ended_may_be_wrong_until_a_probe() {
    let mut startup = Startup::default();
    assert!(!startup.was_ended_by_waiting());
    assert_eq!(end(&mut startup, BANDWIDTH), Some(StartupVerdict::Right));
    assert!(startup.was_ended_by_waiting());
    startup.settle();
    assert!(!startup.was_ended_by_waiting());
}

#[test]
fn one_that_went_on_in_vain_has_found_the_end() {
    for (grown, wrong) in [(BANDWIDTH * 2, true), (BANDWIDTH * 6 / 5, false)] {
        let mut startup = Startup::default();
        startup.resume(BANDWIDTH);
        assert_eq!(end(&mut startup, grown), Some(StartupVerdict::Right));
        assert_eq!(startup.was_ended_by_waiting(), wrong);
    }
}
