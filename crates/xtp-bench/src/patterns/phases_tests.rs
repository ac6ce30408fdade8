//! Whoever sends is heard, in every phase and with every number of ranks.

use std::collections::BTreeSet;

use super::{Step, phases};

/// All (phase, step, from, to) of the ranks, as `of` sees them.
fn ways(ranks: usize, of: fn(&Step, usize) -> Vec<(usize, usize)>) -> BTreeSet<(usize, usize, usize, usize)> {
    let mut ways = BTreeSet::new();
    for rank in 0..ranks {
        for (phase, steps) in phases(rank, ranks).iter().enumerate() {
            for (number, step) in steps.iter().enumerate() {
                for (from, to) in of(step, rank) {
                    assert!(
                        ways.insert((phase, number, from, to)),
                        "{ranks} ranks: one way twice"
                    );
                }
            }
        }
    }
    ways
}

#[test]
fn whoever_sends_is_heard() {
    for ranks in 2..=16 {
        let sent = ways(ranks, |step, rank| step.to.iter().map(|to| (rank, *to)).collect());
        let heard = ways(ranks, |step, rank| {
            step.from.iter().map(|from| (*from, rank)).collect()
        });
        assert_eq!(sent, heard, "{ranks} ranks");
        assert!(sent.iter().all(|(_, _, from, to)| from != to), "{ranks} ranks");
        let all_to_all = sent.iter().filter(|(phase, ..)| *phase == 1).count();
        assert_eq!(all_to_all, ranks * (ranks - 1));
    }
}

#[test]
fn a_butterfly_reaches_everybody() {
    let partners = |rank, ranks| -> Vec<usize> {
        let butterfly = &phases(rank, ranks)[2];
        butterfly.iter().flat_map(|step| step.to.clone()).collect()
    };
    assert_eq!(partners(5, 8), [4, 7, 1]);
    // Of five ranks number 2 has no partner at distance 4.
    assert_eq!(partners(2, 5), [3, 0]);
    assert_eq!(phases(2, 5)[2].len(), 3);
}
