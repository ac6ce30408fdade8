//! When a run must be repeated.

use super::*;

fn report() -> Report {
    Report {
        seconds: 1.0,
        left_to_right: DirectionReport::default(),
        right_to_left: DirectionReport::default(),
        packets_per_s: 0.0,
        lateness_p50_us: 10.0,
        lateness_p99_us: 1_000.0,
        lateness_max_us: 5_000.0,
        busy: 0.5,
        waits: 1,
        scheduling: Scheduling::RealTime,
        cores_awake: true,
        bottleneck: None,
    }
}

#[test]
fn a_good_run_is_no_bottleneck() {
    assert_eq!(report().judge().bottleneck, None);
}

#[test]
fn lateness_overrun_overflow_and_refusals_are_named() {
    let why = |change: fn(&mut Report)| {
        let mut report = report();
        change(&mut report);
        report.judge().bottleneck.expect("a bottleneck")
    };
    assert!(why(|report| report.lateness_p99_us = 1_100.0).contains("1.1 ms late"));
    assert!(why(|report| report.right_to_left.overrun = 3).contains("3 packets came faster"));
    assert!(why(|report| report.left_to_right.overflow = 4).contains("4 packets were too many"));
    assert!(why(|report| report.left_to_right.refused = 5).contains("5 packets were not taken"));
}
