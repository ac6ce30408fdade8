//! Who is whose neighbour on a grid whose opposite borders touch.

use super::message::Link;

/// A grid of ranks in two or three dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Torus {
    lengths: Vec<usize>,
}

impl Torus {
    /// All ranks, as near to a square or cube as their number allows.
    pub(crate) fn new(ranks: usize, dimensions: usize) -> Self {
        let mut lengths = Vec::new();
        let mut rest = ranks;
        for left in (1..=dimensions).rev() {
            // The largest divisor that leaves at least as much for each of the others.
            let fits = |length: &usize| rest.is_multiple_of(*length) && length.pow(left as u32) <= rest;
            let length = (1..=rest).rev().find(fits).unwrap_or(rest);
            lengths.push(length);
            rest /= length;
        }
        Self { lengths }
    }

    /// As people write it: 2 x 4.
    pub(crate) fn shape(&self) -> String {
        let lengths: Vec<String> = self.lengths.iter().map(usize::to_string).collect();
        lengths.join(" x ")
    }

    /// Steps to a neighbour and to oneself: 9 or 27.
    fn directions(&self) -> usize {
        3_usize.pow(self.lengths.len() as u32)
    }

    /// Where a step leads.
    fn step(&self, rank: usize, mut direction: usize) -> usize {
        let (mut rest, mut there, mut stride) = (rank, 0, 1);
        for &length in &self.lengths {
            let place = (rest % length + length + direction % 3 - 1) % length;
            there += place * stride;
            stride *= length;
            rest /= length;
            direction /= 3;
        }
        there
    }

    /// The links to the 8 or 26 neighbours of a rank. On a small torus several lead to one rank, each a link of its
    /// own with its own channel, equal at both ends. A neighbour that is the rank itself needs none and is left out.
    /// Those to one rank follow each other.
    pub(crate) fn links(&self, rank: usize) -> Vec<Link> {
        let last = self.directions() - 1;
        let neighbours = (0..=last).filter(|&direction| direction != last / 2);
        let mut links: Vec<Link> = neighbours
            .map(|direction| (self.step(rank, direction), direction))
            .filter(|&(there, _)| there != rank)
            .map(|(there, direction)| Link {
                rank: there,
                // Both ends name it by the direction in which the lower rank sees it.
                channel: if rank < there { direction } else { last - direction } as u32,
            })
            .collect();
        links.sort_by_key(|link| link.rank);
        links
    }
}

#[cfg(test)]
#[path = "torus_tests.rs"]
mod tests;
