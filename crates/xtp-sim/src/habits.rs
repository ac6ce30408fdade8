//! How a host's program drives its engine: what it waits for, how much it takes at once, when it has time.

use crate::rng::Rng;

/// What whoever drives the host says it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posts {
    /// Never anything.
    Nothing,
    /// Whatever comes, but one association after the other.
    OneByOne,
    /// What one of its users waits for, whichever is drawn.
    One,
    /// Any of these, drawn again each time.
    Mixed,
}

/// Habits of a host's program; none of them may make a difference to its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// What is waited for.
    pub posts: Posts,
    /// Most datagrams of one receive call.
    pub batch: usize,
    /// Neighbours of equal length come joined.
    pub joins: bool,
    /// Users begin a message in one call, and leave its association alone until something came of it.
    pub begins: bool,
    /// Users send and answer at once where that is possible.
    pub direct: bool,
    /// Who has an answer makes the next exchange before anything else is done.
    pub follows_at_once: bool,
    /// The END of an exchange may wait for the next one.
    pub defers_ends: bool,
    /// Time from the last input to an idle moment, nanoseconds.
    pub idle_after: u64,
    /// Where draws of this host begin.
    pub seed: u64,
}

impl Default for Habits {
    /// Whoever takes everything in the general way.
    fn default() -> Self {
        Self {
            posts: Posts::Nothing,
            batch: 256,
            joins: false,
            begins: false,
            direct: false,
            follows_at_once: false,
            defers_ends: false,
            idle_after: 0,
            seed: 0,
        }
    }
}

impl Habits {
    /// Draws a host's habits: one host in five keeps to the general way.
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        if rng.percent(20) {
            return Self::default();
        }
        Self {
            posts: rng.pick(&[
                Posts::One,
                Posts::One,
                Posts::One,
                Posts::Mixed,
                Posts::OneByOne,
                Posts::Nothing,
            ]),
            batch: rng.pick(&[1, 1, 2, 16, 256]),
            joins: rng.percent(50),
            begins: rng.percent(85),
            direct: rng.percent(75),
            follows_at_once: rng.percent(60),
            idle_after: rng.pick(&[0, 0, 1_000, 100_000, 3_000_000, 50_000_000]),
            defers_ends: rng.percent(40),
            seed: rng.number(),
        }
    }
}
