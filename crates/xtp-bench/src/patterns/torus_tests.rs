//! Neighbours: how many, and the same links from both ends.

use std::collections::{BTreeMap, BTreeSet};

use super::Torus;
use crate::patterns::message::Link;

#[test]
fn ranks_form_what_is_nearest_to_a_square_or_cube() {
    let shape = |ranks, dimensions| Torus::new(ranks, dimensions).shape();
    assert_eq!(shape(4, 2), "2 x 2");
    assert_eq!(shape(8, 2), "2 x 4");
    assert_eq!(shape(9, 2), "3 x 3");
    assert_eq!(shape(7, 2), "1 x 7");
    assert_eq!(shape(8, 3), "2 x 2 x 2");
    assert_eq!(shape(12, 3), "2 x 2 x 3");
    assert_eq!(shape(16, 3), "2 x 2 x 4");
}

#[test]
fn there_are_eight_and_twenty_six_neighbours() {
    for (ranks, dimensions, links, distinct) in [(9, 2, 8, 8), (16, 2, 8, 8), (4, 2, 8, 3), (8, 3, 26, 7)] {
        let torus = Torus::new(ranks, dimensions);
        for rank in 0..ranks {
            let found = torus.links(rank);
            assert_eq!(found.len(), links, "{ranks} ranks, rank {rank}");
            let peers: BTreeSet<usize> = found.iter().map(|link| link.rank).collect();
            assert_eq!(peers.len(), distinct, "{ranks} ranks, rank {rank}");
        }
    }
    assert_eq!(Torus::new(27, 3).links(13).len(), 26);
}

#[test]
fn neighbours_that_are_the_rank_itself_are_left_out() {
    // Along the dimension of one rank both neighbours are the rank itself.
    let torus = Torus::new(4, 3);
    assert_eq!(torus.shape(), "1 x 2 x 2");
    assert!(torus.links(0).iter().all(|link| link.rank != 0));
    assert_eq!(torus.links(0).len(), 24);
    assert!(Torus::new(1, 2).links(0).is_empty());
}

#[test]
fn both_ends_of_a_link_name_it_alike_and_no_other_does() {
    for dimensions in [2, 3] {
        for ranks in 2..=27 {
            let torus = Torus::new(ranks, dimensions);
            let mut ends: BTreeMap<(usize, usize, u32), usize> = BTreeMap::new();
            for rank in 0..ranks {
                let mut own = BTreeSet::new();
                for Link { rank: there, channel } in torus.links(rank) {
                    assert!(own.insert((there, channel)), "{ranks} ranks: a link twice");
                    *ends
                        .entry((rank.min(there), rank.max(there), channel))
                        .or_default() += 1;
                }
            }
            assert!(
                ends.values().all(|&ends| ends == 2),
                "{ranks} ranks in {dimensions} dimensions"
            );
        }
    }
}
