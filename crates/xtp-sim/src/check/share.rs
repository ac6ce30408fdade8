//! Control packets are few beside data (§3.5): the writer asks now and then, and a reader never speaks by itself.

/// What both ends of an association sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Packets with octets of a stream.
    pub data: u64,
    /// All others.
    pub control: u64,
    /// Of all, lost on the way.
    pub lost: u64,
    /// Seconds it lived: silence is probed.
    pub seconds: u64,
    /// Things its users did that speak for themselves: marks, terms, posts.
    pub steps: u64,
    /// Every answer is two packets, and the reader measures round trips: a window of KDD's travels in terms (§5.3.1).
    pub window_in_terms: bool,
    /// A reader grants little at a time, and later: its user reads now and then, or posts what it wants, or its host has little memory (§5.1).
    pub grants_late: bool,
}

/// To open, to confirm keys, to close.
const BASE: u64 = 24;
/// A data packet of a writer that is blocked is asked about twice and answered as often, and a window that opens is told.
const EACH: u64 = 5;
/// The shortest period of WTIMER, milliseconds.
const WTIMER: u64 = 5;
/// What a window in terms adds to each: the second packet of two answers, and a question about the round trip.
const EACH_IN_TERMS: u64 = 3;
/// A lost packet may cost a probe, a handshake, and their answers.
const LOST: u64 = 8;
/// Probes of silence and of a writer that is blocked, and their answers.
const SECOND: u64 = 4;
/// And the second packets of these answers.
const SECOND_IN_TERMS: u64 = 2;

/// What a grant that comes late adds to each: the blocked writer asks when a WTIMER is over, then after twice as long each time (§3.7.1), and is
/// answered as often. Gaps of any length between packets are fewer questions than equal ones.
fn waiting(traffic: &Traffic) -> u64 {
    let packets = (traffic.data + traffic.steps).max(1);
    let gap = 1_000 * traffic.seconds / packets;
    match traffic.grants_late {
        true => 2 * u64::from((gap / WTIMER).max(1).ilog2()),
        false => 0,
    }
}

/// Whether the share of control packets is what the rules explain.
///
/// # Errors
/// There are more.
pub fn check(traffic: Traffic) -> Result<(), String> {
    let (each, second) = match traffic.window_in_terms {
        true => (EACH + EACH_IN_TERMS, SECOND + SECOND_IN_TERMS),
        false => (EACH, SECOND),
    };
    let each = each + waiting(&traffic);
    let allowed =
        BASE + each * (traffic.data + traffic.steps) + LOST * traffic.lost + second * traffic.seconds;
    if traffic.control <= allowed {
        return Ok(());
    }
    Err(format!(
        "{} control packets beside {} of data in {} s ({} lost, {} steps): {allowed} are explained",
        traffic.control, traffic.data, traffic.seconds, traffic.lost, traffic.steps
    ))
}

#[cfg(test)]
#[path = "share_tests.rs"]
mod tests;
