//! Order learned from what arrives.

use super::*;

const MS: Duration = Duration::from_millis(1);
const RTT: Duration = Duration::from_millis(40);
const USUAL: Duration = Duration::from_millis(45);

fn at(millis: u32) -> Time {
    Time::ZERO + millis * MS
}

/// Ten packets of 100 octets, from sync 1 on, one a millisecond.
fn sent() -> Inflight {
    let mut map = Inflight::new();
    for number in 0..10 {
        map.record(u64::from(number) * 100, 100, number + 1, at(number));
    }
    map
}

fn told(before: u32, echo: u32) -> ReportSpan {
    ReportSpan {
        before,
        above: 0,
        below: u64::MAX,
        echo,
    }
}

const fn late(oldest: Option<Time>, in_vain: u64) -> Overtaken {
    Overtaken { oldest, in_vain }
}

#[test]
fn a_segment_reported_missing_was_overtaken_when_it_comes() {
    let mut map = sent();
    map.acknowledge_range(300, 500);
    assert_eq!(map.overtaken(0, 300, &told(5, 8)), late(Some(at(0)), 0));
    assert_eq!(map.overtaken(100, 300, &told(5, 8)), late(Some(at(1)), 0));
    assert_eq!(
        map.overtaken(500, 800, &told(5, 8)),
        late(None, 0),
        "nobody missed those"
    );
    let silent = ReportSpan {
        above: 300,
        ..told(5, 8)
    };
    assert_eq!(
        map.overtaken(0, 300, &silent),
        late(None, 0),
        "of these nothing was said"
    );
    let silent = ReportSpan {
        below: 200,
        ..told(5, 8)
    };
    assert_eq!(map.overtaken(200, 300, &silent), late(None, 0));
}

#[test]
fn what_comes_before_its_repetition_can_was_repeated_in_vain() {
    let mut map = sent();
    map.mark_lost(0, 200);
    assert!(map.is_disturbed());
    assert_eq!(
        map.overtaken(0, 200, &told(5, 8)),
        late(Some(at(0)), 200),
        "not sent again yet"
    );
    map.record(0, 100, 11, at(50));
    map.record(100, 100, 12, at(51));
    assert!(map.is_disturbed());
    assert_eq!(
        map.overtaken(0, 200, &told(5, 11)),
        late(None, 100),
        "the first one may be the repetition"
    );
    assert_eq!(map.overtaken(0, 200, &told(5, 12)), late(None, 0));
    map.acknowledge_below(200);
    assert!(!map.is_disturbed());
}

#[test]
fn the_window_is_what_was_seen_and_grows_where_it_was_too_small() {
    let mut order = Reordering::default();
    order.on_loss(at(0), RTT);
    assert!(
        !order.on_overtaken(late(None, 100), at(10), USUAL, RTT),
        "order was kept until now"
    );
    assert_eq!(order.window(), None);
    assert!(
        order.on_overtaken(late(Some(at(0)), 0), at(30), USUAL, RTT),
        "new"
    );
    assert_eq!(order.window(), Some(Duration::ZERO), "not later than usual");
    assert!(!order.on_overtaken(late(Some(at(0)), 0), at(50), USUAL, RTT));
    assert_eq!(order.window(), Some(5 * MS));
    assert!(order.on_overtaken(late(None, 100), at(60), USUAL, RTT), "a step");
    assert_eq!(order.window(), Some(15 * MS));
    order.on_overtaken(late(None, 100), at(61), USUAL, RTT);
    assert_eq!(order.window(), Some(15 * MS), "one a round trip");
    order.on_overtaken(late(None, 100), at(101), USUAL, RTT);
    assert_eq!(order.window(), Some(25 * MS));
    order.on_overtaken(late(None, 100), at(1_000), USUAL, RTT);
    assert_eq!(
        order.window(),
        Some(25 * MS),
        "nothing was judged for long: a timer sent that"
    );
    order.on_overtaken(late(Some(at(0)), 0), at(9_000), USUAL, RTT);
    assert_eq!(order.window(), Some(RTT), "never more than a round trip");
}

#[test]
fn order_is_trusted_again_after_losses_without_reordering() {
    let mut order = Reordering::default();
    order.on_overtaken(late(Some(at(0)), 0), at(50), USUAL, RTT);
    for round in 0..u32::from(2 * MEMORY) {
        assert_eq!(order.window(), Some(5 * MS), "round {round}");
        order.on_loss(at(100 + 40 * round), RTT);
        order.on_loss(at(101 + 40 * round), RTT);
    }
    assert_eq!(order.window(), None);
}
