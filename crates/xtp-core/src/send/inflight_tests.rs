//! The segment map by examples; `inflight_model_tests.rs` compares it with single octets.

use core::time::Duration;

use super::*;

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

const NEVER_LATE: Duration = Duration::from_secs(1000);

fn judge(echo: u32, threshold: u32) -> LossCriteria {
    LossCriteria {
        echo,
        threshold,
        above: 0,
        below: u64::MAX,
        now: at(0),
        late: NEVER_LATE,
    }
}

/// `count` packets of 100 octets from position 0 and sync 1 on, in one train.
fn train(count: u32) -> Inflight {
    let mut map = Inflight::new();
    for number in 0..count {
        map.record(u64::from(number) * 100, 100, number + 1, at(0));
    }
    map
}

#[test]
fn a_train_is_one_run() {
    let mut map = train(44);
    map.record(4400, 30, 45, at(0));
    assert_eq!(map.runs.len(), 1, "the last may be shorter");
    map.record(4430, 30, 46, at(0));
    assert_eq!(map.runs.len(), 2, "and closes the run");
    map.record(4460, 30, 48, at(0));
    assert_eq!(map.runs.len(), 3, "a sync was used for something else");
    map.record(4490, 30, 49, at(1));
    assert_eq!(map.runs.len(), 4, "another moment");
    map.record(4520, 31, 50, at(1));
    assert_eq!(map.runs.len(), 5, "a longer one");
    assert_eq!(map.octets(), 4551);
    assert_eq!(map.last(), Some((4520, 31)));
}

#[test]
fn packets_without_octets_are_not_recorded() {
    let mut map = Inflight::new();
    map.record(0, 0, 1, at(0));
    assert!(map.is_empty());
    assert_eq!((map.last(), map.next_lost(), map.octets()), (None, None, 0));
}

#[test]
fn acknowledging_trims_partly_acknowledged_segments() {
    let mut map = train(4);
    assert_eq!(map.acknowledge_below(150), 150);
    assert_eq!(map.acknowledge_below(150), 0);
    assert_eq!(map.acknowledge_range(250, 320), 70);
    assert_eq!(map.octets(), 180);
    assert_eq!(map.last(), Some((320, 80)));
    assert_eq!(map.acknowledge_below(1000), 180);
    assert!(map.is_empty());
}

#[test]
fn a_span_inside_one_segment_is_not_believed() {
    let mut map = train(3);
    for (left, right) in [(110, 120), (101, 199), (1, 2), (299, 299), (250, 240)] {
        assert_eq!(map.acknowledge_range(left, right), 0, "{left}..{right}");
    }
    assert_eq!(map.runs.len(), 1);
    for (left, right, octets) in [(100, 101, 1), (198, 200, 2), (300, 400, 0)] {
        assert_eq!(map.acknowledge_range(left, right), octets, "{left}..{right}");
    }
}

#[test]
fn three_syncs_behind_the_echo_is_lost() {
    let mut map = train(10);
    let verdict = map.judge(judge(6, 3));
    assert_eq!((verdict.lost_packets, verdict.lost_octets), (3, 300));
    assert_eq!(verdict.newest_lost_sync, Some(3));
    assert_eq!(verdict.newest_lost_time, Some(at(0)));
    assert_eq!(
        verdict.check_at,
        Some(at(0) + NEVER_LATE),
        "4 to 6 may still be late"
    );
    let again = map.judge(judge(6, 3));
    assert_eq!(again.lost_packets, 0, "lost only once");
    assert_eq!(map.judge(judge(10, 0)).lost_packets, 7);
    assert_eq!(map.judge(judge(10, 0)).check_at, None);
    assert_eq!(map.lost_octets(), 1000);
}

#[test]
fn neighbours_that_are_lost_are_one_gap() {
    let mut map = train(12);
    assert_eq!(map.judge(judge(5, 3)).gaps, 1);
    let rest = map.judge(judge(6, 3));
    assert_eq!(
        (rest.lost_packets, rest.gaps),
        (1, 0),
        "it goes on where the first ended"
    );
    map.acknowledge_range(500, 700);
    map.acknowledge_range(900, 1000);
    let rest = map.judge(judge(12, 0));
    assert_eq!(
        (rest.lost_packets, rest.gaps),
        (6, 2),
        "one goes on, and two are new"
    );
}

#[test]
fn a_run_is_recorded_as_its_packets_would_be() {
    for before in [0, 1, 3] {
        let mut one_by_one = train(before);
        let mut at_once = train(before);
        // Over what was sent already, behind it, and at another moment.
        for (seq, len, count, sync, time) in [(50, 100, 4, 10, 1), (450, 70, 3, 14, 1), (660, 70, 5, 17, 2)] {
            for index in 0..count {
                let seq = seq + u64::from(index) * u64::from(len);
                one_by_one.record(seq, len, sync + index, at(time));
            }
            at_once.record_run(seq, len, count, sync, at(time));
            assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"));
        }
        at_once.record_run(2_000, 9, 0, 30, at(3));
        assert_eq!(format!("{at_once:?}"), format!("{one_by_one:?}"));
    }
}

#[test]
fn time_makes_a_segment_lost_that_the_echo_has_reached() {
    let mut map = Inflight::new();
    map.record(0, 10, 1, at(0));
    map.record(10, 10, 2, at(50));
    let late = Duration::from_nanos(100);
    let mut evidence = LossCriteria {
        late,
        now: at(99),
        ..judge(1, 3)
    };
    let verdict = map.judge(evidence);
    assert_eq!((verdict.lost_packets, verdict.check_at), (0, Some(at(100))));
    evidence.now = at(100);
    assert_eq!(map.judge(evidence).lost_packets, 1);
    evidence.now = at(1000);
    assert_eq!(
        map.judge(evidence),
        DetectedLoss::default(),
        "sync 2 is newer than the echo"
    );
}

#[test]
fn only_segments_below_the_last_span_are_judged() {
    let mut map = train(10);
    let verdict = map.judge(LossCriteria {
        below: 350,
        ..judge(10, 0)
    });
    assert_eq!(verdict.lost_packets, 3);
    assert_eq!(
        map.judge(LossCriteria {
            below: 0,
            ..judge(10, 0)
        })
        .lost_packets,
        0
    );
}

#[test]
fn lost_segments_are_sent_again_in_ascending_order() {
    let mut map = train(10);
    map.acknowledge_range(200, 500);
    map.judge(judge(10, 3));
    let mut again = Vec::new();
    let mut sync = 10;
    while let Some((seq, len)) = map.next_lost() {
        sync += 1;
        map.record(seq, len, sync, at(9));
        again.push(seq);
    }
    assert_eq!(again, [0, 100, 500, 600]);
    assert!(!map.has_lost());
    assert_eq!(map.in_flight(None, None), 700);
    // The rest of the old train is lost later, while the packets sent again are not.
    assert_eq!(map.judge(judge(13, 3)).lost_packets, 3);
    assert_eq!(map.next_lost(), Some((700, 100)));
}

#[test]
fn the_oldest_segment_is_lost_alone() {
    let mut map = train(3);
    map.lose_first();
    assert_eq!(map.next_lost(), Some((0, 100)));
    map.lose_first();
    assert_eq!(map.lost_from(100), None, "it waits to leave again");
    let mut short = Inflight::new();
    short.lose_first();
    short.record(0, 70, 1, at(5));
    short.lose_first();
    assert_eq!(short.next_lost(), Some((0, 70)));
}

#[test]
fn a_lost_segment_may_be_cut_smaller() {
    let mut map = train(2);
    map.judge(judge(2, 0));
    map.record(0, 60, 3, at(1));
    assert_eq!(map.next_lost(), Some((60, 40)));
    map.record(60, 40, 4, at(1));
    assert_eq!(map.next_lost(), Some((100, 100)));
    assert_eq!((map.octets(), map.lost_octets()), (200, 100));
}

#[test]
fn octets_in_flight_are_young_or_covered() {
    let mut map = Inflight::new();
    for number in 0..6u32 {
        map.record(u64::from(number) * 10, 10, number + 1, at(u64::from(number)));
    }
    assert_eq!(map.in_flight(None, None), 60);
    assert_eq!(map.in_flight(Some(at(4)), None), 20);
    assert_eq!(map.in_flight(Some(at(4)), Some(3)), 50);
    map.judge(judge(1, 0));
    assert_eq!(
        map.in_flight(Some(at(4)), Some(3)),
        40,
        "what is lost is not in flight"
    );
    assert_eq!(map.in_flight(Some(at(100)), None), 0);
}

#[test]
fn uncovered_packets_were_sent_after_the_newest_request() {
    let mut map = train(6);
    assert_eq!(map.uncovered(None, None), (6, 6));
    assert_eq!(map.uncovered(Some(4), None), (2, 2));
    assert_eq!(map.uncovered(Some(4), Some(at(1))), (2, 0));
    assert_eq!(map.uncovered(Some(6), None), (0, 0));
    // A retransmission of the first packet is uncovered although all behind it are covered.
    map.record(0, 100, 7, at(1));
    assert_eq!(map.uncovered(Some(6), Some(at(1))), (1, 1));
}

#[test]
fn syncs_may_wrap() {
    let mut map = Inflight::new();
    for number in 0..6u32 {
        map.record(
            u64::from(number) * 10,
            10,
            (u32::MAX - 2).wrapping_add(number),
            at(0),
        );
    }
    assert_eq!(map.runs.len(), 1);
    assert_eq!(map.time_of(1), Some(at(0)));
    assert_eq!(map.time_of(3), None);
    assert_eq!(map.uncovered(Some(0), None), (2, 2));
    let verdict = map.judge(judge(1, 3));
    assert_eq!(
        (verdict.lost_packets, verdict.newest_lost_sync),
        (2, Some(u32::MAX - 1))
    );
}

#[test]
fn go_back_n_sends_everything_again() {
    let mut map = train(5);
    map.acknowledge_below(150);
    map.mark_all_lost_from(200);
    assert_eq!(map.next_lost(), Some((200, 100)));
    assert_eq!(map.lost_octets(), 300);
    map.mark_all_lost_from(0);
    assert_eq!(map.next_lost(), Some((150, 50)));
    map.clear();
    assert!(map.is_empty() && !map.has_lost());
}

#[test]
fn a_peer_can_not_make_more_runs_than_segments() {
    let mut map = train(1000);
    for segment in 0..1000 {
        for (left, right) in [(40, 60), (0, 5), (95, 100), (30, 31), (5, 6)] {
            map.acknowledge_range(segment * 100 + left, segment * 100 + right);
        }
    }
    assert!(map.runs.len() <= 1000, "{} runs", map.runs.len());
}

#[test]
fn a_batch_is_planned_before_it_is_recorded() {
    let mut map = train(5);
    map.mark_lost(100, 200);
    map.mark_lost(400, 100);
    assert_eq!(map.lost_from(0), Some((100, 100)));
    assert_eq!(
        map.lost_from(160),
        Some((160, 40)),
        "the rest of a segment cut smaller"
    );
    assert_eq!(map.lost_from(200), Some((200, 100)));
    assert_eq!(map.lost_from(300), Some((400, 100)));
    assert_eq!(map.lost_from(500), None);
    assert_eq!(map.lost_octets(), 300);
}

#[path = "inflight_model_tests.rs"]
mod model;
