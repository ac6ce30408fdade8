//! Tests of the datagram size search.

use proptest::prelude::*;

use super::*;

/// Runs the search on a path that carries `fits`, answering at once, until it rests; sizes probed.
fn climb(search: &mut MtuSearch, fits: usize, now: &mut Time) -> Vec<usize> {
    let mut probed = Vec::new();
    loop {
        if let Some(size) = search.next_probe(*now) {
            probed.push(size);
            assert!(search.next_probe(*now).is_none(), "one probe at a time");
            if size <= fits {
                assert!(search.on_response(size, *now));
            }
        } else if let Some(deadline) = search.probe_deadline() {
            *now = deadline;
            search.on_timeout(*now);
        } else {
            assert!(search.is_done());
            return probed;
        }
        assert!(probed.len() < 100);
    }
}

#[test]
fn ethernet_is_found_with_three_tries_of_the_next_size() {
    for (v6, ethernet) in [(false, 1_472), (true, 1_452)] {
        let mut now = Time::ZERO;
        let mut search = MtuSearch::new(1_200, 1_200, 65_507, false, v6, now);
        assert_eq!((search.current(), search.is_done()), (1_200, false));
        let probed = climb(&mut search, ethernet, &mut now);
        assert_eq!(probed, [1_400, ethernet, 4_096, 4_096, 4_096]);
        assert_eq!(search.current(), ethernet);
        assert_eq!(now, Time::ZERO + 3 * PROBE_TIMEOUT);
    }
}

#[test]
fn loopback_reaches_the_top_at_once_and_rests_for_good() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 1_200, 65_507, true, false, now);
    assert_eq!(climb(&mut search, 65_507, &mut now), [65_507]);
    now = now + Duration::from_secs(100_000);
    assert_eq!(search.next_probe(now), None);
    assert_eq!(search.current(), 65_507);
}

#[test]
fn a_local_path_that_does_not_carry_the_most_is_climbed() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 1_200, 65_507, true, false, now);
    assert_eq!(search.next_probe(now), Some(65_507));
    search.on_too_big(None);
    assert_eq!(
        climb(&mut search, 16_384, &mut now),
        [1_400, 1_472, 4_096, 8_972, 16_384, 32_768, 32_768, 32_768]
    );
    assert_eq!(search.current(), 16_384);
}

#[test]
fn the_carrier_limit_is_never_exceeded() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 1_200, 1_471, true, false, now);
    assert_eq!(climb(&mut search, 9_000, &mut now), [1_400]);
    let mut small = MtuSearch::new(1_200, 1_200, 576, true, false, now);
    assert_eq!((small.current(), small.next_probe(now)), (576, None));
}

#[test]
fn a_failed_size_is_tried_again_after_ten_minutes() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 1_200, 65_507, false, false, now);
    climb(&mut search, 1_300, &mut now);
    let rested = now + REST;
    assert_eq!(search.next_probe(Time::from_nanos(rested.as_nanos() - 1)), None);
    assert_eq!(search.probe_deadline(), None, "an idle path is left alone");
    assert_eq!(search.next_probe(rested), Some(1_400));
}

#[test]
fn answers_count_for_the_probe_under_way_only() {
    let mut search = MtuSearch::new(1_200, 1_200, 65_507, false, false, Time::ZERO);
    assert!(!search.on_response(1_400, Time::ZERO));
    search.next_probe(Time::ZERO);
    assert!(!search.on_response(8_972, Time::ZERO));
    // Timed out once, answered late.
    let deadline = search.probe_deadline().unwrap();
    search.on_timeout(Time::from_nanos(deadline.as_nanos() - 1));
    assert_eq!(search.probe_deadline(), Some(deadline));
    search.on_timeout(deadline);
    assert!(search.on_response(1_400, deadline));
    assert_eq!(
        (search.current(), search.next_probe(deadline)),
        (1_400, Some(1_472))
    );
}

#[test]
fn too_big_without_a_limit_blames_the_probe_first() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 1_200, 65_507, false, false, now);
    search.next_probe(now);
    search.on_response(1_400, now);
    assert_eq!(search.next_probe(now), Some(1_472));
    search.on_too_big(None);
    assert_eq!((search.current(), search.is_done()), (1_400, true));
    search.on_too_big(None);
    assert_eq!(search.current(), 1_200);
    now = now + REST;
    assert_eq!(search.next_probe(now), Some(1_400));
}

#[test]
fn too_big_with_a_limit_obeys_it_down_to_a_floor() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 1_200, 65_507, true, false, now);
    climb(&mut search, 65_507, &mut now);
    search.on_too_big(Some(70_000));
    assert_eq!(search.current(), 65_507);
    search.on_too_big(Some(1_420));
    assert_eq!(search.current(), 1_420);
    search.on_too_big(Some(5_000));
    assert_eq!(
        (search.current(), search.next_probe(now)),
        (1_420, None),
        "a larger limit undoes nothing"
    );
    search.on_too_big(Some(0));
    assert_eq!(search.current(), 548);
    // Sizes above a limit are not probed, and the rungs above 548 come back after the rest, the last of them first.
    assert_eq!(search.next_probe(now + REST), Some(65_507));
}

#[test]
fn a_black_hole_sends_it_back_to_the_base() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 1_200, 65_507, false, false, now);
    search.on_black_hole(now);
    assert_eq!(search.next_probe(now), Some(1_400), "nothing to fall back from");
    search.on_response(1_400, now);
    search.next_probe(now);
    search.on_black_hole(now);
    assert_eq!((search.current(), search.is_done()), (1_200, true));
    assert!(!search.on_response(1_472, now));
    assert_eq!(
        search.next_probe(Time::from_nanos((now + HOLE_REST).as_nanos() - 1)),
        None
    );
    now = now + HOLE_REST;
    assert_eq!(
        climb(&mut search, 1_472, &mut now),
        [1_400, 1_472, 4_096, 4_096, 4_096]
    );
    assert_eq!(search.current(), 1_472);
    // Sizes that pass when tried and not when used are tried less and less often.
    search.on_black_hole(now);
    assert_eq!(search.next_probe(now + HOLE_REST), None);
    assert_eq!(search.next_probe(now + 2 * HOLE_REST), Some(1_400));
}

#[test]
fn a_search_that_begins_too_high_falls_to_the_base_and_climbs() {
    let mut now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 65_507, 65_507, true, false, now);
    assert_eq!((search.current(), search.is_done()), (65_507, true));
    // Two packets of the same train.
    search.on_too_big(None);
    search.on_too_big(None);
    assert_eq!(search.current(), 1_200);
    let probed = climb(&mut search, 9_000, &mut now);
    assert_eq!(probed[..5], [1_400, 1_472, 4_096, 8_972, 16_384]);
    assert_eq!(search.current(), 8_972);
}

#[test]
fn silence_begins_at_the_base_and_tries_the_most_again() {
    let now = Time::ZERO;
    let mut search = MtuSearch::new(1_200, 65_507, 65_507, true, false, now);
    search.on_silence();
    assert_eq!((search.current(), search.next_probe(now)), (1_200, Some(65_507)));
    search.on_too_big(Some(700));
    search.on_silence();
    assert_eq!(
        search.current(),
        700,
        "what was told to be the most stays the most"
    );
}

proptest! {
    /// Whatever happens, sizes stay within limits and probes are never larger than the carrier allows.
    #[test]
    fn sizes_stay_within_limits(
        base in 548usize..2_000,
        start in 548usize..65_508,
        max in 548usize..65_508,
        local: bool,
        steps in prop::collection::vec((0u8..7, 0usize..70_000), 0..80),
    ) {
        let mut now = Time::ZERO;
        let mut search = MtuSearch::new(base, start, max, local, false, now);
        let mut out = None;
        for (step, value) in steps {
            match step {
                0 | 1 => if let Some(size) = search.next_probe(now) {
                    prop_assert!(size > search.current() && size <= max);
                    out = Some(size);
                },
                2 => if let Some(size) = out {
                    let grew = search.on_response(size, now);
                    prop_assert!(!grew || search.current() == size);
                },
                3 => { now = now + Duration::from_millis(value as u64 * 10); search.on_timeout(now); }
                4 => search.on_silence(),
                5 => search.on_too_big((value % 3 > 0).then_some(value)),
                _ => search.on_black_hole(now),
            }
            prop_assert!(search.current() <= max && search.current() >= 548.min(base));
        }
    }
}
