//! The papers draw conclusions from their numbers: the numbers as written down here must carry them.

use super::*;

fn find(table: &[Printed], transport: &str, size: u64) -> f64 {
    table
        .iter()
        .find(|printed| printed.transport == transport && printed.size == Some(size))
        .map(|printed| printed.value)
        .unwrap_or_else(|| panic!("{transport} at {size}"))
}

#[test]
fn throughput_gains_are_the_ones_the_thesis_names() {
    let gain = |size| find(THROUGHPUT_MBIT_S, "xtp", size) / find(THROUGHPUT_MBIT_S, "tcp", size);
    assert_eq!((gain(4096) * 100.0).round(), 118.0);
    assert_eq!((gain(8192) * 100.0).round(), 133.0);
    // "XTP delivered over 85% of the bandwidth of the MAC processor".
    assert!(BEST_MBIT_S[0].value / 5.5 > 0.85);
}

#[test]
fn xtp_sets_up_four_times_faster_than_tcp() {
    let ratio = find(ONE_SHOT_US, "tcp", 16) / find(ONE_SHOT_US, "xtp", 16);
    assert!((4.0..4.5).contains(&ratio), "{ratio}");
    // Opening and closing are most of TCP's time: 2.42 ms and 14.20 ms.
    assert!(find(ONE_SHOT_US, "tcp", 16) > 2420.0 + 14_200.0);
}

#[test]
fn two_acknowledgements_cost_r_udp_about_a_millisecond_and_a_third() {
    let overhead = |name| {
        let fit = ESTABLISHED.iter().find(|fit| fit.transport == name);
        fit.expect("a fit").overhead_us
    };
    let cost = overhead("r-udp") - overhead("udp");
    assert!((1250.0..1350.0).contains(&cost), "{cost}");
    // "TCP and XTP add about a tenth of a millisecond to the overhead of a UDP packet."
    for name in ["tcp", "xtp"] {
        assert!(
            (90.0..100.0).contains(&(overhead(name) - overhead("udp"))),
            "{name}"
        );
    }
    assert!((ESTABLISHED[1].one_way_us(1000) - 993.867).abs() < 1e-9);
}

#[test]
fn two_buffers_stay_flat_to_the_round_trip_time_of_the_papers_equation() {
    assert_eq!(kdd_limit_mbit_s(2, 120.0), KDD_MBIT_S);
    assert!((kdd_limit_mbit_s(2, 128.0) - KDD_MBIT_S).abs() < 1e-9);
    assert!(kdd_limit_mbit_s(2, 140.0) < KDD_MBIT_S);
    assert!(kdd_limit_mbit_s(1, 20.0) < KDD_MBIT_S);
    for buffers in [4, 8] {
        assert_eq!(kdd_limit_mbit_s(buffers, 200.0), KDD_MBIT_S);
    }
}

#[test]
fn the_small_window_makes_tcp_collapse() {
    assert_eq!(kdd_tcp_limit_mbit_s(0.0), 26.78);
    assert_eq!(kdd_tcp_limit_mbit_s(-1.0), 26.78);
    assert!(kdd_tcp_limit_mbit_s(200.0) < 2.2);
}

#[test]
fn rate_control_gained_seven_percent() {
    let on = RATE_CONTROL_MBIT_S[0].value;
    let off = RATE_CONTROL_MBIT_S[1].value;
    assert_eq!(((on / off - 1.0) * 100.0).round(), 7.0);
    assert!(RATE_CONTROL_REQUESTS[0].value < RATE_CONTROL_REQUESTS[1].value);
}

#[test]
fn every_printed_number_names_its_place() {
    let tables = [
        TRANSACTION_OVERHEAD,
        ONE_SHOT_PACKETS,
        ONE_SHOT_US,
        ONE_WAY_US,
        THROUGHPUT_MBIT_S,
        BEST_MBIT_S,
        RATE_CONTROL_MBIT_S,
        RATE_CONTROL_REQUESTS,
        PVM_ROUND_TRIP_US,
    ];
    for printed in tables.into_iter().flatten() {
        let words = ["section", "Figure", "Table"];
        assert!(
            words.iter().any(|word| printed.place.contains(word)),
            "{printed:?}"
        );
        assert!(printed.value > 0.0);
    }
    assert!(ALL.windows(2).all(|pair| pair[0].year <= pair[1].year));
}
