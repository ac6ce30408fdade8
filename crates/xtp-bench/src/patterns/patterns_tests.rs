//! Names of rows, numbers of ranks, figures.

use super::{Cell, figures, rank::MESSAGES, ranks};
use crate::job::Outcome;
use crate::plan::{Experiment, Path};

fn cell(experiment: Experiment, dimensions: usize, ranks: usize) -> Cell {
    Cell {
        experiment,
        dimensions,
        ranks,
        path: Path::Loopback,
        size: 64,
    }
}

#[test]
fn every_kind_of_row_has_its_own_name() {
    assert_eq!(cell(Experiment::Stencil, 2, 4).name(), "stencil-2d");
    assert_eq!(cell(Experiment::Stencil, 3, 8).name(), "stencil-3d-8");
    assert_eq!(cell(Experiment::Bag, 0, 4).name(), "bag");
    assert_eq!(cell(Experiment::Phases, 0, 16).name(), "phases-16");
}

#[test]
fn ranks_are_two_to_sixteen() {
    let parse = |text: &str| ranks(Some(&text.to_owned()));
    assert!(ranks(None).is_ok_and(|ranks| ranks == [4]));
    assert!(parse("4, 16").is_ok_and(|ranks| ranks == [4, 16]));
    for wrong in ["1", "17", "", "four", "4,"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn figures_are_the_slowest_ranks_and_everybodys_messages() {
    let outcome = |samples_ns: &[u64], seconds, packets| {
        let mut outcome = Outcome {
            samples_ns: samples_ns.to_vec(),
            seconds,
            packets,
            syscalls: Some(100),
            ..Outcome::default()
        };
        outcome.extra.insert(MESSAGES.to_owned(), 50.0);
        outcome
    };
    let outcomes = [
        outcome(&[1_000, 2_000, 3_000], 2.0, Some(150)),
        outcome(&[4_000, 1_000, 1_000], 1.0, None),
    ];
    let figures = figures(&outcomes);
    assert_eq!(figures.p50_us, Some(2.0));
    assert_eq!(figures.p99_us, Some(4.0));
    assert_eq!(figures.ops_per_s, Some(50.0));
    assert_eq!(figures.packets_per_op, Some(1.5));
    assert_eq!(figures.syscalls_per_op, Some(2.0));
}
