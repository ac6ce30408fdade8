//! What is said of an association.

use std::time::Duration;

use super::*;

#[test]
fn losses_and_the_round_trip_are_named_where_there_are_any() {
    let mut stats = ContextStats::default();
    stats.packets_sent = 3;
    stats.octets_sent = 100;
    assert_eq!(
        counts(&stats),
        "100 octets in 3 packets sent, 0 octets in 0 packets received"
    );
    stats.packets_lost = 2;
    stats.octets_retransmitted = 50;
    stats.rtt = Some(Duration::from_millis(12));
    assert!(counts(&stats).ends_with(", 2 packets lost, 50 octets sent again, round trip 12ms"));
}
