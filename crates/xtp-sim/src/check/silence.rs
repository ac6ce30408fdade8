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
    /// For how long the oldest question of one of its ends had no answer when the last packet left.
    pub asked: u64,
    /// How long its initiator waited for the first answer, if that came not long ago: its first round trip, however often its FIRST was
    /// answered before.
    pub first: u64,
    /// The longest any packet took.
    pub slowest: u64,
    /// The longest pause of either host: its peer takes it for a round trip.
    pub paused: u64,
    /// Its round trip is unknown, or only remembered: its initiator has heard nothing, or one of its hosts got another address.
    pub fresh: bool,
}

/// The first period of a timer before a round trip is known, and the longest of LSTIMER (§3.6, §3.7), and a little.
const BASE: u64 = 1_400_000_000;
/// The longest period of WTIMER, and a little.
const LONGEST: u64 = 10_500_000_000;

/// For how long a time without an answer is remembered after its end.
pub const MEMORY: u64 = 15_000_000_000;

/// How long after its last packet an association may be silent while something is unacknowledged: the first period of WTIMER is
/// three times the round trip that was measured first, and every repetition doubles it, so that the next gap is as long as the
/// time without an answer, which may be more than twice that since anything came; 10 s at most. While other packets come, a
/// question that is not answered doubles a period that was long at first, and the next gap is as long as the time since the question.
/// Before anything was heard WTIMER may begin with 2 s, and who is found elsewhere begins anew.
pub fn allowed(heard: Heard) -> u64 {
    let unanswered = heard.sent.saturating_sub(heard.arrived).max(heard.quiet);
    let round = 2 * heard.slowest + heard.paused;
    let base = if heard.fresh { 2 * BASE } else { BASE };
    let grown = (unanswered * 9 / 4).max(6 * heard.first).max(heard.asked);
    (base + grown + 3 * round).min(LONGEST)
}

#[cfg(test)]
#[path = "silence_tests.rs"]
mod tests;
