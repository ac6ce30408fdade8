//! Who has octets that were not acknowledged does not fall silent: some timer asks, in time.

/// When an association's packets left and arrived last, nanoseconds of world time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The last packet either end sent.
    pub sent: u64,
    /// The last packet that arrived, at the end at which less recently anything did.
    pub arrived: u64,
    /// The longest time one of the ends heard nothing, if it heard again not long ago: a timer that had doubled until
    /// then may still run.
    pub quiet: u64,
    /// The longest any packet took.
    pub slowest: u64,
}

/// The first period of a timer before a round trip is known, and as much again for an exchange that sets it.
const BASE: u64 = 3_000_000_000;
/// The longest period of WTIMER, and a little.
const LONGEST: u64 = 13_000_000_000;

/// For how long a time without an answer is remembered after its end.
pub const MEMORY: u64 = 15_000_000_000;

/// How long after its last packet an association may be silent while something is unacknowledged: timers double with
/// every repetition, so a gap is at most some times as long as the time since anything came, up to 10 s; all of it longer where
/// packets take long themselves.
pub fn allowed(heard: Heard) -> u64 {
    let unanswered = heard.sent.saturating_sub(heard.arrived).max(heard.quiet);
    let doubled = BASE + 3 * unanswered;
    doubled.min(LONGEST) + 4 * heard.slowest
}

#[cfg(test)]
#[path = "silence_tests.rs"]
mod tests;
