//! What a person reads.

use super::*;

#[test]
fn only_what_happened_is_said() {
    let report = Report {
        seconds: 1.0,
        left_to_right: DirectionReport {
            sent: 10,
            delivered: 7,
            delivered_octets: 700,
            lost: 2,
            queue_full: 1,
            queue_mean_ms: 1.25,
            queue_p95_ms: 2.5,
            ..DirectionReport::default()
        },
        right_to_left: DirectionReport::default(),
        packets_per_s: 7.0,
        lateness_p50_us: 10.0,
        lateness_p99_us: 60.0,
        lateness_max_us: 1_500.0,
        busy: 0.25,
        waits: 9,
        scheduling: Scheduling::RealTime,
        cores_awake: true,
        bottleneck: Some("reasons".to_owned()),
    };
    let lines = lines(&report);
    assert_eq!(
        lines,
        [
            "left to right: 10 packets sent, 7 delivered (700 octets), 2 lost, 1 did not fit the queue; in queue 1.25 ms, \
             p95 2.50 ms",
            "right to left: 0 packets sent, 0 delivered (0 octets)",
            "emulator (real-time, cores kept awake): 7 packets/s, late by p99 0.060 ms, at most 1.500 ms, 25 % of a processor",
            "warning: the emulator was the bottleneck: reasons",
        ]
    );
}
