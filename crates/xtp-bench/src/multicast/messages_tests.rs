//! What is sent, and by whom.

use std::time::Duration;

use xtp::{BucketOptions, Mode};

use super::party::mode;
use super::{BUCKET, Case, EIGHT, FEW_GROUPS, GROUPS, NAMED, PLAIN, STREAM, path};

#[test]
fn every_way_but_an_association_is_a_mode_of_a_group() {
    for (receivers, ways) in GROUPS.iter().chain(&FEW_GROUPS) {
        assert_eq!(ways.first(), Some(&NAMED), "what the others are compared with");
        for way in ways.iter().filter(|way| **way != STREAM) {
            mode(way).unwrap_or_else(|problem| panic!("{way}: {}", problem.0));
        }
        assert!(*receivers == 1 || !ways.contains(&STREAM));
    }
    let buckets = |way| match mode(way) {
        Ok(Mode::Bucket(options)) => options,
        _ => panic!("{way} has no buckets"),
    };
    assert_eq!(buckets(BUCKET), BucketOptions::default());
    assert_eq!(buckets(EIGHT).buckets, 8);
    assert!(!buckets(PLAIN).slotting && !buckets(PLAIN).damping);
    mode("xtp-else").expect_err("unknown");
}

#[test]
fn small_messages_are_fewer_octets() {
    let case = |size, uplink| Case { size, uplink };
    assert_eq!(case(16, Some(10_000_000)).octets(), 16 * 8_192);
    assert_eq!(case(64 << 10, Some(10_000_000)).octets(), 512 << 10);
    assert_eq!(case(64 << 20, None).octets(), 64 << 20);
    assert_eq!(case(1 << 20, None).limit(), Duration::from_secs(30));
    assert!(case(1 << 20, Some(1_000_000)).limit() > Duration::from_secs(70));
    assert_eq!(path(4, Some(10_000_000)), "1-to-4 10mbit");
    assert_eq!(path(10, None), "1-to-10 max");
}
