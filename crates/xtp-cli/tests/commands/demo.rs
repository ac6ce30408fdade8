//! `xtp demo`, with as few runs as it allows.

use crate::support::xtp;

const NAMES: [&str; 11] = [
    "datagram",
    "long-datagram",
    "acknowledged-datagram",
    "one-shot",
    "transaction",
    "transaction-unconfirmed",
    "transaction-slow",
    "byte-stream",
    "message-stream",
    "unreliable-stream",
    "tags",
];

#[test]
fn every_paradigm_takes_the_packets_of_its_ladder() {
    let done = xtp(&["demo", "--json", "--runs", "30", "--file-size", "3MB"]).expect(0);
    let object = done.json();
    assert_eq!(object["ok"], true);
    assert_eq!(object["version"], env!("CARGO_PKG_VERSION"));
    let paradigms = object["paradigms"].as_array().expect("a list");
    let names: Vec<_> = paradigms
        .iter()
        .map(|paradigm| paradigm["name"].as_str().expect("text"))
        .collect();
    assert_eq!(names, NAMES);
    let ladders = [1, 10, 2, 3, 3, 2, 4, 6, 13, 9, 6];
    let control = [0, 0, 1, 2, 1, 0, 2, 5, 5, 5, 5];
    for ((paradigm, packets), control) in paradigms.iter().zip(ladders).zip(control) {
        assert_eq!(paradigm["packets"], packets, "{paradigm}");
        assert_eq!(paradigm["expected_packets"], packets, "{paradigm}");
        assert_eq!(paradigm["control_packets"], control, "{paradigm}");
        assert!(paradigm["packets_max"].as_u64() >= Some(packets), "{paradigm}");
        assert!(paradigm["p50_us"].as_f64() > Some(0.0), "{paradigm}");
        for rival in ["tcp_p50_us", "udp_p50_us"] {
            assert!(
                paradigm[rival].is_null() || paradigm[rival].as_f64() > Some(0.0),
                "{paradigm}"
            );
        }
    }
    assert_eq!(object["file"]["bytes"], 3_000_000);
    assert_eq!(object["file"]["hash_equal"], true);
}

#[test]
fn people_get_a_table_without_colours_in_a_pipe() {
    let done = xtp(&["demo", "--runs", "30", "--file-size", "100k"]).expect(0);
    for name in NAMES {
        assert!(done.text().contains(&format!("\n{name} ")), "{name}");
    }
    assert!(
        done.text().ends_with("everything is as it should be\n"),
        "{done:?}"
    );
    assert!(!done.text().contains('\x1b'));
    assert_eq!(done.stderr, "");
}

#[test]
fn thirty_runs_are_the_least() {
    xtp(&["demo", "--runs", "29"]).expect(2);
}
