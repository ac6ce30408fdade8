//! Sums of times against values counted by hand.

use std::time::Duration;

use super::Samples;

#[test]
fn percentiles_are_nearest_ranks() {
    let mut samples = Samples::default();
    assert!(samples.spread().is_none());
    for micros in (1..=100).rev() {
        samples.add(Duration::from_micros(micros));
    }
    let spread = samples.spread().expect("samples");
    assert_eq!((spread.min, spread.max), (1.0, 100.0));
    assert_eq!((spread.p50, spread.p90, spread.p99), (50.0, 90.0, 99.0));
    assert_eq!(spread.avg, 50.5);
}

#[test]
fn one_sample_is_everything() {
    let mut samples = Samples::default();
    samples.add(Duration::from_nanos(1_239));
    let spread = samples.spread().expect("a sample");
    for value in [
        spread.min, spread.avg, spread.p50, spread.p90, spread.p99, spread.max,
    ] {
        assert_eq!(value, 1.24);
    }
}
