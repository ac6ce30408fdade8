//! Cases as people write them.

use super::{ALL, Cell, Event, MAIN, wanted};
use crate::plan::{Experiment, Plan};

#[test]
fn a_case_is_read_as_it_is_written() {
    for name in ALL {
        assert_eq!(Cell::parse(name).expect(name).name(), name);
    }
    let cell = Cell::parse(" 50-8MiB-max-1% ").expect("a case");
    assert_eq!((cell.receivers, cell.octets, cell.rate), (50, 8 << 20, None));
    assert_eq!((cell.loss, cell.event), (0.01, Event::Calm));
    let cell = Cell::parse("2-100KiB-2.5mbit-0.1%-off").expect("a case");
    assert_eq!((cell.rate, cell.event), (Some(2_500_000), Event::Off));
    assert_eq!(cell.name(), "2-100KiB-2.5mbit-0.1%-off");
    assert_eq!(
        Cell::parse("1-1000-max-0").expect("octets").name(),
        "1-1000-max-0%"
    );
}

#[test]
fn what_cannot_be_is_refused_with_what_would_be_right() {
    for wrong in [
        "",
        "10",
        "10-16MiB-50mbit",
        "0-16MiB-50mbit-0%",
        "201-16MiB-50mbit-0%",
        "10-0-50mbit-0%",
        "10-2048MiB-50mbit-0%",
        "10-99999999999999MiB-50mbit-0%",
        "10-16MiB-0-0%",
        "10-16MiB-1kbit-0%",
        "10-16MiB-50mbit-51%",
        "10-16MiB-50mbit-0%-sunk",
        "10-16MiB-50mbit-0%-off-late",
        "1-16MiB-50mbit-0%-killed",
    ] {
        let error = Cell::parse(wrong).expect_err(wrong).to_string();
        assert!(error.contains("10-16MiB-50mbit-1%"), "{error}");
    }
}

#[test]
fn a_plan_chooses_cases() {
    let mut plan = Plan::new(Experiment::Multicast);
    assert_eq!(wanted(&plan).expect("all").len(), ALL.len());
    plan.quick = true;
    assert_eq!(wanted(&plan).expect("the main ones").len(), MAIN);
    plan.options
        .insert("cells".into(), "4-1MiB-max-0%,2-1MiB-max-0%-late".into());
    let named: Vec<usize> = wanted(&plan)
        .expect("two")
        .iter()
        .map(|cell| cell.receivers)
        .collect();
    assert_eq!(named, [4, 2]);
}

#[test]
fn sending_takes_what_the_uplink_needs() {
    let floor = |name| Cell::parse(name).expect(name).floor();
    assert_eq!(floor("4-1000000-8mbit-0%"), 1.0);
    assert_eq!(floor("4-1000000-max-0%"), 0.0);
}

#[test]
fn an_accident_has_a_case_without_it() {
    let cell = |name| Cell::parse(name).expect(name);
    let without = cell("4-1MiB-max-0%-late").undisturbed();
    assert_eq!(without, Some(cell("4-1MiB-max-0%")));
    assert_eq!(cell("4-1MiB-max-0%").undisturbed(), None);
}
