//! Links as people write them, and grids of them.

use std::time::Duration;

use super::{Cell, wanted};
use crate::plan::{Experiment, Plan};

fn plan(options: &[(&str, &str)], quick: bool) -> Plan {
    let mut plan = Plan::new(Experiment::Wan);
    plan.quick = quick;
    for (name, value) in options {
        plan.options.insert((*name).to_owned(), (*value).to_owned());
    }
    plan
}

fn names(plan: &Plan) -> Vec<String> {
    let cells = wanted(plan).expect("links");
    cells.iter().map(Cell::name).collect()
}

#[test]
fn a_link_is_written_as_it_is_read() {
    for name in [
        "500mbit-100ms-0.1%",
        "100mbit-0ms-0%",
        "36.864mbit-20ms-1%",
        "1000mbit-0.5ms-0.01%",
    ] {
        assert_eq!(Cell::parse(name).expect("a link").name(), name);
    }
    let cell = Cell::parse("1gbit-20ms-0.01").expect("a link");
    assert_eq!(cell.rate, 1_000_000_000);
    assert_eq!(cell.rtt, Duration::from_millis(20));
    assert_eq!(cell.name(), "1000mbit-20ms-1%");
    let errors = Cell {
        bit_errors: 1e-7,
        ..Cell::clean(36_864_000, 20)
    };
    assert_eq!(errors.name(), "36.864mbit-20ms-0%-ber1e-7");
}

#[test]
fn what_is_no_link_is_refused() {
    for text in [
        "",
        "500mbit",
        "500mbit-20ms",
        "0bit-20ms-0%",
        "fast-20ms-0%",
        "1mbit-20-0%",
        "1mbit-20ms-200%",
    ] {
        let error = Cell::parse(text).expect_err(text).to_string();
        assert!(error.contains("500mbit-100ms-0.1%"), "{error}");
    }
    for (name, value) in [
        ("rtt", "20"),
        ("loss", "2"),
        ("rate", "0bit"),
        ("cells", "1mbit-1ms"),
    ] {
        assert!(wanted(&plan(&[(name, value)], true)).is_err(), "{name}={value}");
    }
}

#[test]
fn the_grids_are_those_of_the_issue() {
    let quick = names(&plan(&[], true));
    assert_eq!(quick.len(), 12);
    assert_eq!(quick[0], "500mbit-20ms-0%");
    assert_eq!(quick[11], "500mbit-200ms-1%");
    let full = names(&plan(&[], false));
    assert_eq!(full.len(), 32);
    assert!(full.contains(&"100mbit-0ms-0.01%".to_owned()));
}

#[test]
fn parts_of_a_grid_can_be_chosen() {
    let chosen = names(&plan(
        &[("rtt", "100ms,200ms"), ("loss", "0,0.1%"), ("rate", "100mbit")],
        true,
    ));
    let expected = [
        "100mbit-100ms-0%",
        "100mbit-100ms-0.1%",
        "100mbit-200ms-0%",
        "100mbit-200ms-0.1%",
    ];
    assert_eq!(chosen, expected);
    let cells = names(&plan(
        &[("cells", "10mbit-5ms-0%, 20mbit-6ms-1%"), ("rtt", "1ms")],
        true,
    ));
    assert_eq!(cells, ["10mbit-5ms-0%", "20mbit-6ms-1%"]);
}

#[test]
fn the_emulator_gets_both_directions_alike() {
    let config = Cell::parse("500mbit-100ms-0.1%").expect("a link").config(7);
    assert_eq!(config.seed, 7);
    assert_eq!(config.left_to_right, config.right_to_left);
    assert_eq!(config.left_to_right.delay, Duration::from_millis(50));
    assert_eq!(config.left_to_right.rate_bits_per_s, Some(500_000_000));
    assert_eq!(config.left_to_right.loss, xtp_linkem::Loss::Random(0.001));
}
