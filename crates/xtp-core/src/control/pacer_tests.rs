//! Tests of the pacer.

use proptest::prelude::*;

use super::*;

#[test]
fn unpaced_is_unlimited() {
    let mut pacer = Pacer::default();
    assert_eq!(pacer.budget(Time::ZERO), u64::MAX);
    pacer.take(u64::MAX);
    assert_eq!(pacer.ready_at(Time::ZERO, None), None);
}

#[test]
fn burst_is_ten_packets_or_a_millisecond() {
    let mut pacer = Pacer::default();
    pacer.set(Some(1_000_000), 12_000, None);
    assert_eq!(pacer.available(), 12_000);
    pacer.set(None, 12_000, None);
    pacer.set(Some(1_000_000_000), 12_000, None);
    assert_eq!(pacer.available(), 1_000_000);
}

#[test]
fn a_full_burst_then_the_rate() {
    let now = Time::from_nanos(7_000_000_000);
    let mut pacer = Pacer::default();
    pacer.set(Some(1_000_000), 12_000, None);
    assert_eq!(pacer.budget(now), 12_000);
    pacer.take(12_000);
    assert_eq!(pacer.budget(now), 0);
    // A quarter of a millisecond's worth is waited for, 250 octets here.
    let ready = pacer.ready_at(now, None).unwrap();
    assert_eq!(ready, now + Duration::from_nanos(250_001));
    assert_eq!(pacer.budget(ready), 251);
    assert_eq!(pacer.ready_at(ready, None), None);
    assert_eq!(pacer.budget(now + Duration::from_secs(60)), 12_000);
}

#[test]
fn on_long_paths_a_wake_up_is_for_more() {
    let now = Time::from_nanos(7_000_000_000);
    let wait = |millis| {
        let mut pacer = Pacer::default();
        let rtt = Some(Duration::from_millis(millis));
        pacer.set(Some(100_000_000), 12_000, rtt);
        let all = pacer.budget(now);
        pacer.take(all);
        (all, pacer.ready_at(now, rtt).unwrap().since(now).as_micros())
    };
    assert_eq!(wait(1), (100_000, 250));
    assert_eq!(wait(32), (100_000, 500));
    assert_eq!(wait(48), (150_000, 750));
    assert_eq!(wait(400), (200_000, 1_000));
}

#[test]
fn a_late_wake_up_is_made_up_for_and_idleness_is_not() {
    let now = Time::from_nanos(7_000_000_000);
    let late = now + Duration::from_millis(4);
    let empty = || {
        let mut pacer = Pacer::default();
        pacer.set(Some(100_000_000), 12_000, None);
        let all = pacer.budget(now);
        pacer.take(all);
        assert_eq!(pacer.budget(now), 0);
        pacer
    };
    let mut waiting = empty();
    let ready = waiting.ready_at(now, None).unwrap();
    waiting.wait(Some(ready));
    assert_eq!(waiting.budget(late), 400_000, "four milliseconds' worth");
    let mut idle = empty();
    assert_eq!(idle.budget(late), 100_000, "a millisecond's");
    let mut very_late = empty();
    very_late.wait(Some(ready));
    assert_eq!(
        very_late.budget(now + Duration::from_secs(1)),
        600_000,
        "six, whatever the delay"
    );
    very_late.take(600_000);
    very_late.wait(None);
    assert_eq!(very_late.budget(now + Duration::from_secs(2)), 100_000);
}

#[test]
fn lowering_the_burst_takes_credit_away_and_off_gives_it_back() {
    let mut pacer = Pacer::default();
    pacer.set(Some(1_000), 50_000, None);
    pacer.set(Some(1_000), 2_000, None);
    assert_eq!(pacer.budget(Time::ZERO), 2_000);
    pacer.take(9_000);
    pacer.set(None, 2_000, None);
    assert_eq!(pacer.budget(Time::ZERO), u64::MAX);
    pacer.set(Some(0), 0, None);
    assert_eq!(pacer.budget(Time::ZERO), 1);
    pacer.take(3);
    assert_eq!(
        pacer.ready_at(Time::ZERO, None),
        Some(Time::from_nanos(2_000_250_001))
    );
}

#[test]
fn extremes_do_not_overflow() {
    let mut pacer = Pacer::default();
    pacer.set(Some(u64::MAX), u64::MAX, None);
    assert_eq!(pacer.budget(Time::NEVER), u64::MAX);
    assert_eq!(pacer.budget(Time::ZERO), u64::MAX);
    pacer.take(u64::MAX);
    pacer.take(u64::MAX);
    assert!(pacer.ready_at(Time::NEVER, None).is_some());
}

proptest! {
    #[test]
    fn long_run_rate(rate in 10_000u64..10_000_000_000, packet in 100u64..9_000) {
        let mut pacer = Pacer::default();
        let burst = (10 * packet).max(rate / 1_000);
        pacer.set(Some(rate), 10 * packet, None);
        // Enough for 40 bursts at the least.
        let until = Time::from_nanos(burst * 40 * 1_000_000_000 / rate);
        let (mut now, mut sent, mut wakes) = (Time::ZERO, 0u64, 0u64);
        while now < until {
            while pacer.budget(now) > 0 {
                pacer.take(packet);
                sent += packet;
            }
            let next = pacer.ready_at(now, None).unwrap();
            prop_assert!(next > now);
            now = next;
            wakes += 1;
        }
        let ideal = 40 * burst;
        prop_assert!(sent + 3 * packet >= ideal && sent <= ideal + 2 * burst, "{sent} of {ideal}");
        // Waking is bounded by the quantum or, below one packet a quantum, by the packets.
        prop_assert!(wakes <= sent / packet + 2 && wakes <= until.as_nanos() / 250_000 + 2);
    }
}
