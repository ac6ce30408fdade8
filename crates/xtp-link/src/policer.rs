//! A policer: packets beyond a rate are dropped, not queued; a bucket lets short bursts pass.

use crate::config::Policer;

/// The bucket. It is kept as the moment at which it will be full again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bucket {
    full_at: u64,
}

impl Bucket {
    /// Whether a packet of `octets` (overhead included) passes; if so, what it costs is taken.
    pub(crate) fn takes(&mut self, now: u64, octets: usize, policer: &Policer) -> bool {
        let full_at = self
            .full_at
            .max(now)
            .saturating_add(nanoseconds(octets, policer.rate_bits_per_s));
        let passes = full_at - now <= nanoseconds(policer.burst_octets, policer.rate_bits_per_s);
        if passes {
            self.full_at = full_at;
        }
        passes
    }
}

/// Time in which so many octets flow in.
fn nanoseconds(octets: usize, rate: u64) -> u64 {
    let nanoseconds = octets as u128 * 8_000_000_000 / u128::from(rate.max(1));
    u64::try_from(nanoseconds).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "policer_tests.rs"]
mod tests;
