//! Never above rate and burst (§5.2).

use std::collections::VecDeque;

/// Octets of the packets that started within the last burst/rate seconds.
#[derive(Clone, Debug, Default)]
pub struct RateCheck {
    rate: u64,
    burst: u64,
    window: VecDeque<(u64, u64)>,
    sum: u64,
    largest: u64,
}

const NANOS: u128 = 1_000_000_000;

impl RateCheck {
    /// A check for `rate` octets a second and bursts of `burst` octets; a rate of 0 allows everything.
    pub fn new(rate: u64, burst: u32) -> Self {
        Self {
            rate,
            burst: u64::from(burst),
            ..Self::default()
        }
    }

    /// A data packet of `octets` starts at `at` nanoseconds.
    ///
    /// # Errors
    /// What was exceeded: 2 b, or b and a packet, in b/r; anything at all when stopped.
    pub fn packet(&mut self, at: u64, octets: u64) -> Result<(), String> {
        if self.rate == 0 {
            return Ok(());
        }
        self.largest = self.largest.max(octets);
        if self.burst == 0 {
            return Err(format!("{octets} octets sent although stopped (burst 0)"));
        }
        let span = u128::from(self.burst) * NANOS / u128::from(self.rate);
        while let Some(&(start, old)) = self.window.front() {
            if u128::from(at.saturating_sub(start)) < span {
                break;
            }
            self.window.pop_front();
            self.sum -= old;
        }
        self.window.push_back((at, octets));
        self.sum += octets;
        let allowed = (2 * self.burst).max(self.burst + self.largest);
        if self.sum > allowed {
            let (rate, burst, sum) = (self.rate, self.burst, self.sum);
            return Err(format!(
                "{sum} octets within one burst/rate; allowed {allowed} (rate {rate}, burst {burst})"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
