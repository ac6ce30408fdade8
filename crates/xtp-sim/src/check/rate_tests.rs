//! The rate checker itself finds what it should.

use super::RateCheck;

#[test]
fn two_bursts_in_a_period_pass_and_an_octet_more_does_not() {
    let mut check = RateCheck::new(1_000_000, 2_000);
    assert!(check.packet(0, 1_000).is_ok());
    assert!(check.packet(1, 1_000).is_ok());
    assert!(check.packet(1_000_000, 1_000).is_ok());
    assert!(check.packet(1_000_001, 1_000).is_ok());
    assert!(check.packet(1_000_002, 1).is_err());
}

#[test]
fn a_burst_and_a_packet_pass_when_the_burst_is_smaller_than_a_packet() {
    let mut check = RateCheck::new(1_000, 10);
    assert!(check.packet(0, 1_000).is_ok());
    assert!(check.packet(1, 11).is_err());
}

#[test]
fn burst_zero_allows_nothing_and_rate_zero_everything() {
    assert!(RateCheck::new(5, 0).packet(0, 1).is_err());
    assert!(RateCheck::new(0, 0).packet(0, 1 << 40).is_ok());
}
