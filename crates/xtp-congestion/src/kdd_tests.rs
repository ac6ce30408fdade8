//! The window is the receiver's; the rate follows from it; silence is met with another controller.

use super::*;

const SEGMENT: u32 = 1_000;
const LOST: Lost = Lost {
    octets: 1_000,
    gaps: 1,
};

fn acked(octets: u64) -> Ack {
    Ack {
        now: Time::ZERO,
        echo: 0,
        octets,
        rtt: None,
        srtt: None,
        in_flight_before: octets,
        app_limited: false,
    }
}

#[test]
fn the_rate_is_the_window_over_the_round_trip() {
    let mut kdd = Kdd::new(SEGMENT);
    assert_eq!(kdd.window(), 10_000);
    assert_eq!(kdd.pacing_rate(None), None);
    kdd.set_window(512_000);
    assert_eq!((kdd.window(), kdd.span()), (512_000, Some(512_000)));
    let rate = kdd.pacing_rate(Some(Duration::from_millis(128)));
    assert_eq!(rate, Some(4_000_000), "512 000 octets in 128 ms");
    assert_eq!(kdd.report_after(), Some(64_000));
}

#[test]
fn what_the_receiver_says_holds_between_two_segments_and_the_largest_grant() {
    let mut kdd = Kdd::new(SEGMENT);
    kdd.set_window(0);
    assert_eq!(kdd.window(), 2_000);
    kdd.set_window(u64::MAX);
    assert_eq!(kdd.window(), 1 << 40);
    assert_eq!(kdd.pacing_rate(Some(Duration::from_nanos(1))), Some(u64::MAX));
    kdd.on_loss(Time::ZERO, Time::ZERO, LOST, 1_000);
    kdd.on_ack(acked(1 << 30));
    assert_eq!(
        kdd.window(),
        1 << 40,
        "neither loss nor acknowledgement changes it"
    );
    kdd.on_timeout();
    assert_eq!(kdd.window(), 10_000);
    kdd.set_window(64_000);
    kdd.on_idle(2);
    assert_eq!(kdd.window(), 16_000);
    kdd.on_idle(64);
    assert_eq!(kdd.window(), 10_000);
    kdd.set_window(5_000);
    kdd.set_segment(4_000);
    assert_eq!(kdd.window(), 8_000, "two of the larger segments");
}

#[test]
fn a_receiver_that_ships_nothing_is_met_with_another_controller() {
    let mut kdd = Kdd::new(SEGMENT);
    kdd.on_ack(acked(40_000));
    assert_eq!(kdd.span(), Some(10_000));
    kdd.on_ack(acked(1));
    assert_eq!(kdd.span(), None);
    kdd.on_ack(acked(10_000));
    assert!(kdd.window() > 10_000, "it grows by itself");
    kdd.set_window(30_000);
    assert_eq!(kdd.span(), Some(30_000), "until it is told");
    kdd.on_path_change();
    assert_eq!(kdd.window(), 10_000);
}

#[test]
fn a_loss_nobody_ships_a_window_for_shrinks_it_here() {
    let mut kdd = Kdd::new(SEGMENT);
    kdd.on_loss(Time::from_nanos(2), Time::from_nanos(1), LOST, 10_000);
    assert_eq!(kdd.span(), None);
    assert!(
        kdd.window() < 10_000,
        "the same window would lose the same packet"
    );
    kdd.set_window(30_000);
    kdd.on_loss(Time::from_nanos(4), Time::from_nanos(3), LOST, 10_000);
    assert_eq!((kdd.span(), kdd.window()), (Some(30_000), 30_000));
}
