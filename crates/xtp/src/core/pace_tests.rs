//! When short writes are a stream.

use super::*;
use crate::core::streak::{LESS, PAUSE, QUICK, RUN};

/// Notes so many writes, each `gap` after the one before; whether the last is one of a stream.
fn writes(pace: &mut WritePace, from: Time, count: u32, gap: Duration) -> (bool, Time) {
    let (mut now, mut stream) = (from, false);
    for _ in 0..count {
        now = now + gap;
        stream = pace.note(now, true);
    }
    (stream, now)
}

const SOON: Duration = Duration::from_micros(5);

#[test]
fn many_quick_writes_are_a_stream_until_there_is_a_pause() {
    let mut pace = WritePace::default();
    let start = Time::ZERO + Duration::from_secs(1);
    let (stream, now) = writes(&mut pace, start, u32::from(RUN), SOON);
    // The first came after a second.
    assert!(!stream);
    let (stream, now) = writes(&mut pace, now, 1, SOON);
    assert!(stream);
    let (stream, now) = writes(&mut pace, now, 1, PAUSE - SOON);
    assert!(stream, "others had the core");
    let (stream, now) = writes(&mut pace, now, 1, PAUSE);
    assert!(!stream, "a pause ends it");
    let (stream, now) = writes(&mut pace, now, u32::from(RUN) - 1, SOON);
    assert!(!stream);
    let (stream, now) = writes(&mut pace, now, 1, QUICK);
    assert!(!stream, "a late one is a step back");
    assert!(!writes(&mut pace, now, u32::from(LESS), SOON).0);
    assert!(writes(&mut pace, now, 1, SOON).0);
}

#[test]
fn a_write_with_nothing_under_way_begins_again() {
    let mut pace = WritePace::default();
    let (_, now) = writes(&mut pace, Time::ZERO, u32::from(RUN) - 1, SOON);
    assert!(
        !pace.note(now + SOON, false),
        "what waits for nothing is an exchange"
    );
    assert!(!writes(&mut pace, now + SOON, u32::from(RUN) - 1, SOON).0);
}

#[test]
fn the_endpoints_own_time_is_not_the_programs() {
    let mut pace = WritePace::default();
    let (_, now) = writes(&mut pace, Time::ZERO, u32::from(RUN), SOON);
    pace.excuse();
    assert!(pace.note(now + 50 * QUICK, true), "it waited for room");
    assert!(!pace.note(now + 100 * QUICK, true), "once");
}

#[test]
fn who_reads_between_its_writes_is_in_an_exchange() {
    let mut pace = WritePace::default();
    let mut now = Time::ZERO;
    for _ in 0..1_000 {
        now = now + SOON;
        assert!(!pace.note(now, true));
        pace.read();
    }
}

#[test]
fn few_writes_are_not_worth_waiting_for() {
    for (count, goes_on) in [(WORTH - 1, false), (WORTH, true)] {
        let mut pace = WritePace::default();
        let (_, mut now) = writes(&mut pace, Time::ZERO, u32::from(RUN), SOON);
        for _ in 0..count {
            now = now + SOON;
            assert!(pace.note(now, true) && !pace.gather(now));
        }
        pace.leave();
        assert_eq!(pace.note(now + SOON, true), goes_on, "{count}");
    }
}

#[test]
fn trains_of_few_writes_are_full_all_the_same() {
    let mut pace = WritePace::default();
    let (_, mut now) = writes(&mut pace, Time::ZERO, u32::from(RUN), SOON);
    for _ in 0..100 {
        now = now + SOON;
        assert!(pace.note(now, true) && !pace.gather(now));
        pace.fill();
        pace.leave();
    }
}

#[test]
fn the_time_of_a_write_that_leaves_is_not_the_programs() {
    let mut pace = WritePace::default();
    let mut now = Time::ZERO;
    for count in 0..u32::from(RUN) {
        assert!(!pace.is_stream(), "{count}");
        pace.note(now, true);
        // It woke its reader.
        now = now + 5 * QUICK;
        pace.end(now);
        now = now + SOON;
    }
    assert!(pace.is_stream());
}

#[test]
fn what_is_gathered_leaves_with_a_write_when_it_is_old() {
    let mut pace = WritePace::default();
    let start = Time::ZERO + Duration::from_secs(1);
    assert!(!pace.gather(start));
    assert!(!pace.gather(start + AGE / 2));
    assert!(pace.gather(start + AGE));
    pace.leave();
    assert!(!pace.gather(start + 2 * AGE));
}
