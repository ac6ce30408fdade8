//! What `xtp top` shows.

use super::*;

fn snapshot(seconds: f64, octets: u64) -> Snapshot {
    Snapshot {
        pid: 42,
        command: "xtp serve".to_owned(),
        seconds,
        endpoints: vec![EndpointLine {
            address: "127.0.0.1:36036".to_owned(),
            packets_sent: 7,
            packets_received: 8,
            count: 2_000,
            associations: vec![AssociationLine {
                number: 3,
                peer: "10.0.0.1:5000".to_owned(),
                round_trip_ms: Some(1.5),
                octets_sent: octets,
                octets_received: 0,
                in_flight: 10,
                queued: 2_048,
                congestion_window: None,
                packets_sent: 9,
                packets_lost: 1,
                octets_sent_again: 0,
                waits_for: "the peer to acknowledge".to_owned(),
            }],
        }],
    }
}

#[test]
fn rates_are_of_the_time_between_two_looks() {
    let mut before = Before::new();
    let first = screen(&[snapshot(10.0, 1_000)], &mut before);
    assert!(
        first.starts_with("42 xtp serve\n at 127.0.0.1:36036: 2000 associations, 1 of them shown"),
        "{first}"
    );
    for part in [
        "10.0.0.1:5000",
        "1.5 ms",
        " - ",
        "10 octets",
        "1 of 9",
        "the peer to acknowledge",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    let second = screen(&[snapshot(12.0, 5_096)], &mut before);
    assert!(
        second.contains("2.0 KiB/s") && second.contains("0 octets/s"),
        "{second}"
    );
    assert!(screen(&[], &mut before).contains("--status"));
    assert!(before.is_empty(), "what has ended is forgotten");
}
