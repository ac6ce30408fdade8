//! Eviction times, start, and times that wrap.

use core::net::{IpAddr, Ipv4Addr};

use super::{Ages, widen};
use core::time::Duration;
use xtp_core::hash::KeyedState;
use xtp_core::time::Time;

/// 2026 or so, in milliseconds.
const UTC: u64 = 1_790_000_000_000;

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

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
    assert!(!ages.refused(at(0), UTC, 3, now));
    ages.evict(at(0), UTC, 3, now - 10);
    ages.evict(at(0), UTC, 3, now - 20);
    assert!(
        ages.refused(at(0), UTC, 3, now - 10),
        "the duplicate has exactly this time"
    );
    assert!(ages.refused(at(0), UTC, 3, now - 11));
    assert!(!ages.refused(at(0), UTC, 3, now - 9));
    assert!(!ages.refused(at(0), UTC, 4, now - 11), "another bucket");
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
    ages.evict(at(0), UTC, 3, now + 130_001);
    ages.evict(at(0), UTC, 3, now + 31_536_000_000);
    ages.evict(at(0), UTC, 3, i64::MAX);
    assert!(!ages.refused(at(0), UTC, 3, now - 1_000_000));
    assert!(!ages.refused(at(0), UTC, 3, now + 60_000));
    ages.evict(at(0), UTC, 3, now + 130_000);
    assert!(ages.refused(at(0), UTC, 3, now));
}

/// However far a client's clock is off: what was evicted is refused as long as there may be copies of it.
#[test]
fn what_was_evicted_is_refused_whatever_the_client_s_clock_says() {
    for skew in [
        -31_536_000_000,
        -60_001,
        -60_000,
        60_000,
        60_001,
        130_000,
        130_001,
        31_536_000_000,
    ] {
        let mut ages = ages(None);
        let time = UTC.cast_signed() + skew;
        ages.evict(at(0), UTC, 3, time);
        for later in [0, 1, 69] {
            assert!(
                ages.refused(at(later), UTC + later * 1_000, 3, time),
                "{skew} after {later} s"
            );
        }
        assert!(!ages.refused(at(69), UTC + 69_000, 4, time), "another bucket");
    }
}

/// And whatever becomes of our own clock. Set back, it refuses nobody for longer than that.
#[test]
fn what_was_evicted_is_refused_after_our_clock_was_set() {
    for jump in [-31_536_000_000, -30_000, 30_000, 31_536_000_000, 1_i64 << 32] {
        let time = UTC as u32;
        let mut ages = ages(None);
        ages.see(at(1), UTC + 1_000);
        ages.evict(at(1), UTC + 1_000, 3, super::widen(UTC, time));
        let set = |seconds: u64| (UTC + seconds * 1_000).saturating_add_signed(jump);
        for later in [2, 70] {
            ages.see(at(later), set(later));
            assert!(
                ages.refused(at(later), set(later), 3, super::widen(set(later), time)),
                "{jump}"
            );
        }
        let fresh = |seconds: u64| set(seconds).cast_signed();
        assert!(!ages.refused(at(72), set(72), 3, fresh(72)), "{jump}");
        // What was made before and is evicted only now.
        ages.evict(at(100), set(100), 3, super::widen(set(100), time));
        assert!(
            ages.refused(at(101), set(101), 3, super::widen(set(101), time)),
            "{jump}"
        );
    }
}

#[test]
fn hosts_spread_over_the_buckets() {
    let ages = ages(None);
    let bucket = |n| usize::from(ages.bucket(IpAddr::V4(Ipv4Addr::from_bits(n))));
    let mut hit = [false; 1_024];
    (0..20_000).for_each(|n| hit[bucket(n)] = true);
    assert!(hit.iter().all(|hit| *hit));
}
