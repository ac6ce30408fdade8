//! When a path counts as a black hole, and when repetitions back off.

use super::*;

const SMALL: u32 = 400;
const LARGE: u32 = 1_300;

fn search() -> MtuSearch {
    let mtu = MtuSearch::new(1_000, 1_400, 1_400, false, false, Time::ZERO);
    assert!(may_be_too_large(&mtu, LARGE) && !may_be_too_large(&mtu, SMALL));
    assert_eq!(mtu.current(), 1_400);
    mtu
}

/// One segment of this length is under way, from 0 on, and one behind it.
fn sent(len: u32) -> Inflight {
    let mut inflight = Inflight::new();
    inflight.record_run(0, len, 1, 1, Time::ZERO);
    inflight.record_run(len.into(), len, 1, 2, Time::ZERO);
    inflight
}

#[test]
fn handshakes_alone_behind_large_segments_are_a_black_hole() {
    for (len, black_hole) in [(SMALL, false), (LARGE, true)] {
        let (mut mtu, inflight, mut stuck) = (search(), sent(len), StuckSegment::default());
        for _ in 1..HANDSHAKES {
            stuck.handshake_alone(&inflight, &mut mtu, Time::ZERO);
        }
        stuck.acknowledged();
        for _ in 1..HANDSHAKES {
            stuck.handshake_alone(&inflight, &mut mtu, Time::ZERO);
        }
        assert_eq!(mtu.current(), 1_400, "they were not in a row");
        stuck.handshake_alone(&inflight, &mut mtu, Time::ZERO);
        assert_eq!(mtu.current() < 1_400, black_hole);
    }
}

#[test]
fn the_oldest_segment_lost_again_and_again_is_a_black_hole_unless_one_as_large_arrives() {
    let (mut mtu, mut inflight, mut stuck) = (search(), sent(LARGE), StuckSegment::default());
    stuck.lost(0, &inflight, &mut mtu, Time::ZERO);
    assert_eq!(stuck, StuckSegment::default(), "nothing is lost");
    inflight.mark_lost(0, LARGE);
    for _ in 1..LOSSES {
        stuck.lost(0, &inflight, &mut mtu, Time::ZERO);
    }
    let mut other = stuck;
    other.arrived(LARGE.into(), 2 * u64::from(LARGE), &inflight);
    other.lost(0, &inflight, &mut mtu, Time::ZERO);
    assert_eq!(mtu.current(), 1_400, "its size is not why");
    stuck.lost(0, &inflight, &mut mtu, Time::ZERO);
    assert!(mtu.current() < 1_400);
}

#[test]
fn what_is_never_taken_is_repeated_ever_later() {
    let (mut mtu, mut inflight, mut stuck) = (search(), sent(SMALL), StuckSegment::default());
    let rtt = Rtt::new(Some(Duration::from_millis(1)));
    inflight.mark_lost(0, SMALL);
    let mut pauses = Vec::new();
    for _ in 0..BACKED_OFF + 12 {
        assert_eq!(stuck.pause(0, &rtt).is_some(), stuck.losses >= BACKED_OFF);
        pauses.extend(stuck.pause(0, &rtt));
        stuck.lost(0, &inflight, &mut mtu, Time::ZERO);
    }
    assert!(pauses.is_sorted());
    assert_eq!(pauses.first(), Some(&rtt.wtimer_base()));
    assert_eq!(pauses.last(), Some(&LONGEST_PAUSE));
    assert_eq!(stuck.pause(1, &rtt), None, "another segment");
}
