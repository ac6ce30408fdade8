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
    };
    let times = measure(way, 10, 16 << 20);
    assert!(times < 1.10, "{times}");
}
