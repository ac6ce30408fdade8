//! What holds for every link, every seed and every sequence of calls.

use proptest::prelude::*;

use super::*;
use crate::config::{Loss, Policer};

fn loss() -> impl Strategy<Value = Loss> {
    let p = || 0.0..=1.0f64;
    prop_oneof![
        Just(Loss::None),
        p().prop_map(Loss::Random),
        (p(), p(), p(), p()).prop_map(|(p_good_to_bad, p_bad_to_good, loss_good, loss_bad)| {
            Loss::GilbertElliott {
                p_good_to_bad,
                p_bad_to_good,
                loss_good,
                loss_bad,
            }
        }),
    ]
}

prop_compose! {
    fn config()(
        rate_bits_per_s in prop::option::of(100_000u64..10_000_000_000),
        times in prop::array::uniform3(0u64..5_000_000),
        loss in loss(),
        chances in prop::array::uniform3(0.0..=1.0f64),
        bit_error_rate in prop_oneof![Just(0.0), 0.0..0.01f64],
        queue_octets in prop::option::of(1usize..100_000),
        overhead_octets in 0usize..64,
        mtu in prop::option::of(500usize..1_500),
        ecn_mark_threshold in prop::option::of(0usize..50_000),
        in_order in any::<bool>(),
        policer in prop::option::of((100_000u64..10_000_000_000, 1usize..100_000)),
    ) -> LinkConfig {
        let [delay, jitter, reorder_delay] = times.map(Duration::from_nanos);
        let [duplicate, reorder, corrupt] = chances;
        let policer = policer.map(|(rate_bits_per_s, burst_octets)| Policer { rate_bits_per_s, burst_octets });
        LinkConfig {
            rate_bits_per_s, delay, jitter, loss, bit_error_rate, duplicate, reorder, reorder_delay, corrupt,
            queue_octets, overhead_octets, mtu, ecn_mark_threshold, in_order, policer,
        }
    }
}

/// Packets as (time since the one before, octets).
fn packets() -> impl Strategy<Value = Vec<(u64, usize)>> {
    prop::collection::vec((0u64..200_000, 0usize..1_600), 1..200)
}

/// Everything observable about a run that sends `packets` and receives whenever something is due.
fn trace(
    config: &LinkConfig,
    seed: u64,
    packets: &[(u64, usize)],
) -> (Vec<Outcome>, Vec<Arrival<usize>>, LinkStats) {
    let mut link = Link::new(config.clone(), seed).expect("valid configuration");
    let (mut outcomes, mut arrivals) = (Vec::new(), Vec::new());
    let mut now = 0;
    for (index, &(gap, octets)) in packets.iter().enumerate() {
        now += gap;
        arrivals.extend(std::iter::from_fn(|| link.receive(now)));
        outcomes.push(link.send(now, index, octets));
    }
    while let Some(at) = link.next_arrival() {
        arrivals.extend(link.receive(at));
    }
    (outcomes, arrivals, link.stats().clone())
}

proptest! {
    #[test]
    fn every_packet_is_delivered_dropped_or_under_way(
        config in config(), seed in any::<u64>(), packets in packets(), until in 0u64..20_000_000,
    ) {
        let mut link = Link::new(config, seed).expect("valid configuration");
        let mut now = 0;
        for (index, &(gap, octets)) in packets.iter().enumerate() {
            now += gap;
            link.send(now, index, octets);
        }
        while link.receive(until).is_some() {}
        let stats = link.stats();
        prop_assert_eq!(stats.sent_packets, packets.len() as u64);
        prop_assert_eq!(
            stats.sent_packets + stats.duplicated,
            stats.delivered_packets + stats.dropped.total() + link.in_flight() as u64
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_trace(config in config(), seed in any::<u64>(), packets in packets()) {
        prop_assert_eq!(trace(&config, seed, &packets), trace(&config, seed, &packets));
    }

    #[test]
    fn arrivals_are_in_order_of_time_and_outcomes_say_what_arrives(
        config in config(), seed in any::<u64>(), packets in packets(),
    ) {
        let (outcomes, arrivals, stats) = trace(&config, seed, &packets);
        prop_assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
        for (index, outcome) in outcomes.iter().enumerate() {
            let expected = match outcome {
                Outcome::Queued => 1,
                Outcome::Duplicated => 2,
                Outcome::Dropped(_) => 0,
            };
            prop_assert_eq!(arrivals.iter().filter(|arrival| arrival.packet == index).count(), expected);
        }
        prop_assert_eq!(stats.corrupted, arrivals.iter().filter(|a| !a.corrupted_bits.is_empty()).count() as u64);
    }

    #[test]
    fn order_is_kept_without_jitter_and_reordering(
        config in config(), seed in any::<u64>(), packets in packets(),
    ) {
        let config = LinkConfig { jitter: Duration::ZERO, reorder: 0.0, ..config };
        let (_, arrivals, stats) = trace(&config, seed, &packets);
        prop_assert!(arrivals.is_sorted_by_key(|arrival| arrival.packet));
        prop_assert_eq!(stats.reordered, 0);
    }

    #[test]
    fn jitter_in_order_keeps_order_and_what_is_held_back_is_overtaken(
        config in config(), seed in any::<u64>(), packets in packets(),
    ) {
        let config = LinkConfig { in_order: true, reorder: 0.0, ..config };
        let (_, arrivals, stats) = trace(&config, seed, &packets);
        prop_assert!(arrivals.is_sorted_by_key(|arrival| arrival.packet));
        prop_assert_eq!(stats.reordered, 0);
    }

    #[test]
    fn setting_the_counters_back_changes_nothing_else(
        config in config(), seed in any::<u64>(), packets in packets(), at in 0usize..200,
    ) {
        let (expected, _, _) = trace(&config, seed, &packets);
        let mut link = Link::new(config, seed).expect("valid configuration");
        let mut now = 0;
        let mut under_way = 0;
        let mut outcomes = Vec::new();
        for (index, &(gap, octets)) in packets.iter().enumerate() {
            now += gap;
            if index == at {
                link.reset_stats();
                under_way = link.in_flight() as u64;
            }
            while link.receive(now).is_some() {}
            outcomes.push(link.send(now, index, octets));
        }
        prop_assert_eq!(outcomes, expected);
        let stats = link.stats();
        prop_assert_eq!(stats.sent_packets, packets.len().saturating_sub(if at < packets.len() { at } else { 0 }) as u64);
        prop_assert_eq!(
            under_way + stats.sent_packets + stats.duplicated,
            stats.delivered_packets + stats.dropped.total() + link.in_flight() as u64
        );
    }

    #[test]
    fn delay_and_queue_stay_within_their_bounds(
        config in config(), seed in any::<u64>(), packets in packets(), rate in 1_000_000u64..1_000_000_000,
        room in 2_000usize..50_000,
    ) {
        let config = LinkConfig { rate_bits_per_s: Some(rate), queue_octets: Some(room), ..config };
        let (_, arrivals, stats) = trace(&config, seed, &packets);
        prop_assert!(stats.queue_octets_max <= room);
        let wire_time = |octets: usize| (octets as u64 * 8_000_000_000).div_ceil(rate);
        let times: Vec<u64> = packets.iter().scan(0, |now, &(gap, _)| { *now += gap; Some(*now) }).collect();
        for arrival in arrivals {
            let octets = packets[arrival.packet].1 + config.overhead_octets;
            let under_way = arrival.at - times[arrival.packet];
            let least = nanoseconds(config.delay) + (octets as u64 * 8_000_000_000) / rate;
            let most = nanoseconds(config.delay + config.jitter + config.reorder_delay) + wire_time(room);
            prop_assert!(under_way + 1 >= least && under_way <= most + 1, "{} of {}..{}", under_way, least, most);
        }
    }
}
