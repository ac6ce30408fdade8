//! Lines of flows.

use super::*;

fn part(flow: Option<u32>, from_server: bool) -> FlowPart {
    FlowPart {
        flow,
        from_server,
        octets: 117_440_512,
        bits_per_second: 939_524_096.0,
        repeated: Some(0),
        round_trip_ms: Some(0.25),
        datagrams: None,
    }
}

fn interval(part: FlowPart) -> String {
    let interval = FlowInterval {
        begin: 1.0,
        end: 2.0,
        parts: vec![part],
    };
    interval_line(&interval, &interval.parts[0])
}

#[test]
fn a_line_an_interval() {
    assert_eq!(
        interval(part(Some(1), false)),
        "[  1] to server       1.00-2.00 s    112.0 MiB     940 Mbit/s  round trip 250 us"
    );
    let datagrams = FlowPart {
        repeated: None,
        round_trip_ms: None,
        datagrams: Some(DatagramCount {
            datagrams: 990,
            lost: Some(10),
            out_of_order: Some(2),
            duplicates: Some(0),
            jitter_ms: Some(0.1234),
        }),
        ..part(None, true)
    };
    let line = interval(datagrams);
    assert!(line.starts_with("[all] from server "), "{line}");
    let end = "  990 datagrams, 10 lost (1.00 %), 2 out of order, jitter 0.123 ms";
    assert!(line.ends_with(end), "{line}");
}

#[test]
fn both_ends_of_a_flow() {
    let sender = FlowCount {
        octets: 1_000_000,
        seconds: 2.0,
        repeated: Some(2_048),
        datagrams: None,
    };
    let mut pair = FlowPair {
        flow: Some(3),
        from_server: false,
        sender_bits_per_second: sender.rate(),
        sender,
        receiver: None,
        receiver_bits_per_second: None,
    };
    let lines = pair_lines(&pair);
    assert_eq!(
        lines[0],
        "[  3] to server   sender    2.00 s    976.6 KiB    4.00 Mbit/s  2.0 KiB sent again"
    );
    assert!(lines[1].contains("did not say"), "{lines:?}");
    pair.receiver = Some(FlowCount::default());
    pair.receiver_bits_per_second = Some(0.0);
    assert!(pair_lines(&pair)[1].contains("0 octets"));
}

#[test]
fn rates_have_three_digits() {
    for (rate, text) in [
        (0.0, "0.00 bit/s"),
        (999.4, "999 bit/s"),
        (999.6, "1.00 kbit/s"),
        (12_345.0, "12.3 kbit/s"),
        (99_960.0, "100 kbit/s"),
        (942e6, "942 Mbit/s"),
        (12.3e9, "12.3 Gbit/s"),
        (4.2e12, "4200 Gbit/s"),
    ] {
        assert_eq!(bit_rate(rate), text);
    }
}
