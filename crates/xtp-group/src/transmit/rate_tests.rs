//! Tests of how fast a group is served.

use super::super::bridge::{Bridge, Way};
use super::*;
use crate::Slow;

const FIFTY_MBIT: u64 = 50_000_000 / 8;

fn options(members: u32) -> TransmitterOptions {
    TransmitterOptions {
        expect: Some(members),
        ..TransmitterOptions::default()
    }
}

fn measure(way: Way, members: u8, octets: usize) -> f64 {
    let floor = (octets as f64 / 1_416.0) * (1_416.0 + 32.0 + 42.0) / way.rate as f64;
    let mut bridge = Bridge::new(way, options(members.into()), members, octets);
    let took = bridge.run(Duration::from_secs(60));
    assert!(bridge.octets().iter().all(|have| *have == octets as u64));
    took.as_secs_f64() / floor
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn a_narrow_uplink_is_filled_without_a_rate() {
    let times = measure(Way::of(FIFTY_MBIT, 16 << 20), 4, 16 << 20);
    assert!(times < 1.05, "{times}");
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn loss_of_one_in_a_hundred_slows_nobody_down() {
    let way = Way {
        loss: 10,
        ..Way::of(FIFTY_MBIT, 16 << 20)
    };
    let times = measure(way, 10, 16 << 20);
    assert!(times < 1.10, "{times}");
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn ten_receivers_of_twelve_thousand_packets_say_little() {
    for (loss, most) in [(0, 130), (10, 210), (50, 260)] {
        let way = Way {
            loss,
            ..Way::of(FIFTY_MBIT, 16 << 20)
        };
        let mut bridge = Bridge::new(way, options(10), 10, 16 << 20);
        bridge.run(Duration::from_secs(60));
        let feedback = bridge.feedback;
        assert!(feedback <= most, "{feedback} packets at {loss} of 1 000 lost");
    }
}

/// 0.5 MB at 10 Mbit/s, with whatever queue builds up: what follows the last octet takes little beside it. An association takes 0.43 s
/// where a round trip is 10 ms, so 1.2 times that; each way of 10 ms instead of 5 adds its round trips to the beginning and the end.
#[test]
fn a_short_stream_to_one_receiver_takes_little_longer_than_an_association() {
    for (delay, most) in [(5, 516), (10, 540)] {
        let way = Way {
            delay: Duration::from_millis(delay),
            ..Way::of(10_000_000 / 8, 1 << 20)
        };
        let mut bridge = Bridge::new(way, options(1), 1, 500_000);
        let took = bridge.run(Duration::from_secs(60));
        assert!(took <= Duration::from_millis(most), "{delay} ms: {took:?}");
    }
}

/// Ten gigabits a second: whatever keeps the group back is no network.
fn wide(slow: (Duration, Duration)) -> Way {
    Way {
        slow,
        ..Way::of(10_000_000_000 / 8, 16 << 20)
    }
}

#[test]
#[cfg_attr(miri, ignore = "so many packets take hours")]
fn a_host_that_was_slow_is_no_slow_path() {
    // A train of 16 packets in a millisecond is 23 MB a second.
    let slow = (Duration::from_millis(200), Duration::from_millis(1));
    let mut bridge = Bridge::new(wide(slow), options(4), 4, 64 << 20);
    let took = bridge.run(Duration::from_secs(60));
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[test]
#[cfg_attr(miri, ignore = "so many packets take hours")]
fn who_is_served_fast_is_asked_after_each_mebibyte() {
    let mut bridge = Bridge::new(wide((Duration::ZERO, Duration::ZERO)), options(1), 1, 64 << 20);
    let took = bridge.run(Duration::from_secs(60));
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(bridge.feedback >= 64, "{}", bridge.feedback);
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn marks_of_congestion_keep_the_queue_short() {
    let way = || Way {
        marked_above: 40 << 10,
        ..Way::of(FIFTY_MBIT, 16 << 20)
    };
    let play = |options: TransmitterOptions| {
        let mut bridge = Bridge::new(way(), options, 10, 16 << 20);
        let took = bridge.run(Duration::from_secs(60));
        (bridge, took)
    };
    let (deaf, _) = play(TransmitterOptions {
        ecn: false,
        ..options(10)
    });
    assert_eq!((deaf.able, deaf.marked), (0, 0));
    let (mut bridge, took) = play(options(10));
    let stats = bridge.stats();
    let of_stream = stats.data_packets + stats.repair_packets;
    assert_eq!(
        bridge.able, of_stream,
        "data and rows are marked, and nothing else is"
    );
    assert!(
        stats.ce_reported > 0 && stats.ce_reported <= bridge.marked,
        "{stats:?}"
    );
    assert!(took < Duration::from_millis(2_960), "{took:?}");
    let (long, short) = (deaf.longest_queue, bridge.longest_queue);
    assert!(2 * short < long, "{short:?} with marks, {long:?} without");
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn who_reports_needs_tells_of_marks_too() {
    let way = Way {
        loss: 50,
        marked_above: 40 << 10,
        ..Way::of(FIFTY_MBIT, 16 << 20)
    };
    let mut bridge = Bridge::new(way, options(10), 10, 16 << 20);
    bridge.run(Duration::from_secs(60));
    let reported = bridge.stats().ce_reported;
    assert!(2 * reported > bridge.marked, "{reported} of {}", bridge.marked);
}

/// What a queue of so many octets throws away while so many of a thousand are lost besides, and how long it takes.
fn overflow(queue: u64, loss: u32) -> (u64, Duration) {
    let way = Way {
        loss,
        ..Way::of(FIFTY_MBIT, queue)
    };
    let waits = TransmitterOptions {
        slow: Slow::Wait,
        ..options(10)
    };
    let mut bridge = Bridge::new(way, waits, 10, 16 << 20);
    let took = bridge.run(Duration::from_secs(60));
    assert!(bridge.octets().iter().all(|have| *have == 16 << 20));
    (bridge.dropped, took)
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn a_short_queue_that_overflows_is_seen_and_slows_the_group_down() {
    // Which packets overflow is chance: of eight queues within a third of one another one takes a tenth or two of a second longer than the others.
    for (kibioctets, loss, most, longest) in [
        (16, 0, 600, 3_000),
        (32, 0, 500, 3_200),
        (32, 10, 500, 3_150),
        (64, 20, 2_000, 3_150),
        (100, 0, 600, 2_950),
        (32, 50, 600, 3_600),
    ] {
        let (dropped, took) = overflow(kibioctets << 10, loss);
        assert!(
            dropped <= most && took < Duration::from_millis(longest),
            "{kibioctets} KiB and {loss} of 1 000 lost: {dropped} dropped, {took:?}"
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn loss_of_one_in_twenty_costs_little_more_than_its_repair() {
    let way = Way {
        loss: 50,
        ..Way::of(FIFTY_MBIT, 16 << 20)
    };
    let mut bridge = Bridge::new(way, options(10), 10, 16 << 20);
    let took = bridge.run(Duration::from_secs(60));
    let stats = bridge.stats();
    let times = (stats.data_packets + stats.repair_packets) as f64 / stats.data_packets as f64;
    assert!(times < 1.12, "{times}");
    assert!(took < Duration::from_millis(3_450), "{took:?}");
}

/// The uplink lets 32 KiB pass at once after a pause, which is half of what it carries while the model measures at first.
#[test]
#[cfg_attr(miri, ignore = "half a minute of packets takes hours")]
fn a_bucket_at_the_uplink_is_no_bandwidth() {
    let way = Way {
        loss: 50,
        bucket: 32 << 10,
        ..Way::of(FIFTY_MBIT, 16 << 20)
    };
    let mut bridge = Bridge::new(way, options(10), 10, 16 << 20);
    let took = bridge.run(Duration::from_secs(60));
    let longest = bridge.longest_queue;
    assert!(took < Duration::from_millis(3_450), "{took:?}");
    assert!(longest < Duration::from_millis(300), "{longest:?}");
}

/// One packet in twenty is lost, those by which a receiver joins, too; nothing leaves before all are there.
#[test]
#[cfg_attr(miri, ignore = "thousands of packets take hours")]
fn a_lost_step_of_joining_keeps_nobody_waiting_for_long() {
    for receivers in 5..=16 {
        let way = Way {
            loss: 50,
            ..Way::of(FIFTY_MBIT, 16 << 20)
        };
        let mut bridge = Bridge::new(way, options(receivers.into()), receivers, 64 << 10);
        let began = bridge.now;
        bridge.run(Duration::from_secs(60));
        let took = bridge.completed().expect("all are whole").since(began);
        assert!(took < Duration::from_millis(250), "{receivers}: {took:?}");
    }
}

/// The host whose reports drive the rate is gone in silence: another one is asked, and its reports drive it from then on.
#[test]
#[cfg_attr(miri, ignore = "seconds of packets take hours")]
fn a_pacemaker_that_is_gone_costs_the_others_little() {
    let last = |off: Option<u32>| {
        let mut bridge = Bridge::new(Way::of(FIFTY_MBIT, 16 << 20), options(4), 4, 8 << 20);
        let began = bridge.now;
        // The first that joined is the pacemaker, and all are alike.
        bridge.off = off.map(|millis| (0, began + Duration::from_millis(millis.into())));
        bridge.run(Duration::from_secs(60));
        bridge.completed().expect("all others are whole").since(began)
    };
    let usual = last(None);
    for millis in [300, 333, 700, 1_000] {
        let took = last(Some(millis));
        assert!(
            took <= usual + Duration::from_millis(60),
            "{millis}: {took:?} instead of {usual:?}"
        );
    }
}

/// The member whose reports drive the rate answers every question, and none of the stream comes to it: the rate falls until that member
/// holds the window no more. What it was found to carry is its own, and the others are served as before.
#[test]
#[cfg_attr(miri, ignore = "seconds of packets take hours")]
fn what_was_found_of_a_member_that_holds_no_more_is_not_the_others() {
    let last = |(rate, octets, window): (u64, usize, u64), deaf: Option<u32>| {
        let way = Way {
            delay: Duration::from_millis(5),
            ..Way::of(rate, 16 << 20)
        };
        let patient = TransmitterOptions {
            patience: Duration::from_secs(2),
            window,
            ..options(4)
        };
        let mut bridge = Bridge::new(way, patient, 4, octets);
        let began = bridge.now;
        bridge.deaf = deaf.map(|millis| (0, began + Duration::from_millis(millis.into())));
        bridge.run(Duration::from_secs(600));
        bridge.completed().expect("all others are whole").since(began)
    };
    // Half a window is behind soon, or late; and a window that holds everything is never behind.
    let groups = [
        (500_000, 800_000, 8 << 20),
        (5_000_000, 4_000_000, 8 << 20),
        (500_000, 400_000, 200_000),
    ];
    for group in groups {
        let usual = last(group, None);
        for millis in [50, 120, 300] {
            let took = last(group, Some(millis));
            assert!(
                took <= usual + Duration::from_millis(450),
                "{group:?}, {millis}: {took:?} instead of {usual:?}"
            );
        }
    }
}

/// Nothing left for seconds. Of the first packets who is further away has reported fewer, which says nothing about what the path
/// carries; of the same stretch later it does.
#[test]
fn who_is_further_away_is_no_slower_after_a_pause() {
    let at = |millis: u64| Time::from_nanos(millis * 1_000_000);
    let mut rate = RateControl::new(&TransmitterOptions::default(), 1_168, 1, at(0));
    rate.took(1_200, (1, 1_200), at(0));
    for step in 0..50 {
        let (octets, millis) = ((step + 2) * 1_200, 3_000 + step * 10);
        rate.took(1_200, (step as u32 + 2, octets), at(millis));
        rate.pacemaker.received.note(120_000, octets, at(millis));
    }
    let far = |received: u64| Member {
        rate: received,
        ..Member::new(1, at(0), Some(Duration::from_millis(30)))
    };
    let less = |received: u64, before: u64| rate.receives_less(&far(received), at(before), at(3_500));
    assert!(
        !less(60_000, 3_000),
        "its stretch began when nothing had come to it"
    );
    assert!(!less(60_000, 3_029), "nor then");
    assert!(
        less(60_000, 3_030),
        "half of what the pacemaker received of the same"
    );
    assert!(!less(100_000, 3_030), "five in six");
}
