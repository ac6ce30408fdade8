//! When calls are a stream.

use super::*;
use crate::core::streak::{LESS, RUN};

fn at(micros: u64) -> Time {
    Time::from_nanos(1_000_000_000 + 1_000 * micros)
}

fn peer(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// Calls that take 5 us each and follow `gaps` after one another, us; whether the last one is of a stream.
fn calls(calls: &mut Calls, from: u64, gaps: &[u64]) -> (u64, bool) {
    let (mut now, mut stream) = (from, false);
    for gap in gaps {
        now += gap;
        stream = calls.note(at(now), peer(1));
        now += 5;
        calls.answered = at(now);
    }
    (now, stream)
}

#[test]
fn quick_calls_are_a_stream_after_a_while() {
    let mut some = Calls::default();
    let (now, stream) = calls(&mut some, 0, &[1; RUN as usize]);
    assert!(!stream, "the first follows nothing");
    let (now, stream) = calls(&mut some, now, &[1]);
    assert!(stream);
    // A late one is none, and others come to it again.
    let (now, stream) = calls(&mut some, now, &[500]);
    assert!(!stream);
    let (now, stream) = calls(&mut some, now, &[19; LESS as usize - 1]);
    assert!(!stream);
    let (now, stream) = calls(&mut some, now, &[19]);
    assert!(stream);
    // Behind a pause everything begins anew.
    let (now, _) = calls(&mut some, now, &[1_000]);
    let (_, stream) = calls(&mut some, now, &[1; RUN as usize - 1]);
    assert!(!stream);
}

#[test]
fn calls_that_are_not_quick_are_no_stream() {
    let mut some = Calls::default();
    assert!(!calls(&mut some, 0, &[20; 200]).1);
}

#[test]
fn calls_to_others_are_no_stream() {
    let mut some = Calls::default();
    for n in 0..200 {
        assert!(!some.note(at(10 * n), peer(1 + (n % 2) as u16)));
        some.answered = at(10 * n + 5);
    }
}
