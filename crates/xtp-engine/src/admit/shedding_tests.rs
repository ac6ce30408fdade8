//! Datagrams dropped in a flood (§7.4.2).

use core::net::{IpAddr, Ipv4Addr};

use super::{ALL, BEHIND, BUCKETS, CALM, EACH, SAVED, SECOND, Shedding};
use xtp_core::time::Time;

/// What may come at once.
const AT_ONCE: u64 = ALL * SAVED / SECOND;

fn host(n: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + n))
}

fn at(ms: u64) -> Time {
    Time::from_nanos((1_000 + ms) * 1_000_000)
}

/// One comes while so many wait; whether it is dropped.
fn comes(shedding: &mut Shedding, now: Time, source: u32, waiting: usize) -> bool {
    let dropped = shedding.is_too_much(now, host(source));
    match dropped {
        true => shedding.dropped(now),
        false => shedding.takes(now, waiting),
    }
    dropped
}

/// How many of so many of one source are taken.
fn taken(shedding: &mut Shedding, now: Time, source: u32, count: u64, waiting: usize) -> u64 {
    (0..count)
        .map(|_| u64::from(!comes(shedding, now, source, waiting)))
        .sum()
}

fn flood() -> Shedding {
    let mut shedding = Shedding::new([7; 16]);
    taken(&mut shedding, at(0), 1, 3 * AT_ONCE, BEHIND);
    shedding
}

#[test]
fn nothing_is_dropped_while_the_user_keeps_up() {
    let mut shedding = Shedding::new([7; 16]);
    assert_eq!(taken(&mut shedding, at(0), 1, 100_000, BEHIND - 1), 100_000);
    // All that is left to come at once has come: it begins with the next one that waits.
    assert!(!comes(&mut shedding, at(0), 1, BEHIND));
    assert_eq!(taken(&mut shedding, at(0), 1, 1_000, BEHIND - 1), EACH);
}

#[test]
fn a_flood_is_as_many_as_a_listener_keeps_and_then_a_rate() {
    let mut shedding = Shedding::new([7; 16]);
    // One more begins it.
    let first = taken(&mut shedding, at(0), 1, 3 * AT_ONCE, BEHIND);
    assert_eq!(first, AT_ONCE + EACH);
    let later: u64 = (1..=1_000)
        .map(|ms| taken(&mut shedding, at(ms), 1, 350, 0))
        .sum();
    assert!((ALL..=ALL + EACH).contains(&later), "{later}");
}

#[test]
fn whoever_sends_little_gets_through_a_flood() {
    let mut shedding = flood();
    let through = (2..102).filter(|source| !comes(&mut shedding, at(0), *source, BEHIND));
    // But those in the same bucket.
    assert!(through.count() >= 99);
}

#[test]
fn forged_sources_are_no_more_than_the_buckets() {
    let mut shedding = flood();
    let through = (2..200_000).filter(|source| !comes(&mut shedding, at(0), *source, BEHIND));
    let most = BUCKETS as u64 * EACH;
    let through = through.count() as u64;
    assert!((most - EACH..=most).contains(&through), "{through}");
}

#[test]
fn a_flood_is_over_when_nothing_had_to_be_dropped_for_a_while() {
    let calm = CALM.as_millis() as u64;
    let mut shedding = flood();
    // So often that the next look is always within the time.
    for ms in (calm - 1..60_000).step_by(calm as usize - 1) {
        assert!(
            taken(&mut shedding, at(ms), 1, 2 * AT_ONCE, 0) < 2 * AT_ONCE,
            "{ms}"
        );
    }
    let last = 60_000 + 2 * calm;
    assert_eq!(taken(&mut shedding, at(last), 1, 2 * AT_ONCE, 0), 2 * AT_ONCE);
}
