//! Phases of one program with neighbourhoods of their own: a ring, a transposition (all to all), a butterfly, and
//! gathering at one rank, which hands the result back. Links are made when a phase first needs them.

use crate::console::Console;
use crate::error::Worked;
use crate::job::{Job, Outcome};
use crate::patterns::message::Link;
use crate::patterns::rank::Rank;

/// Rounds of a phase.
const ROUNDS: usize = 4;

/// Whom a rank sends to and whom it hears in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Step {
    to: Vec<usize>,
    from: Vec<usize>,
}

impl Step {
    fn both(ranks: Vec<usize>) -> Self {
        Self {
            to: ranks.clone(),
            from: ranks,
        }
    }
}

/// The steps of one round of each phase, for one rank.
fn phases(rank: usize, ranks: usize) -> [Vec<Step>; 4] {
    let others: Vec<usize> = (0..ranks).filter(|other| *other != rank).collect();
    let ring = Step {
        to: vec![(rank + 1) % ranks],
        from: vec![(rank + ranks - 1) % ranks],
    };
    let distances = (0..usize::BITS).map(|bit| 1 << bit);
    let butterfly = distances
        .take_while(|distance| *distance < ranks)
        .map(|distance| {
            // Without a partner a rank passes.
            Step::both(
                Some(rank ^ distance)
                    .filter(|partner| *partner < ranks)
                    .into_iter()
                    .collect(),
            )
        });
    let (gather, back) = if rank == 0 {
        let gather = Step {
            from: others.clone(),
            ..Step::default()
        };
        let back = Step {
            to: others.clone(),
            ..Step::default()
        };
        (gather, back)
    } else {
        let gather = Step {
            to: vec![0],
            ..Step::default()
        };
        let back = Step {
            from: vec![0],
            ..Step::default()
        };
        (gather, back)
    };
    [
        vec![ring],
        vec![Step::both(others)],
        butterfly.collect(),
        vec![gather, back],
    ]
}

/// One rank's part: an operation is all phases once.
pub(crate) fn work(job: &Job, console: &mut Console) -> Worked<Outcome> {
    let phases = phases(job.rank, job.ranks);
    let rank = Rank::open(job, console)?;
    let mut phase_number = 0;
    rank.measure(job, |rank| {
        for phase in &phases {
            let channel = if rank.manner.by_phase { phase_number } else { 0 };
            let links =
                |ranks: &[usize]| -> Vec<Link> { ranks.iter().map(|&rank| Link { rank, channel }).collect() };
            let steps: Vec<_> = phase
                .iter()
                .map(|step| (links(&step.to), links(&step.from)))
                .collect();
            for _ in 0..ROUNDS {
                for (to, from) in &steps {
                    rank.exchange(to, from)?;
                }
            }
            if rank.manner.by_phase {
                rank.leave(channel)?;
            }
            phase_number += 1;
        }
        Ok(())
    })
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
