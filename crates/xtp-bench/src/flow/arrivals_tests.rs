//! Loss, order and jitter of datagrams.

use super::*;
use crate::flow::FlowPlan;

fn heading(sequence: u64, sent_ns: u64) -> DatagramHeading {
    DatagramHeading {
        flow: 1,
        sequence,
        sent_ns,
    }
}

fn after(sequences: &[u64]) -> FlowArrivals {
    let mut arrivals = FlowArrivals::default();
    for sequence in sequences {
        arrivals.came(&heading(*sequence, 0), 0);
    }
    arrivals
}

#[test]
fn what_is_missing_and_what_is_not() {
    let arrivals = after(&[0, 1, 4, 3, 3]);
    assert_eq!(
        (arrivals.received, arrivals.duplicates, arrivals.out_of_order),
        (4, 1, 1)
    );
    assert_eq!(arrivals.lost(None), 1, "number 2");
    assert_eq!(arrivals.lost(Some(10)), 6, "and the last five");
    assert_eq!(after(&[]).lost(Some(3)), 3);
    assert_eq!(
        after(&[0, 1]).lost(Some(1)),
        0,
        "a sender that counts fewer than came"
    );
}

#[test]
fn what_comes_again_is_known_within_the_window() {
    let mut arrivals = after(&[5, WINDOW, 5]);
    assert_eq!((arrivals.received, arrivals.duplicates), (2, 1));
    arrivals.came(&heading(3 * WINDOW, 0), 0);
    arrivals.came(&heading(WINDOW, 0), 0);
    assert_eq!(
        (arrivals.received, arrivals.duplicates),
        (3, 2),
        "too late to tell"
    );
    assert!(
        arrivals.came(&heading(3 * WINDOW - 1, 0), 0),
        "bits of former rounds are gone"
    );
    arrivals.came(&heading(u64::MAX, 0), 0);
    assert_eq!(arrivals.received, 5);
}

/// The filter of RFC 3550, A.8: a sixteenth of each difference, whatever the distance of the clocks.
#[test]
fn jitter_is_that_of_rfc_3550() {
    for distance in [0, 1 << 40] {
        let mut arrivals = FlowArrivals::default();
        let at = |ns: u64| ns + distance;
        arrivals.came(&heading(0, 1_000), at(5_000));
        arrivals.came(&heading(1, 2_000), at(6_000));
        assert_eq!(arrivals.jitter_ns, 0.0, "evenly");
        arrivals.came(&heading(2, 3_000), at(8_600));
        assert_eq!(arrivals.jitter_ns, 100.0);
        arrivals.came(&heading(3, 4_000), at(9_600));
        assert_eq!(arrivals.jitter_ns, 93.75);
        // One that comes twice changes nothing.
        arrivals.came(&heading(3, 4_000), at(99_600));
        assert_eq!(arrivals.jitter_ns, 93.75);
    }
}

#[test]
fn headings_are_read_as_they_were_written() {
    let plan = FlowPlan::new("127.0.0.1:1".parse().expect("an address"));
    let terms = plan.terms(9);
    let mut datagram = [7; 40];
    let written = heading(1 << 33, u64::MAX);
    written.write(&terms, &mut datagram);
    assert_eq!(DatagramHeading::read(&terms, &datagram), Some(written));
    assert_eq!(
        DatagramHeading::read(&plan.terms(8), &datagram),
        None,
        "of another client"
    );
    for length in 0..HEADING {
        assert_eq!(DatagramHeading::read(&terms, &datagram[..length]), None);
    }
}
