//! The object has exactly the fields that were promised, and what differs is noticed.

use serde_json::json;

use super::super::copy::FileReport;
use super::{ParadigmReport, Report};

fn report(packets: u64, hash_equal: bool, damaged: u64) -> Report {
    let paradigm = ParadigmReport {
        name: "datagram",
        packets,
        packets_max: 5,
        expected_packets: 1,
        control_packets: 0,
        p50_us: 7.25,
        tcp_p50_us: Some(40.0),
        udp_p50_us: None,
    };
    let file = FileReport {
        bytes: 10,
        seconds: 0.5,
        tcp_seconds: 0.25,
        hash_equal,
    };
    Report::new(vec![paradigm], file, damaged)
}

#[test]
fn the_object_is_as_specified() {
    let mut object = serde_json::to_value(report(1, true, 0)).expect("plain data");
    assert!(object["host"].is_string());
    object["host"] = json!("here");
    let expected = json!({
        "ok": true,
        "version": env!("CARGO_PKG_VERSION"),
        "host": "here",
        "paradigms": [{
            "name": "datagram", "packets": 1, "packets_max": 5, "expected_packets": 1, "control_packets": 0,
            "p50_us": 7.25, "tcp_p50_us": 40.0, "udp_p50_us": null
        }],
        "file": { "bytes": 10, "seconds": 0.5, "tcp_seconds": 0.25, "hash_equal": true },
        "load": { "before": null, "others_percent": null, "spoilt": false }
    });
    assert_eq!(object, expected);
}

#[test]
fn whatever_differs_is_a_failure() {
    assert!(report(1, true, 0).judge().is_ok());
    for wrong in [report(2, true, 0), report(1, false, 0), report(1, true, 1)] {
        assert!(!wrong.ok);
        assert!(wrong.judge().is_err());
    }
}
