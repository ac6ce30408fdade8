//! What iperf3 3.12 prints.

use super::parse;

const PRINTED: &str = r#"{
    "start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 65536}},
    "intervals": [],
    "end": {
        "streams": [{"sender": {"socket": 5, "bytes": 1823866880, "seconds": 1.000043, "retransmits": 7}}],
        "sum_sent": {"start": 0, "end": 1.000043, "seconds": 1.000043, "bytes": 1823866880, "sender": true},
        "sum_received": {"start": 0, "end": 1.000298, "seconds": 1.000298, "bytes": 1818230784,
            "bits_per_second": 14541512901.155457, "sender": true},
        "cpu_utilization_percent": {"host_total": 8.89, "remote_total": 23.52},
        "sender_tcp_congestion": "cubic"
    }
}"#;

#[test]
fn what_was_received_counts() {
    let (octets, seconds) = parse(PRINTED).expect("figures");
    assert_eq!((octets, seconds), (1_818_230_784, 1.000298));
}

#[test]
fn its_failure_is_told_in_its_words() {
    let text = r#"{"start": {}, "intervals": [], "end": {},
        "error": "error - unable to connect to server: Connection refused"}"#;
    assert!(parse(text).is_err_and(|problem| problem.0.ends_with("Connection refused")));
}

#[test]
fn anything_else_is_a_failure() {
    for text in ["", "iperf3: error", "{}", r#"{"end": {}}"#] {
        assert!(parse(text).is_err(), "{text}");
    }
}
