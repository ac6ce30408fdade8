//! The form of a row is what programs rely on.

use super::Row;

#[test]
fn names_and_order_are_fixed_and_what_makes_no_sense_is_absent() {
    let row = Row {
        experiment: "pingpong".into(),
        transport: "tcp".into(),
        path: "veth-nooffload".into(),
        size: Some(64),
        wait: Some("spin".into()),
        rounds: 5,
        p50_us: Some(7.5),
        p99_us: Some(9.0),
        packets_per_op: Some(2.0),
        syscalls_per_op: Some(4.0),
        ratio_to_xtp: Some(1.25),
        ..Row::default()
    };
    assert_eq!(
        serde_json::to_string(&row).expect("serialises"),
        r#"{"experiment":"pingpong","transport":"tcp","path":"veth-nooffload","size":64,"wait":"spin","rounds":5,"p50_us":7.5,"p99_us":9.0,"packets_per_op":2.0,"syscalls_per_op":4.0,"ratio_to_xtp":1.25}"#
    );
}

#[test]
fn all_names_are_as_documented() {
    let row = Row {
        size: Some(1),
        wait: Some("block".into()),
        p50_us: Some(1.0),
        p99_us: Some(1.0),
        gbit_s: Some(1.0),
        cpu_s_per_gb: Some(1.0),
        packets_per_op: Some(1.0),
        syscalls_per_op: Some(1.0),
        ratio_to_xtp: Some(1.0),
        ..Row::default()
    };
    let text = serde_json::to_string(&row).expect("serialises");
    let names = [
        "experiment",
        "transport",
        "path",
        "size",
        "wait",
        "rounds",
        "p50_us",
        "p99_us",
        "gbit_s",
        "cpu_s_per_gb",
        "packets_per_op",
        "syscalls_per_op",
        "ratio_to_xtp",
    ];
    let places: Vec<_> = names
        .iter()
        .map(|name| text.find(&format!("\"{name}\":")))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert_eq!(text.matches("\":").count(), names.len(), "{text}");
    assert_eq!(serde_json::from_str::<Row>(&text).expect("reads"), row);
}
