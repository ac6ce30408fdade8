//! Tests of the delivery rate.

use proptest::prelude::*;

use super::*;

const MS: Duration = Duration::from_millis(1);

fn at(millis: u32) -> Time {
    Time::ZERO + millis * MS
}

#[test]
fn a_report_for_many_packets_measures_as_well_as_many_reports() {
    // One packet of 1000 octets a millisecond arrives 50 ms after it left; every `batch` of them are reported.
    for batch in [1, 4, 10, 25] {
        let mut sampler = Sampler::default();
        let mut rates = Vec::new();
        for step in 0..400 {
            let now = at(step);
            if step >= 50 && (step - 50) % batch == batch - 1 {
                let sample = sampler.on_ack(now, step - 50, u64::from(batch) * 1_000);
                rates.extend(sample.map(|sample| sample.rate()));
            }
            sampler.on_sent(now, step, step == 0);
        }
        let settled = &rates[rates.len() / 2..];
        assert!(settled.len() > 3);
        for rate in settled {
            assert_eq!(*rate, 1_000_000, "in batches of {batch}");
        }
    }
}

#[test]
fn what_was_sent_slowly_is_no_fast_path() {
    let mut sampler = Sampler::default();
    // Ten packets over 100 ms, all reported in the millisecond after the last.
    for step in 0..10 {
        sampler.on_sent(at(step * 10), step, step == 0);
    }
    sampler.on_ack(at(100), 0, 1_000);
    let sample = sampler.on_ack(at(101), 9, 9_000).unwrap();
    assert_eq!(sample.delivered, 10_000);
    assert!(sample.interval >= 90 * MS, "{sample:?}");
}

#[test]
fn what_leaves_while_the_user_has_nothing_is_marked_and_no_longer() {
    let mut sampler = Sampler::default();
    sampler.on_sent(at(0), 1, true);
    sampler.on_app_limited(1_000);
    sampler.on_sent(at(1), 2, false);
    assert!(!sampler.on_ack(at(50), 1, 1_000).unwrap().limited);
    assert!(sampler.on_ack(at(51), 2, 1_000).unwrap().limited);
    sampler.on_sent(at(52), 3, false);
    assert!(!sampler.on_ack(at(99), 3, 1_000).unwrap().limited);
}

#[test]
fn old_echoes_and_unknown_packets_give_no_sample() {
    let mut sampler = Sampler::default();
    assert_eq!(sampler.on_ack(at(1), 7, 10), None);
    sampler.on_sent(at(2), 10, true);
    assert_eq!(sampler.on_ack(at(3), 9, 10), None, "left before anything known");
    assert!(sampler.on_ack(at(4), 10, 10).is_some());
    assert_eq!(sampler.on_ack(at(5), 10, 10), None, "nothing newer");
    assert_eq!(sampler.on_ack(at(6), 9, 10), None, "older");
    assert_eq!(sampler.delivered(), 50);
}

#[test]
fn memory_is_bounded_and_given_back() {
    let mut sampler = Sampler::default();
    for step in 0..10_000 {
        sampler.on_sent(at(step), step, false);
    }
    assert_eq!(sampler.trains.len(), MOST_TRAINS);
    sampler.shrink();
    assert_eq!(sampler.trains.capacity(), 0);
}

proptest! {
    /// Whatever the pattern of sending and reporting: no sample exceeds the rate of a link that delivers one
    /// packet of 1000 octets a millisecond at most, as long as it spans a round trip.
    #[test]
    fn never_more_than_the_link_delivers(gaps in proptest::collection::vec((1_u32..6, 0_u32..3), 20..200)) {
        const TRIP: u32 = 40;
        let mut sampler = Sampler::default();
        let mut arrivals = VecDeque::new();
        let (mut clock, mut sync, mut free) = (0, 0, 0);
        for (gap, extra) in gaps {
            clock += gap;
            for _ in 0..=extra {
                sampler.on_sent(at(clock), sync, arrivals.is_empty());
                free = free.max(clock) + 1;
                arrivals.push_back((free + TRIP, sync));
                sync += 1;
            }
            let mut came = 0;
            let mut echo = None;
            while arrivals.front().is_some_and(|&(when, _)| when <= clock) {
                echo = arrivals.pop_front().map(|(_, sync)| sync);
                came += 1_000;
            }
            if let Some(sample) = echo.and_then(|echo| sampler.on_ack(at(clock), echo, came))
                && sample.interval >= TRIP * MS
            {
                // A report comes at a multiple of the sender's steps: up to five milliseconds' packets more.
                let most = 1_000 * (sample.interval.as_millis() as u64 + 6);
                prop_assert!(sample.delivered <= most, "{sample:?}");
            }
        }
    }
}
