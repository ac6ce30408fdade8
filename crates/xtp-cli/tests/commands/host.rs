//! `xtp doctor` and `xtp sim`.

use crate::support::xtp;

#[test]
fn the_doctor_finds_that_loopback_works() {
    let object = xtp(&["doctor", "--json"]).expect(0).json();
    assert_eq!(object["ok"], true);
    let findings = object["findings"].as_array().expect("a list");
    for name in [
        "send offload (GSO)",
        "receive offload (GRO)",
        "receive buffer",
        "cores",
        "loopback over IPv4",
        "firewall",
    ] {
        let finding = findings.iter().find(|finding| finding["name"] == name);
        let finding = finding.unwrap_or_else(|| panic!("{name} is missing"));
        let is_good = finding["ok"].as_bool().expect("judged");
        assert!(is_good || finding["advice"].is_string(), "{finding}");
    }
    let text = xtp(&["doctor"]).expect(0);
    assert!(text.text().lines().count() > findings.len(), "{text:?}");
}

#[test]
fn seeds_pass_and_are_summed_up() {
    let done = xtp(&["sim", "--seed", "1", "--count", "20"]).expect(0);
    assert_eq!(done.text().lines().last(), Some("passed 20 of 20"));
    for word in [
        "packets",
        "simulated",
        "fault classes",
        "paradigms",
        "option bits",
    ] {
        assert!(done.text().contains(word), "{word}");
    }
}

#[test]
fn the_sum_does_not_depend_on_threads() {
    let one = xtp(&["sim", "--count", "12", "--threads", "1"]).expect(0);
    let three = xtp(&["sim", "--count", "12", "--threads", "3"]).expect(0);
    assert_eq!(one.text(), three.text());
}

#[test]
fn a_sum_is_an_object() {
    let object = xtp(&["sim", "--count", "5", "--json"]).expect(0).json();
    assert_eq!(
        (object["seeds"].as_u64(), object["passed"].as_u64()),
        (Some(5), Some(5))
    );
    assert!(object["packets"].as_u64().expect("a number") > 0);
    assert_eq!(object["failures"], serde_json::json!([]));
    assert!(object["option_bits"]["SREQ"].is_number());
}

#[test]
fn a_seed_can_be_looked_at() {
    let done = xtp(&["sim", "--replay", "3"]).expect(0);
    assert_eq!(done.text().lines().last(), Some("seed 3 passed"));
    assert!(done.text().contains("FIRST"), "{done:?}");
    assert_eq!(done.text(), xtp(&["sim", "--replay", "3"]).text());
}

#[test]
fn hostile_seeds_tell_what_was_injected() {
    let object = xtp(&["sim", "--class", "hostile", "--count", "20", "--json"])
        .expect(0)
        .json();
    assert_eq!(
        (object["class"].as_str(), object["passed"].as_u64()),
        (Some("hostile"), Some(20))
    );
    assert!(
        object["injected"]["wrong-key"].as_u64().expect("a number") > 0,
        "{object}"
    );
    let done = xtp(&["sim", "--replay", "3", "--class", "hostile"]).expect(0);
    assert!(done.text().contains("INJECTED into host"), "{done:?}");
}

#[test]
fn a_part_of_a_seed_can_be_looked_at() {
    let keep = "hosts=2 flows=0/1 faults= links=";
    let done = xtp(&["sim", "--replay", "1", "--keep", keep]);
    let other = done.text().lines().any(|line| line.starts_with("flow 1"));
    assert!(done.text().contains("flow 0: ") && !other, "{done:?}");
    let wrong = xtp(&["sim", "--replay", "1", "--keep", "flows=999"]).expect(2);
    assert!(wrong.sentence().contains("there is no flow 999"), "{wrong:?}");
    let wrong = xtp(&["sim", "--replay", "1", "--keep", "moons=1"]).expect(2);
    assert!(
        format!("{wrong:?}").contains("is none of hosts, flows"),
        "{wrong:?}"
    );
}

#[test]
fn what_passes_is_not_shrunk() {
    let done = xtp(&["sim", "--shrink", "3"]).expect(1);
    assert!(done.sentence().contains("does not fail"), "{done:?}");
}

#[test]
fn whatever_takes_too_long_is_status_3() {
    for args in [
        &["sim", "--count", "1000000000"][..],
        &["demo", "--runs", "1000000"],
    ] {
        let done = xtp(&[args, &["--timeout", "200ms", "-q"]].concat()).expect(3);
        assert!(done.sentence().contains("not done after 200 ms"), "{done:?}");
    }
}
