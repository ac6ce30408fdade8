//! Tests of the token bucket: long-run rate, bound on bursts, waking times.

use proptest::prelude::*;

use super::*;

fn rate(octets_per_second: u64, burst: u32) -> Rate {
    Rate {
        octets_per_second,
        burst,
    }
}

/// Sends whenever allowed, waking exactly when told; start times and sizes.
fn run(rate: Rate, packets: &[u32], until: Time) -> Vec<(Time, u64)> {
    let mut now = Time::from_nanos(12_345);
    let mut bucket = TokenBucket::new(rate, now);

    let mut sent = Vec::new();
    while now < until {
        bucket.refill(now);
        while bucket.may_send() {
            let octets = u64::from(packets[sent.len() % packets.len()]);
            bucket.take(octets);
            sent.push((now, octets));
        }
        let next = bucket.ready_at(now).unwrap();
        assert!(next > now, "no progress at {now:?}");
        now = next;
    }
    sent
}

/// The most octets that start in any interval of `span` (half open).
fn worst(sent: &[(Time, u64)], span: Duration) -> u64 {
    let (mut first, mut inside, mut most) = (0, 0, 0);
    for &(at, octets) in sent {
        inside += octets;
        while at.since(sent[first].0) >= span {
            inside -= sent[first].1;
            first += 1;
        }
        most = most.max(inside);
    }
    most
}

fn interval(rate: Rate) -> Duration {
    Duration::from_nanos(u64::from(rate.burst) * 1_000_000_000 / rate.octets_per_second)
}

#[test]
fn ten_seconds_are_within_one_percent() {
    for (r, b) in [
        (20_000, 1),
        (20_000, 500),
        (200_000, 1_031),
        (1_000_000, 3_000),
        (40_000_000, 64_000),
    ] {
        let limit = rate(r, b);
        let sent = run(
            limit,
            &[1_032],
            Time::from_nanos(12_345) + Duration::from_secs(10),
        );
        let total: u64 = sent.iter().map(|&(_, octets)| octets).sum();
        let ideal = 10 * r;
        assert!(
            total.abs_diff(ideal) <= ideal / 100,
            "rate {r} burst {b}: {total} instead of {ideal}"
        );
    }
}

#[test]
fn rate_without_refill_drift_over_an_hour() {
    let sent = run(
        rate(10_007, 5_003),
        &[997],
        Time::from_nanos(12_345) + Duration::from_secs(3_600),
    );
    let total: u64 = sent.iter().map(|&(_, octets)| octets).sum();
    assert!(total.abs_diff(3_600 * 10_007) <= 2 * 5_003, "{total}");
}

#[test]
fn larger_packets_are_learnt_from_the_first_one() {
    for (b, bound) in [(20_000, 40_000), (10_000, 20_000), (5_000, 14_000), (1, 9_001)] {
        let limit = rate(1_000_000, b);
        let until = Time::from_nanos(12_345) + Duration::from_secs(1);
        let sent = run(limit, &[9_000], until);
        assert!(
            worst(&sent, interval(limit)) <= bound,
            "burst {b}: {}",
            worst(&sent, interval(limit))
        );
        let total: u64 = sent.iter().map(|&(_, octets)| octets).sum();
        assert!(total.abs_diff(1_000_000) <= 18_000, "burst {b}: {total}");
    }
}

#[test]
fn off_and_stopped() {
    let now = Time::ZERO;
    let mut off = TokenBucket::new(rate(0, 0), now);
    off.take(1 << 40);
    assert!(off.may_send() && off.is_off() && !off.is_stopped());
    assert_eq!((off.ready_at(now), off.octets_now()), (None, u64::MAX));
    let mut stopped = TokenBucket::new(rate(5, 0), now);
    stopped.refill(now + Duration::from_secs(1_000_000));
    assert!(!stopped.may_send() && stopped.is_stopped() && !stopped.is_off());
    assert_eq!((stopped.ready_at(now), stopped.octets_now()), (None, 0));
}

#[test]
fn lifting_a_stop_lets_one_packet_go_at_once() {
    let mut bucket = TokenBucket::new(rate(1_000_000, 5_000), Time::ZERO);
    let later = Time::from_nanos(5_000_000_000);
    bucket.set(rate(1_000_000, 0), later);
    assert!(!bucket.may_send());
    bucket.set(rate(1_000_000, 5_000), later);
    assert!(bucket.may_send());
    assert_eq!(bucket.octets_now(), 1);
    assert_eq!(bucket.rate(), rate(1_000_000, 5_000));
}

#[test]
fn stating_the_same_limit_again_gives_nothing() {
    let mut bucket = TokenBucket::new(rate(1_000, 3_000), Time::ZERO);
    for _ in 0..6 {
        bucket.take(1_500);
    }
    bucket.set(rate(1_000, 3_000), Time::ZERO);
    assert!(!bucket.may_send());
    bucket.set(rate(2_000, 3_000), Time::ZERO);
    // 9000 - 1500 octets are owed, now at 2000 a second, and a millisecond's worth is waited for.
    assert_eq!(bucket.ready_at(Time::ZERO), Some(Time::from_nanos(3_751_000_001)));
    bucket.set(rate(0, 0), Time::ZERO);
    bucket.set(rate(2_000, 3_000), Time::ZERO);
    assert_eq!(bucket.octets_now(), 1_500);
}

/// At 6.25 MB a second four full packets flow in within a millisecond: a wake-up for each would cost more than to send it.
#[test]
fn a_wake_up_sends_several_packets_where_they_are_many() {
    let packet = 1_448;
    let sent = run(
        rate(6_250_000, 625_000),
        &[packet],
        Time::from_nanos(1_100_000_000),
    );
    let waited = sent.partition_point(|(at, _)| at.as_nanos() < 100_000_000);
    let mut moments: Vec<Time> = sent[waited..].iter().map(|(at, _)| *at).collect();
    let packets = moments.len();
    moments.dedup();
    assert!(packets > 4_000, "{packets}");
    assert!(
        moments.len() * 4 <= packets,
        "{packets} packets at {} moments",
        moments.len()
    );
}

#[test]
fn extremes_do_not_overflow() {
    let mut bucket = TokenBucket::new(rate(u64::MAX, u32::MAX), Time::ZERO);
    bucket.take(u64::MAX);
    bucket.take(u64::MAX);
    assert!(bucket.ready_at(Time::ZERO).is_some());
    bucket.refill(Time::NEVER);
    assert!(bucket.may_send());
    bucket.set(rate(1, u32::MAX), Time::NEVER);
    bucket.take(u64::MAX);
    assert_eq!(bucket.ready_at(Time::NEVER), Some(Time::NEVER));
    bucket.refill(Time::ZERO);
    assert!(!bucket.may_send());
}

proptest! {
    #[test]
    fn never_more_than_the_bound(
        r in 1_000u64..50_000_000,
        b in 1u32..100_000,
        packets in prop::collection::vec(40u32..1_500, 1..8),
    ) {
        let limit = rate(r, b);
        let span = interval(limit);
        let until = Time::from_nanos(12_345) + (span * 20).min(Duration::from_millis(500));
        let sent = run(limit, &packets, until);
        let packet = u64::from(*packets.iter().max().unwrap());
        let bound = (2 * u64::from(b)).max(u64::from(b) + packet);
        prop_assert!(worst(&sent, span) <= bound, "{} > {bound}", worst(&sent, span));
    }

    #[test]
    fn planning_agrees_with_sending(b in 1u32..40_000, packet in 40u64..1_500, owed in 0u64..5_000) {
        let mut bucket = TokenBucket::new(rate(1_000, b), Time::ZERO);
        bucket.take(owed);
        let mut planned = 0;
        while planned < bucket.octets_now() {
            planned += packet;
        }
        let mut sent = 0;
        while bucket.may_send() {
            bucket.take(packet);
            sent += packet;
        }
        prop_assert_eq!(planned, sent);
    }

    #[test]
    fn who_waits_finds_a_millisecond_of_sending_or_half_a_burst(
        r in 1u64..1_000_000_000,
        b in 1u32..100_000,
        owed in 1u64..100_000,
    ) {
        let mut bucket = TokenBucket::new(rate(r, b), Time::ZERO);
        let depth = bucket.octets_now();
        let mut left = depth + owed;
        while left > 0 {
            let packet = left.min(1_500);
            bucket.take(packet);
            left -= packet;
        }
        let ready = bucket.ready_at(Time::ZERO).unwrap();
        let before = Time::from_nanos(ready.as_nanos() - 2);
        let wanted = u128::from(r / 1_000).min(u128::from(depth / 2));
        let mut early = bucket.clone();
        early.refill(before);
        prop_assert!(u128::from(early.octets_now()) <= wanted + 3);
        bucket.refill(ready);
        prop_assert!(bucket.may_send() && u128::from(bucket.octets_now()) >= wanted);
    }
}
