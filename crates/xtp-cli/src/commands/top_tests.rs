//! What `xtp top` shows.

use super::*;
use crate::common::SlowestLine;

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
            groups: Vec::new(),
        }],
    }
}

#[test]
fn a_line_tells_how_a_group_gets_on() {
    let transmitter = TransmitterLine {
        receivers: 3,
        done: 1,
        behind: 1,
        out: 0,
        slowest: Some(SlowestLine {
            address: "10.0.0.2:7".to_owned(),
            name: "attic".to_owned(),
            octets: 1_000,
        }),
        octets: 3_048,
        acknowledged: 2_000,
        rate: Some(1 << 20),
        round_trip_ms: Some(2.0),
        data_packets: 40,
        repair_packets: 5,
    };
    let receiver = ReceiverLine {
        from: Some("10.0.0.1:9".to_owned()),
        octets: 4_096,
        repaired: 1_024,
        packets: 6,
        is_behind: true,
    };
    let line = |party| GroupLine {
        number: 1,
        address: Some("239.1.2.3:36036".to_owned()),
        party,
        waits_for: "the slowest receiver".to_owned(),
    };
    let sent = group_line(&line(PartyLine::Transmitter(transmitter)), "5 octets/s");
    for part in [
        "to group 239.1.2.3:36036: 3 receivers, 1 done, 1 behind",
        "slowest 10.0.0.2:7 (attic) lacks 2.0 KiB",
        "5 octets/s of 1.0 MiB/s, 40 packets and 5 of repair, round trip 2 ms",
        "waits for the slowest receiver",
    ] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
    let received = group_line(&line(PartyLine::Receiver(receiver)), "-");
    assert!(
        received.contains(
            "from group 239.1.2.3:36036: 10.0.0.1:9, behind; 4.0 KiB in, -, 6 packets, 1.0 KiB repaired"
        ),
        "{received}"
    );
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
