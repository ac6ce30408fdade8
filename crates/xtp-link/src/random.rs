//! Random draws from a seed: one generator, several independent streams.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// One stream of random numbers.
///
/// Each concern of a link (loss, shape, damage) has a stream of its own, so that switching one on leaves the
/// pattern of the others as it was.
#[derive(Clone, Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// True with probability `p`. Draws nothing when the answer is certain.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        if p <= 0.0 {
            return false;
        }
        p >= 1.0 || self.fraction() < p
    }

    /// Uniform in [0, 1).
    pub(crate) fn fraction(&mut self) -> f64 {
        const STEPS: f64 = (1u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 / STEPS
    }

    /// Uniform in 0..=`greatest`. Draws nothing when that is 0.
    pub(crate) fn up_to(&mut self, greatest: u64) -> u64 {
        if greatest == 0 {
            return 0;
        }
        // The bias of a multiplication instead of a rejection is below 2^-20 for any time or size here.
        ((u128::from(self.0.next_u64()) * (u128::from(greatest) + 1)) >> 64) as u64
    }

    /// How many trials of probability `p` fail before the first success (geometric); `None` for "beyond
    /// `limit`". Precondition: 0 < `p` < 1.
    pub(crate) fn failures_before_success(&mut self, p: f64, limit: u64) -> Option<u64> {
        let trials = (1.0 - self.fraction()).ln() / (-p).ln_1p();
        (trials < limit as f64).then_some(trials as u64)
    }
}
