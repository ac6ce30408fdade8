//! What a policer lets pass.

use std::time::Duration;

use crate::{DropCause, Link, LinkConfig, Outcome, Policer};

/// One octet a microsecond, bursts of 10 000 octets.
fn policed() -> Link<u32> {
    let config = LinkConfig {
        policer: Some(Policer {
            rate_bits_per_s: 8_000_000,
            burst_octets: 10_000,
        }),
        ..LinkConfig::default()
    };
    Link::new(config, 1).expect("valid")
}

#[test]
fn a_burst_passes_and_the_rest_is_dropped_without_waiting() {
    let mut link = policed();
    let dropped = Outcome::Dropped(DropCause::QueueFull);
    let outcomes: Vec<_> = (0..12).map(|packet| link.send(0, packet, 1_000)).collect();
    assert_eq!(outcomes[..10], [Outcome::Queued; 10]);
    assert_eq!(outcomes[10..], [dropped; 2]);
    assert_eq!(link.next_arrival(), Some(0), "nothing waits");
    // A millisecond fills in what one packet takes.
    assert_eq!(link.send(999_999, 12, 1_000), dropped);
    assert_eq!(link.send(1_000_000, 13, 1_000), Outcome::Queued);
    assert_eq!(link.send(1_000_000, 14, 1_000), dropped);
    // The bucket does not grow beyond its size, however long nothing comes.
    let passed = (0..30).filter(|&packet| link.send(9_000_000_000, packet, 1_000) == Outcome::Queued);
    assert_eq!(passed.count(), 10);
}

#[test]
fn what_passes_in_the_long_run_is_the_rate() {
    let mut link = policed();
    let passed = (0..20_000_u32)
        .filter(|&packet| link.send(u64::from(packet) * 500_000, packet, 1_000) == Outcome::Queued)
        .count();
    assert_eq!(passed, 10_000 + 9, "ten seconds, and the bucket");
}

#[test]
fn a_policer_that_passes_nothing_is_refused() {
    for (rate_bits_per_s, burst_octets) in [(0, 1), (1, 0)] {
        let config = LinkConfig {
            policer: Some(Policer {
                rate_bits_per_s,
                burst_octets,
            }),
            delay: Duration::ZERO,
            ..LinkConfig::default()
        };
        assert!(config.validate().is_err());
    }
}
