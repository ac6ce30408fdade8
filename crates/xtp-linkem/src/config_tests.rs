//! Ranges and what is filled in.

use super::*;

#[test]
fn a_rate_gets_the_customary_queue_and_a_given_one_stays() {
    let mut config = Config::symmetric(Some(1_000_000_000), Duration::from_millis(100));
    config.right_to_left.queue_octets = Some(5_000);
    let [left, right] = config.links().expect("valid");
    assert_eq!(left.queue_octets, Some(12_500_000));
    assert_eq!(right.queue_octets, Some(5_000));
    assert_eq!(left.delay, Duration::from_millis(50));
}

#[test]
fn without_a_rate_there_is_no_queue() {
    let [left, _] = Config::default().links().expect("valid");
    assert_eq!((left.rate_bits_per_s, left.queue_octets), (None, None));
}

#[test]
fn the_queue_is_that_of_both_delays() {
    let mut config = Config::default();
    config.left_to_right.rate_bits_per_s = Some(1_000_000_000);
    config.left_to_right.delay = Duration::from_millis(10);
    config.right_to_left.delay = Duration::from_millis(30);
    let [left, _] = config.links().expect("valid");
    assert_eq!(left.queue_octets, Some(5_000_000));
}

#[test]
fn bad_settings_are_errors() {
    let small = Config {
        mtu: 1_279,
        ..Config::default()
    };
    assert!(matches!(small.links(), Err(Error::Mtu { given: 1_279 })));
    let mut likely = Config::default();
    likely.right_to_left.duplicate = 1.5;
    assert!(matches!(likely.links(), Err(Error::Link(_))));
}
