//! A window leaves over its round trip, not at once (§5.3.2): bursts are what the pacer lets through.

use std::collections::VecDeque;

/// Shorter round trips are not looked at: what a late wake-up makes up for is as long as they are.
const SHORTEST: u64 = 40_000_000;
/// Part of a round trip in which a burst is looked for.
const PART: u64 = 8;
/// The pacer's bucket holds ten packets; a little more for what left a moment before.
const PACKETS: u64 = 12;
/// Twice the window a round trip, in slow start; the window itself is taken for twice what was acknowledged.
const WINDOWS: u64 = 2;
/// Of the time a writer was woken late so much is made up for, nanoseconds.
const LATE: u64 = 5_000_000;
/// What a bucket holds beside ten packets, nanoseconds' worth.
const HELD: u64 = 2_000_000;

/// Octets a writer with a congestion window sent for the first time within the last part of a round trip.
#[derive(Clone, Debug, Default)]
pub struct PacingCheck {
    recent: VecDeque<(u64, u64)>,
    sum: u64,
    segment: u64,
}

impl PacingCheck {
    /// `octets` leave for the first time at `at`, when `gone` octets were acknowledged or lost and no round trip was shorter
    /// than `round`, nanoseconds.
    ///
    /// # Errors
    /// More left than ten packets and what the largest window there can be brings in that time.
    pub fn sent(&mut self, at: u64, octets: u64, gone: u64, round: u64) -> Result<(), String> {
        self.segment = self.segment.max(octets);
        let span = round / PART;
        while let Some(&(start, old)) = self.recent.front() {
            if at.saturating_sub(start) < span {
                break;
            }
            self.recent.pop_front();
            self.sum -= old;
        }
        self.recent.push_back((at, octets));
        self.sum += octets;
        if round < SHORTEST {
            return Ok(());
        }
        let burst = PACKETS * self.segment.max(1_440);
        let window = burst + 2 * gone;
        let flows = u128::from(WINDOWS * window) * u128::from(span + LATE + HELD) / u128::from(round);
        let allowed = burst + flows as u64;
        if self.sum <= allowed {
            return Ok(());
        }
        let (sum, part) = (self.sum, span as f64 / 1e6);
        Err(format!(
            "{sum} octets within {part:.1} ms when {gone} were acknowledged or lost: the pacer allows {allowed}"
        ))
    }
}

#[cfg(test)]
#[path = "pacing_tests.rs"]
mod tests;
