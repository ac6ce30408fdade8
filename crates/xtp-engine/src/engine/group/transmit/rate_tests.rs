//! Tests of how fast a group is served.

use super::super::bridge::{Bridge, Way};
use crate::group::CastOptions;
use core::time::Duration;

const FIFTY_MBIT: u64 = 50_000_000 / 8;

fn options(members: u32) -> CastOptions {
    CastOptions {
        expect: Some(members),
        ..CastOptions::default()
    }
}

fn measure(way: Way, members: u8, octets: usize) -> f64 {
    let floor = (octets as f64 / 1_416.0) * (1_416.0 + 32.0 + 42.0) / way.rate as f64;
    let mut bridge = Bridge::new(way, options(members.into()), members, octets);
    let took = bridge.run(Duration::from_secs(60));
    assert!(bridge.octets().iter().all(|have| *have == octets as u64));
    took.as_secs_f64() / floor
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn a_narrow_uplink_is_filled_without_a_rate() {
    let way = Way {
        rate: FIFTY_MBIT,
        queue: 16 << 20,
        loss: 0,
        slow: (Duration::ZERO, Duration::ZERO),
    };
    let times = measure(way, 4, 16 << 20);
    assert!(times < 1.05, "{times}");
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn loss_of_one_in_a_hundred_slows_nobody_down() {
    let way = Way {
        rate: FIFTY_MBIT,
        queue: 16 << 20,
        loss: 10,
        slow: (Duration::ZERO, Duration::ZERO),
    };
    let times = measure(way, 10, 16 << 20);
    assert!(times < 1.10, "{times}");
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn ten_receivers_of_twelve_thousand_packets_say_little() {
    for (loss, most) in [(0, 130), (10, 210), (50, 260)] {
        let way = Way {
            rate: FIFTY_MBIT,
            queue: 16 << 20,
            loss,
            slow: (Duration::ZERO, Duration::ZERO),
        };
        let mut bridge = Bridge::new(way, options(10), 10, 16 << 20);
        bridge.run(Duration::from_secs(60));
        let feedback = bridge.feedback;
        assert!(feedback <= most, "{feedback} packets at {loss} of 1 000 lost");
    }
}

/// Ten gigabits a second: whatever keeps the group back is no network.
fn wide(slow: (Duration, Duration)) -> Way {
    Way {
        rate: 10_000_000_000 / 8,
        queue: 16 << 20,
        loss: 0,
        slow,
    }
}

#[test]
#[cfg_attr(miri, ignore = "so many packets take hours")]
fn a_host_that_was_slow_is_no_slow_path() {
    // A train of 16 packets in a millisecond is 23 MB a second.
    let slow = (Duration::from_millis(200), Duration::from_millis(1));
    let mut bridge = Bridge::new(wide(slow), options(4), 4, 64 << 20);
    let took = bridge.run(Duration::from_secs(60));
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[test]
#[cfg_attr(miri, ignore = "so many packets take hours")]
fn who_is_served_fast_is_asked_after_each_mebibyte() {
    let mut bridge = Bridge::new(wide((Duration::ZERO, Duration::ZERO)), options(1), 1, 64 << 20);
    let took = bridge.run(Duration::from_secs(60));
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(bridge.feedback >= 64, "{}", bridge.feedback);
}
