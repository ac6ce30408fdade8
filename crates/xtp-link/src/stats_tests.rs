//! The histogram of queueing delays.

use super::*;

#[test]
fn every_value_lies_in_its_bucket_and_buckets_are_narrow() {
    let mut values: Vec<u64> = (0..4_096).collect();
    values.extend((12..64).flat_map(|shift| [(1 << shift) - 1, 1 << shift, (1 << shift) + 1]));
    values.push(u64::MAX);
    for value in values {
        let bucket = bucket_of(value) as u64;
        let top = bucket_top(bucket);
        assert!(top >= value, "{value} above its bucket's top {top}");
        assert!(top - value <= value / 8, "{value} too far below {top}");
        assert!(
            bucket == 0 || bucket_top(bucket - 1) < value,
            "{value} fits the bucket below"
        );
    }
}

#[test]
fn mean_and_maximum_are_exact_and_quantiles_within_an_eighth() {
    let mut histogram = DelayHistogram::default();
    for value in 1..=1_000u64 {
        histogram.record(value * 1_000);
    }
    assert_eq!(
        (histogram.count(), histogram.mean(), histogram.max()),
        (1_000, 500_500, 1_000_000)
    );
    let p95 = histogram.p95();
    assert!((950_000..=950_000 * 9 / 8).contains(&p95), "{p95}");
    assert_eq!(histogram.quantile(1.0), 1_000_000);
}

#[test]
fn zeros_count_and_an_empty_histogram_is_all_zero() {
    let mut histogram = DelayHistogram::default();
    assert_eq!((histogram.mean(), histogram.p95(), histogram.max()), (0, 0, 0));
    for _ in 0..99 {
        histogram.record(0);
    }
    histogram.record(500);
    assert_eq!(
        (histogram.p95(), histogram.quantile(1.0), histogram.mean()),
        (0, 500, 5)
    );
}

#[test]
fn totals_add_up() {
    let mut one = LinkStats {
        sent_packets: 3,
        queue_octets_max: 9,
        ..LinkStats::default()
    };
    one.queue_delay.record(10);
    one.dropped.count(DropCause::QueueFull);
    let mut other = LinkStats {
        sent_packets: 4,
        queue_octets_max: 5,
        ..LinkStats::default()
    };
    other.queue_delay.record(30_000);
    other.dropped.count(DropCause::Down);
    one.add(&other);
    assert_eq!(
        (one.sent_packets, one.queue_octets_max, one.dropped.total()),
        (7, 9, 2)
    );
    assert_eq!(
        (
            one.queue_delay.count(),
            one.queue_delay.max(),
            one.queue_delay.mean()
        ),
        (2, 30_000, 15_005)
    );
}
