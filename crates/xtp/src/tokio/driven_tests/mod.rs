//! Two endpoints in one thread, joined by memory, with a clock of their own: every call of their programs, tasks, wakers, the driver
//! and the flusher happen in an order that a seed draws.
//!
//! The driver's task and the flusher's thread are played step by step with the code they run. What is not here: threads that
//! wait (leaders and followers), sockets, shortcuts, groups.

mod exchanges;
mod network;
mod octets;
mod records;
mod sets;
mod world;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};

use world::World;

/// Seeds of a run of all tests.
const SEEDS: u64 = 300;

/// Random numbers of a seed and of one concern.
pub(super) struct Rng(ChaCha8Rng);

impl Rng {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// Uniform in `low..=high`.
    pub(super) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.next_u64() % (high - low + 1)
    }

    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.range(0, 99) < percent
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.range(0, choices.len() as u64 - 1) as usize]
    }

    fn entropy(&mut self) -> [u8; 32] {
        let mut octets = [0; 32];
        self.0.fill_bytes(&mut octets);
        octets
    }
}

/// Octet `at` of the content numbered `number`.
fn octet(number: u64, at: u64) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 8) ^ number.wrapping_mul(97)) as u8
}

/// Octets of that content from `at` on.
fn content(number: u64, at: u64, octets: usize) -> Vec<u8> {
    (at..at + octets as u64).map(|at| octet(number, at)).collect()
}

/// Tells which seed failed.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "seed {0}: XTP_DRIVEN={0} shows it again, XTP_DRIVEN={0}+1000 runs a thousand from it on",
                self.0
            );
        }
    }
}

/// The seeds that the environment asks for, or the usual ones.
fn seeds() -> std::ops::Range<u64> {
    let Ok(wanted) = std::env::var("XTP_DRIVEN") else {
        return 0..SEEDS;
    };
    let (first, count) = wanted.split_once('+').unwrap_or((&wanted, "1"));
    let number = |text: &str| {
        text.parse::<u64>()
            .expect("XTP_DRIVEN is a number, or two with + between")
    };
    let first = number(first);
    first..first + number(count)
}

#[test]
fn programs_get_what_was_sent_whatever_the_order_of_steps() {
    for seed in seeds() {
        let told = Told(seed);
        World::run(seed);
        drop(told);
    }
}
