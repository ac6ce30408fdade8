//! Durations, rates and sizes: what is understood and what is not.

use std::time::Duration;

use super::{duration, rate, size};

#[test]
fn durations_have_units_or_are_seconds() {
    for (text, millis) in [
        ("5", 5_000),
        ("0.25", 250),
        ("300ms", 300),
        ("5s", 5_000),
        ("2m", 120_000),
        ("1h", 3_600_000),
        ("0", 0),
    ] {
        assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
    }
    assert_eq!(duration("70us"), Ok(Duration::from_micros(70)));
    for text in ["", "s", "-1", "5 parsecs", "1e400", "999999999999999999999h", "."] {
        assert!(duration(text).is_err(), "{text}");
    }
    // What is understood can be added to any moment.
    let longest = duration("4379000h").expect("some 500 years");
    assert!(std::time::Instant::now().checked_add(2 * longest).is_some());
    let refused = duration("4400000h").expect_err("more");
    assert!(refused.ends_with("at most 500 years"), "{refused}");
    assert!(duration("18000000000000000000s").is_err());
}

#[test]
fn rates_are_octets_a_second() {
    for (text, octets) in [
        ("8bit", 1),
        ("10mbit", 1_250_000),
        ("10Mbit/s", 1_250_000),
        ("1gbit", 125_000_000),
        ("500kbit", 62_500),
        ("5MB", 5_000_000),
        ("5MB/s", 5_000_000),
        ("512KiB", 524_288),
        ("1000byte", 1_000),
    ] {
        assert_eq!(rate(text), Ok(octets), "{text}");
    }
    for text in [
        "0",
        "0bit",
        "fast",
        "",
        "-5MB",
        "1bit",
        "10mbps",
        "10Mb",
        "10",
        "10 parsecs",
        "1e30",
    ] {
        assert!(rate(text).is_err(), "{text}");
    }
}

#[test]
fn sizes_are_octets() {
    assert_eq!(size("0"), Ok(0));
    assert_eq!(size("1400"), Ok(1_400));
    assert_eq!(size("64KiB"), Ok(65_536));
    assert_eq!(size("5MB"), Ok(5_000_000));
    assert_eq!(size("1.5k"), Ok(1_500));
    for text in ["", "5 trees", "99999999999GiB", "-1"] {
        assert!(size(text).is_err(), "{text}");
    }
}
