//! Tests of which losses are chance.

use super::*;

const PACKET: u64 = 1_000;

/// So many packets of a probe and otherwise, of which so many were lost.
fn after(probes: (u64, u64), otherwise: (u64, u64)) -> Losses {
    let mut losses = Losses::new(PACKET);
    losses.note(probes.0 * PACKET, probes.1 * PACKET, true);
    losses.note(otherwise.0 * PACKET, otherwise.1 * PACKET, false);
    losses
}

#[test]
fn what_is_lost_at_any_rate_is_chance() {
    let losses = after((200, 10), (400, 20));
    assert!(losses.are_chance());
    assert_eq!(losses.of_chance(100 * PACKET), 5 * PACKET);
    assert_eq!(after((200, 16), (400, 20)).of_chance(100 * PACKET), 5 * PACKET);
}

#[test]
fn what_is_lost_where_more_is_sent_is_not() {
    for probes in [15, 40, 128] {
        let losses = after((200, probes), (400, 0));
        assert!(!losses.are_even() && !losses.are_chance(), "{probes} of 200");
        assert_eq!(losses.of_chance(100 * PACKET), 0);
    }
}

#[test]
fn heavy_loss_is_not_and_little_tells_nothing() {
    let heavy = after((200, 18), (400, 36));
    assert!(heavy.are_even() && !heavy.are_chance(), "one in eleven");
    assert!(!after((127, 0), (400, 0)).are_chance());
    assert!(!after((200, 0), (127, 0)).are_chance());
    assert!(after((128, 0), (128, 0)).are_chance());
}

#[test]
fn a_queue_that_begins_to_overflow_is_seen_in_its_first_probe() {
    let mut losses = Losses::new(PACKET);
    for _ in 0..100 {
        losses.note(100 * PACKET, 5 * PACKET, true);
        losses.note(100 * PACKET, 5 * PACKET, false);
    }
    assert!(losses.are_chance());
    losses.note(150 * PACKET, 36 * PACKET, true);
    assert!(!losses.are_chance());
}
