//! Eviction times, start, and times that wrap.

use core::net::{IpAddr, Ipv4Addr};

use super::{Ages, widen};
use crate::hash::KeyedState;

/// 2026 or so, in milliseconds.
const UTC: u64 = 1_790_000_000_000;

fn ages(start: Option<u64>) -> Ages {
    Ages::new(start, KeyedState::new([1; 16]))
}

#[test]
fn widening_finds_the_nearest_time() {
    for ahead in [0, 1, -1, 60_000, -60_000, 2_000_000_000, -2_000_000_000_i64] {
        let time = UTC.wrapping_add_signed(ahead);
        assert_eq!(widen(UTC, time as u32), time.cast_signed());
    }
    assert_eq!(widen(5, u32::MAX), -1, "a clock just started");
}

#[test]
fn refused_up_to_the_eviction_time_of_its_own_bucket() {
    let mut ages = ages(None);
    let now = UTC.cast_signed();
    assert!(!ages.refused(3, now));
    ages.evict(UTC, 3, now - 10);
    ages.evict(UTC, 3, now - 20);
    assert!(ages.refused(3, now - 10), "the duplicate has exactly this time");
    assert!(ages.refused(3, now - 11));
    assert!(!ages.refused(3, now - 9));
    assert!(!ages.refused(4, now - 11), "another bucket");
}

#[test]
fn refused_before_the_start_however_long_ago_that_is() {
    let ages = ages(Some(UTC));
    let start = UTC.cast_signed();
    assert!(ages.is_before_start(start - 1));
    assert!(!ages.is_before_start(start));
    // Forty days on, more than half a circle of the 32-bit field.
    let later = UTC + 40 * 86_400_000;
    assert!(!ages.is_before_start(widen(later, later as u32)));
}

#[test]
fn an_absurd_time_poisons_nothing() {
    let mut ages = ages(None);
    let now = UTC.cast_signed();
    ages.evict(UTC, 3, now + 60_001);
    ages.evict(UTC, 3, now + 31_536_000_000);
    ages.evict(UTC, 3, i64::MAX);
    assert!(!ages.refused(3, now - 1_000_000));
    ages.evict(UTC, 3, now + 60_000);
    assert!(ages.refused(3, now));
}

#[test]
fn hosts_spread_over_the_buckets() {
    let ages = ages(None);
    let bucket = |n| usize::from(ages.bucket(IpAddr::V4(Ipv4Addr::from_bits(n))));
    let mut hit = [false; 1_024];
    (0..20_000).for_each(|n| hit[bucket(n)] = true);
    assert!(hit.iter().all(|hit| *hit));
}
