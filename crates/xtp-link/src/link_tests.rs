//! One direction of a link, case by case.

use super::*;
use crate::config::Loss;

const MBIT: u64 = 1_000_000;

fn link(config: LinkConfig) -> Link<u64> {
    Link::new(config, 1).expect("valid configuration")
}

fn drain<T>(link: &mut Link<T>, now: u64) -> Vec<Arrival<T>> {
    std::iter::from_fn(|| link.receive(now)).collect()
}

#[test]
fn a_perfect_link_delivers_at_once_and_in_order() {
    let mut link = link(LinkConfig::default());
    for packet in 0..5 {
        assert_eq!(link.send(10, packet, 100), Outcome::Queued);
    }
    let arrived = drain(&mut link, 10);
    assert_eq!(
        arrived.iter().map(|arrival| arrival.packet).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4]
    );
    assert!(
        arrived
            .iter()
            .all(|arrival| arrival.at == 10 && arrival.corrupted_bits.is_empty() && !arrival.ce)
    );
}

#[test]
fn the_rate_is_exact_over_many_packets_of_awkward_length() {
    let rate = 7 * MBIT + 3;
    let mut link = link(LinkConfig {
        rate_bits_per_s: Some(rate),
        overhead_octets: 28,
        ..Default::default()
    });
    let mut octets = 0u64;
    for packet in 0..10_000 {
        let length = 1 + (packet % 1_400) as usize;
        octets += length as u64 + 28;
        link.send(0, packet, length);
    }
    let last = drain(&mut link, u64::MAX).last().map(|arrival| arrival.at);
    assert_eq!(
        last,
        Some(u64::try_from(u128::from(octets) * 8_000_000_000 / u128::from(rate)).expect("fits"))
    );
}

#[test]
fn an_idle_link_starts_afresh() {
    let mut link = link(LinkConfig {
        rate_bits_per_s: Some(8 * MBIT),
        ..Default::default()
    });
    link.send(0, 0, 1_000);
    link.send(5_000_000, 1, 1_000);
    let at: Vec<u64> = drain(&mut link, u64::MAX)
        .iter()
        .map(|arrival| arrival.at)
        .collect();
    assert_eq!(at, [1_000_000, 6_000_000]);
    assert_eq!(link.stats().queue_delay.max(), 0);
}

#[test]
fn the_queue_drops_its_tail_and_an_idle_link_takes_any_packet() {
    let config = LinkConfig {
        rate_bits_per_s: Some(8 * MBIT),
        queue_octets: Some(2_500),
        ..Default::default()
    };
    let mut link = link(config);
    let full = Outcome::Dropped(DropCause::QueueFull);
    assert_eq!(link.send(0, 0, 1_000), Outcome::Queued);
    assert_eq!(link.send(0, 1, 1_000), Outcome::Queued);
    assert_eq!(link.send(0, 2, 1_000), full);
    assert_eq!(link.send(0, 3, 500), Outcome::Queued);
    assert_eq!(link.queued_octets(999_999), 2_500);
    assert_eq!(link.send(1_000_000, 4, 1_000), Outcome::Queued);
    assert_eq!(link.queued_octets(u64::MAX), 0);
    assert_eq!(link.send(100_000_000, 5, 9_000), Outcome::Queued);
    assert_eq!(
        (link.stats().dropped.queue_full, link.stats().queue_octets_max),
        (1, 9_000)
    );
}

#[test]
fn packets_behind_a_queue_are_marked_instead() {
    let config = LinkConfig {
        rate_bits_per_s: Some(8 * MBIT),
        ecn_mark_threshold: Some(2_000),
        ..Default::default()
    };
    let mut link = link(config);
    for packet in 0..4 {
        link.send(0, packet, 1_000);
    }
    let marks: Vec<bool> = drain(&mut link, u64::MAX)
        .iter()
        .map(|arrival| arrival.ce)
        .collect();
    assert_eq!(marks, [false, false, true, true]);
    assert_eq!(link.stats().ce_marked, 2);
}

#[test]
fn a_packet_above_the_mtu_is_dropped() {
    let mut link = link(LinkConfig {
        mtu: Some(1_400),
        overhead_octets: 28,
        ..Default::default()
    });
    assert_eq!(link.send(0, 0, 1_400), Outcome::Queued);
    assert_eq!(link.send(0, 1, 1_401), Outcome::Dropped(DropCause::TooLarge));
}

#[test]
fn a_link_that_goes_down_keeps_what_is_under_way_unless_cleared() {
    let mut link = link(LinkConfig {
        delay: Duration::from_millis(1),
        ..Default::default()
    });
    link.send(0, 0, 10);
    link.set_up(false);
    assert_eq!(link.send(0, 1, 10), Outcome::Dropped(DropCause::Down));
    assert_eq!(drain(&mut link, 1_000_000).len(), 1);
    link.set_up(true);
    link.send(2_000_000, 2, 10);
    assert_eq!(link.clear(), 1);
    assert_eq!(
        (link.next_arrival(), link.in_flight(), link.stats().dropped.down),
        (None, 0, 2)
    );
}

#[test]
fn a_duplicate_arrives_twice() {
    let mut link = link(LinkConfig {
        duplicate: 1.0,
        ..Default::default()
    });
    assert_eq!(link.send(0, 7, 10), Outcome::Duplicated);
    assert_eq!(
        drain(&mut link, 0)
            .iter()
            .map(|arrival| arrival.packet)
            .collect::<Vec<_>>(),
        [7, 7]
    );
    assert_eq!((link.stats().duplicated, link.stats().reordered), (1, 0));
}

#[test]
fn a_packet_held_back_is_overtaken_and_counted() {
    let hold = LinkConfig {
        reorder: 1.0,
        reorder_delay: Duration::from_millis(5),
        ..Default::default()
    };
    let mut link = link(hold);
    link.send(0, 0, 10);
    link.set_config(LinkConfig::default())
        .expect("valid configuration");
    link.send(0, 1, 10);
    let arrived: Vec<_> = drain(&mut link, u64::MAX)
        .iter()
        .map(|arrival| (arrival.packet, arrival.at))
        .collect();
    assert_eq!(arrived, [(1, 0), (0, 5_000_000)]);
    assert_eq!(link.stats().reordered, 1);
}

#[test]
fn corruption_flips_one_to_three_different_bits_inside_the_packet() {
    let mut link = link(LinkConfig {
        corrupt: 1.0,
        ..Default::default()
    });
    let mut counts = [0; 4];
    for packet in 0..2_000 {
        link.send(0, packet, 4);
    }
    for arrival in drain(&mut link, 0) {
        let mut octets = [0u8; 4];
        flip_bits(&mut octets, &arrival.corrupted_bits);
        let flipped = octets.iter().map(|octet| octet.count_ones()).sum::<u32>() as usize;
        assert_eq!(flipped, arrival.corrupted_bits.len());
        counts[flipped] += 1;
    }
    assert_eq!(counts[0], 0);
    assert!(counts[1..].iter().all(|&count| count > 500), "{counts:?}");
    assert_eq!(link.stats().corrupted, 2_000);
}

#[test]
fn bit_errors_come_at_their_rate_and_all_over_the_packet() {
    let rate = 1e-4;
    let mut link = link(LinkConfig {
        bit_error_rate: rate,
        ..Default::default()
    });
    let (packets, bits) = (10_000u64, 12_000u64);
    let (mut flips, mut first_half) = (0u64, 0u64);
    for packet in 0..packets {
        link.send(0, packet, bits as usize / 8);
        let arrival = link.receive(0).expect("no delay");
        assert!(arrival.corrupted_bits.is_sorted_by(|one, next| one < next));
        flips += arrival.corrupted_bits.len() as u64;
        first_half += arrival
            .corrupted_bits
            .iter()
            .filter(|&&bit| u64::from(bit) < bits / 2)
            .count() as u64;
    }
    // 12 000 expected; four standard deviations are 440, and of half of them 310.
    assert!((11_560..=12_440).contains(&flips), "{flips}");
    assert!((5_690..=6_310).contains(&first_half), "{first_half}");
    link.set_config(LinkConfig {
        bit_error_rate: 1.0,
        ..Default::default()
    })
    .expect("valid configuration");
    link.send(0, 0, 3);
    assert_eq!(
        link.receive(0).map(|arrival| arrival.corrupted_bits.len()),
        Some(24)
    );
}

#[test]
fn flips_behind_the_end_are_ignored_and_an_empty_packet_has_none() {
    let mut octets = [0u8; 2];
    flip_bits(&mut octets, &[0, 9, 16, u32::MAX]);
    assert_eq!(octets, [0b1, 0b10]);
    let mut link = link(LinkConfig {
        corrupt: 1.0,
        bit_error_rate: 1.0,
        ..Default::default()
    });
    link.send(0, 0, 0);
    assert_eq!(
        link.receive(0).map(|arrival| arrival.corrupted_bits.len()),
        Some(0)
    );
}

#[test]
fn random_loss_comes_at_its_rate() {
    let mut link = link(LinkConfig {
        loss: Loss::Random(0.05),
        ..Default::default()
    });
    for packet in 0..100_000 {
        link.send(0, packet, 10);
    }
    // 5 000 expected; four standard deviations are 276.
    let lost = link.stats().dropped.loss;
    assert!((4_724..=5_276).contains(&lost), "{lost}");
}

#[test]
fn gilbert_elliott_loses_in_bursts_of_the_mean_length_it_should() {
    let loss = Loss::GilbertElliott {
        p_good_to_bad: 0.01,
        p_bad_to_good: 0.2,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    let mut link = link(LinkConfig {
        loss,
        ..Default::default()
    });
    let (mut bursts, mut lost, mut before) = (0u32, 0u32, false);
    for packet in 0..200_000 {
        let now = link.send(0, packet, 10) == Outcome::Dropped(DropCause::Loss);
        lost += u32::from(now);
        bursts += u32::from(now && !before);
        before = now;
    }
    // Mean burst 1/0.2 = 5 packets; share of time bad 0.01 / 0.21 = 4.76 %.
    let mean_burst = f64::from(lost) / f64::from(bursts);
    assert!((4.6..=5.4).contains(&mean_burst), "{mean_burst}");
    assert!((8_600..=10_450).contains(&lost), "{lost}");
}

#[test]
fn loss_of_a_packet_does_not_depend_on_the_other_settings() {
    let lossy = LinkConfig {
        loss: Loss::Random(0.3),
        ..Default::default()
    };
    let busy = LinkConfig {
        jitter: Duration::from_millis(9),
        duplicate: 0.2,
        reorder: 0.3,
        corrupt: 0.4,
        bit_error_rate: 0.001,
        rate_bits_per_s: Some(MBIT),
        ..lossy.clone()
    };
    let (mut plain, mut busy) = (link(lossy), link(busy));
    for packet in 0..1_000 {
        let lost = Outcome::Dropped(DropCause::Loss);
        assert_eq!(
            plain.send(0, packet, 100) == lost,
            busy.send(0, packet, 100) == lost
        );
    }
}

#[test]
fn an_invalid_change_leaves_the_old_configuration() {
    let mut link = link(LinkConfig::default());
    assert!(
        link.set_config(LinkConfig {
            reorder: 3.0,
            ..Default::default()
        })
        .is_err()
    );
    assert_eq!(link.config(), &LinkConfig::default());
    assert!(
        Link::<()>::new(
            LinkConfig {
                mtu: Some(0),
                ..Default::default()
            },
            1
        )
        .is_err()
    );
}

#[test]
fn a_new_rate_holds_for_the_packets_sent_after_it() {
    let mut link = link(LinkConfig {
        rate_bits_per_s: Some(8 * MBIT),
        ..Default::default()
    });
    link.send(0, 0, 1_000);
    link.set_config(LinkConfig {
        rate_bits_per_s: Some(80 * MBIT),
        ..Default::default()
    })
    .expect("valid");
    link.send(0, 1, 1_000);
    link.set_config(LinkConfig::default()).expect("valid");
    link.send(0, 2, 1_000);
    let at: Vec<u64> = drain(&mut link, u64::MAX)
        .iter()
        .map(|arrival| arrival.at)
        .collect();
    assert_eq!(at, [1_000_000, 1_100_000, 1_100_000]);
}
