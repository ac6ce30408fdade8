//! The rings remember at least what they promise, and nothing wrong.

use super::*;

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

#[test]
fn an_unknown_packet_has_no_time() {
    let mut ring = SentRing::new();
    assert_eq!(ring.time_of(0), None);
    ring.record(5, at(1));
    assert_eq!(ring.time_of(4), None);
    assert_eq!(ring.time_of(5), Some(at(1)));
    assert_eq!(ring.time_of(6), None);
}

#[test]
fn trains_do_not_push_out_control_packets_nor_the_other_way_round() {
    let mut ring = SentRing::new();
    // Across the wrap of sync: every 100th packet is a control packet, the others go in trains of 9.
    let start = u32::MAX - 3000;
    let (mut control, mut data) = (Vec::new(), Vec::new());
    for number in 0..10_000u32 {
        let sync = start.wrapping_add(number);
        let now = at(u64::from(number / 9));
        if number % 100 == 0 {
            ring.record(sync, now);
            control.push((sync, now));
        } else {
            ring.record_run(sync, 1, now);
            data.push((sync, now));
        }
        for &(sync, now) in control
            .iter()
            .rev()
            .take(64)
            .chain(data.iter().rev().take(64 * 7))
        {
            assert_eq!(ring.time_of(sync), Some(now));
        }
    }
    assert_eq!(ring.time_of(start), None, "memory is bounded");
}

#[test]
fn a_packet_of_another_ring_between_two_of_a_run_splits_it() {
    let mut ring = SentRing::new();
    ring.record_run(1, 1, at(7));
    ring.record(2, at(8));
    ring.record_run(3, 1, at(9));
    let times: Vec<_> = (0..5).map(|sync| ring.time_of(sync)).collect();
    assert_eq!(times, [None, Some(at(7)), Some(at(8)), Some(at(9)), None]);
}
