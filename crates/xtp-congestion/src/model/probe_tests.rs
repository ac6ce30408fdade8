//! What is kept of a probe, and how long it lasts.

use super::super::estimate::Bandwidth;
use super::{BandwidthProbe, LONGEST, OTHERS};

fn measured(rate: u64) -> Bandwidth {
    let mut bandwidth = Bandwidth::default();
    bandwidth.sample(rate);
    bandwidth
}

/// A probe in a crowd that measures these rates after its rounds; how many it lasts, and what is known after it.
fn probe(start: u64, rates: &[u64]) -> (u64, u64) {
    let mut bandwidth = measured(start);
    let mut probe = BandwidthProbe::begin(2.0 * OTHERS, start, &bandwidth);
    let mut rounds = 0;
    for rate in rates {
        assert!(probe.goes_on());
        bandwidth.sample(*rate);
        rounds += 1;
        probe.on_round(rounds, &bandwidth);
        if !probe.goes_on() {
            break;
        }
    }
    probe.end(&mut bandwidth);
    (rounds, bandwidth.get())
}

#[test]
fn without_a_queue_everything_found_is_kept() {
    let mut bandwidth = measured(100);
    let mut probe = BandwidthProbe::begin(OTHERS, 100, &bandwidth);
    assert!(!probe.goes_on(), "it need not last");
    bandwidth.sample(101);
    probe.on_round(1, &bandwidth);
    probe.end(&mut bandwidth);
    assert!(!probe.was_in_vain());
    assert_eq!(bandwidth.get(), 101);
}

#[test]
fn whoever_has_much_keeps_nothing() {
    // Three quarters of the link, and what a quarter more brings then.
    assert_eq!(probe(750, &[750, 789, 800]), (2, 750));
}

#[test]
fn whoever_has_little_goes_on_while_it_brings_much() {
    // A tenth of the link.
    assert_eq!(probe(100, &[100, 122, 148, 179, 190]), (5, 190));
    let doubling: Vec<u64> = (0..20).map(|round| 100 << round).collect();
    assert_eq!(probe(100, &doubling), (LONGEST, 3_200));
}

#[test]
fn who_is_alone_takes_nothing_however_fast_it_sends() {
    // A link of half the rate it had when the bandwidth was measured, and a share of a half.
    for (rates, took) in [(&[50, 52, 47][..], false), (&[50, 55, 47], true)] {
        let mut probe = BandwidthProbe::begin(0.0, 50, &measured(100));
        assert!(!probe.took());
        rates.iter().for_each(|&rate| probe.came(rate));
        assert_eq!(probe.took(), took, "{rates:?}");
    }
}
