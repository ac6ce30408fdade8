//! Random draws of a simulation: one seed, independent streams.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};

/// A stream of random numbers that depends on a seed and a stream number alone.
///
/// Each concern of a seed draws from a stream of its own, so that adding a draw to one leaves the others alone.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// Stream `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Uniform over all 64-bit numbers.
    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `low..=high`.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        let span = u128::from(high.saturating_sub(low)) + 1;
        low + ((u128::from(self.0.next_u64()) * span) >> 64) as u64
    }

    /// True with probability `percent` / 100.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.range(0, 99) < u64::from(percent)
    }

    /// One of `choices`.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.range(0, choices.len() as u64 - 1) as usize]
    }

    /// 32 octets, the shape of an engine's entropy.
    pub fn entropy(&mut self) -> [u8; 32] {
        let mut octets = [0; 32];
        self.0.fill_bytes(&mut octets);
        octets
    }
}
