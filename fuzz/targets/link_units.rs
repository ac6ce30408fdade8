//! What people write: rates, times, shares, sizes, and the command line of the relay.
#![no_main]

use std::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use xtp_link::relay::parse_arguments;
use xtp_link::units;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Ok(share) = units::parse_fraction(text) {
        assert!((0.0..=1.0).contains(&share), "{text} is a share of {share}");
    }
    // Space around a number means nothing.
    assert_eq!(
        units::parse_duration(text).ok(),
        units::parse_duration(text.trim()).ok()
    );
    assert_eq!(units::parse_rate(text).ok(), units::parse_rate(text.trim()).ok());
    assert_eq!(
        units::parse_octets(text).ok(),
        units::parse_octets(text.trim()).ok()
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    // A host's name would be looked up: that takes seconds, and asks others.
    let names =
        |pair: &[&str]| matches!(pair[0], "--listen" | "--to") && pair[1].parse::<SocketAddr>().is_err();
    if !words.windows(2).any(names) {
        let _ = parse_arguments(words.into_iter().map(str::to_owned));
    }
});
