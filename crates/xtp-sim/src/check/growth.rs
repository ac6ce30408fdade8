//! A window grows by what is acknowledged, and by nothing else (§5.3): slow start at most doubles.

use std::collections::VecDeque;

/// The initial window is ten packets; a little more for what left a moment before.
const PACKETS: u64 = 16;

/// Octets a writer with a congestion window sent for the first time within the last round trip.
#[derive(Clone, Debug, Default)]
pub struct GrowthCheck {
    recent: VecDeque<(u64, u64)>,
    sum: u64,
    segment: u64,
}

impl GrowthCheck {
    /// `octets` leave for the first time at `at`, when `gone` octets were acknowledged or lost and no packet has taken
    /// less than half of `round`, nanoseconds.
    ///
    /// # Errors
    /// More left within a round trip than the initial window and two octets for each that has left the path.
    pub fn sent(&mut self, at: u64, octets: u64, gone: u64, round: u64) -> Result<(), String> {
        self.segment = self.segment.max(octets);
        while let Some(&(start, old)) = self.recent.front() {
            if at.saturating_sub(start) < round {
                break;
            }
            self.recent.pop_front();
            self.sum -= old;
        }
        self.recent.push_back((at, octets));
        self.sum += octets;
        let allowed = PACKETS * self.segment.max(1_440) + 2 * gone;
        if self.sum <= allowed {
            return Ok(());
        }
        let sum = self.sum;
        Err(format!(
            "{sum} octets within a round trip when {gone} were acknowledged or lost: slow start allows {allowed}"
        ))
    }
}

#[cfg(test)]
#[path = "growth_tests.rs"]
mod tests;
