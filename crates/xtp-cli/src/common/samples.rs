//! Times of many runs, summed up.

use std::time::Duration;

use serde::Serialize;

/// Most times kept; of more, the newest count for percentiles.
const KEPT: usize = 1 << 20;

/// Times taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    spans: Vec<Duration>,
    taken: usize,
    sum: Duration,
    min: Option<Duration>,
    max: Duration,
}

/// What many times come to, in microseconds.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) avg: f64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

impl Samples {
    pub(crate) fn add(&mut self, span: Duration) {
        if self.spans.len() < KEPT {
            self.spans.push(span);
        } else if let Some(oldest) = self.spans.get_mut(self.taken % KEPT) {
            *oldest = span;
        }
        self.taken += 1;
        self.sum += span;
        self.min = Some(self.min.map_or(span, |min| min.min(span)));
        self.max = self.max.max(span);
    }

    /// `None` without a sample.
    pub(crate) fn spread(&self) -> Option<Spread> {
        let min = self.min?;
        let mut sorted = self.spans.clone();
        sorted.sort_unstable();
        Some(Spread {
            min: micros(min),
            avg: round(self.sum.as_secs_f64() * 1e6 / self.taken as f64),
            p50: micros(percentile(&sorted, 50)),
            p90: micros(percentile(&sorted, 90)),
            p99: micros(percentile(&sorted, 99)),
            max: micros(self.max),
        })
    }
}

/// The smallest time that `percent` of all do not exceed (nearest rank).
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

fn micros(span: Duration) -> f64 {
    round(span.as_secs_f64() * 1e6)
}

/// A hundredth of a microsecond is more than the clock can tell.
fn round(micros: f64) -> f64 {
    (micros * 100.0).round() / 100.0
}

#[cfg(test)]
#[path = "samples_tests.rs"]
mod tests;
