//! What is made of the parties' memory.

use super::{add_memory, one_shots};
use crate::job::Outcome;
use crate::launch::Pair;
use crate::rounds::Figures;

fn pair(client: &[(&str, f64)], server: &[(&str, f64)]) -> Pair {
    let outcome = |extra: &[(&str, f64)]| Outcome {
        operations: 100,
        seconds: 0.5,
        extra: extra
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
        ..Outcome::default()
    };
    Pair {
        client: outcome(client),
        server: outcome(server),
    }
}

#[test]
fn one_shots_are_counted_by_the_client() {
    assert_eq!(one_shots(&pair(&[], &[])).ops_per_s, Some(200.0));
}

#[test]
fn the_side_that_needs_more_counts_and_the_kernel_is_added() {
    let mut figures = Figures::default();
    add_memory(
        &mut figures,
        &pair(&[("octets_each", 300.0)], &[("octets_each", 500.0)]),
    );
    assert_eq!(figures.octets_per_association, Some(500.0));
    assert_eq!(figures.setups_per_s, Some(200.0));
    let kernel = [("octets_each", 40.0), ("kernel_octets_each", 3_800.0)];
    add_memory(&mut figures, &pair(&kernel, &[("octets_each", 32.0)]));
    assert_eq!(figures.octets_per_association, Some(3_840.0));
    let note = figures.note.expect("a note");
    assert!(
        note.contains("kernel 3800") && note.contains("server 32"),
        "{note}"
    );
}

#[test]
fn memory_nobody_read_is_absent() {
    let mut figures = Figures::default();
    add_memory(&mut figures, &pair(&[], &[]));
    assert_eq!(figures.octets_per_association, None);
}
