//! Sums, differences and pairs of counts.

use super::*;

fn octets(octets: u64, seconds: f64) -> FlowCount {
    FlowCount {
        octets,
        seconds,
        repeated: Some(octets / 10),
        datagrams: None,
    }
}

fn datagrams(datagrams: u64, lost: u64, jitter: f64) -> FlowCount {
    FlowCount {
        octets: 100 * datagrams,
        seconds: 1.0,
        repeated: None,
        datagrams: Some(DatagramCount {
            datagrams,
            lost: Some(lost),
            out_of_order: Some(1),
            duplicates: Some(0),
            jitter_ms: Some(jitter),
        }),
    }
}

#[test]
fn intervals_are_differences_and_sums() {
    let before = [octets(1_000, 1.0), octets(2_000, 1.0), octets(7, 1.0)];
    let now = [octets(3_000, 2.0), octets(2_500, 2.0), octets(7, 1.0)];
    let flows = [(1, false, Some(0.5)), (2, false, None), (3, true, None)];
    let interval = FlowInterval::between((1.0, &before), (3.0, &now), &flows);
    let seen: Vec<_> = interval
        .parts
        .iter()
        .map(|part| (part.flow, part.octets, part.bits_per_second, part.repeated))
        .collect();
    let expected = [
        (Some(1), 2_000, 8_000.0, Some(200)),
        (Some(2), 500, 2_000.0, Some(50)),
        (None, 2_500, 10_000.0, Some(250)),
        (Some(3), 0, 0.0, Some(0)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(interval.parts[0].round_trip_ms, Some(0.5));
}

#[test]
fn datagrams_of_an_interval() {
    let before = [datagrams(90, 10, 2.0), datagrams(50, 0, 3.0)];
    let now = [datagrams(180, 20, 1.0), datagrams(100, 0, 0.5)];
    let flows = [(1, true, None), (2, true, None)];
    let interval = FlowInterval::between((0.0, &before), (1.0, &now), &flows);
    let sum = interval.parts[2].datagrams.clone().expect("datagrams");
    assert_eq!(
        (sum.datagrams, sum.lost, sum.jitter_ms),
        (140, Some(10), Some(1.0))
    );
    assert_eq!(
        interval.parts[0]
            .datagrams
            .as_ref()
            .and_then(DatagramCount::loss_percent),
        Some(10.0)
    );
}

#[test]
fn the_sender_is_where_octets_come_from() {
    let plan = FlowPlan::new("127.0.0.1:1".parse().expect("an address"));
    let mut report = FlowReport::new(&plan);
    report.pair(&[
        (1, false, octets(100, 1.0), Some(octets(90, 1.0))),
        (2, false, octets(100, 2.0), Some(octets(80, 2.0))),
        (3, true, octets(70, 1.0), None),
    ]);
    let seen: Vec<_> = report
        .flows
        .iter()
        .map(|pair| {
            let receiver = pair.receiver.as_ref().map(|count| count.octets);
            (pair.flow, pair.from_server, pair.sender.octets, receiver)
        })
        .collect();
    let expected = [
        (Some(1), false, 100, Some(90)),
        (Some(2), false, 100, Some(80)),
        (None, false, 200, Some(170)),
        (Some(3), true, 0, Some(70)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(
        report.flows[2].sender_bits_per_second, 800.0,
        "of the longer one's time"
    );
}
