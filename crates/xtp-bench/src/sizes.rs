//! Message sizes, and how many operations a round takes.

/// The sizes of the papers, octets.
pub const PAPER_SIZES: &[u64] = &[4, 16, 64, 256, 512, 1_024, 2_048, 4_096];
/// Those and on to 64 KiB.
pub const ALL_SIZES: &[u64] = &[
    4, 16, 64, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536,
];
/// Longest message of the experiments with single messages, octets.
pub(crate) const LONGEST: u64 = 64 << 20;
/// Operations of one timing: the papers timed this many together.
pub(crate) const ITERATIONS: usize = 50;
/// Timings of a one-shot or transaction in a round.
pub(crate) const TIMINGS: u64 = 20;
/// Round trips of a ping-pong in a round; the first [`ITERATIONS`] do not count.
pub(crate) const ROUND_TRIPS: u64 = 3_000;
