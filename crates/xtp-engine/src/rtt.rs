//! Round-trip estimate of one association and the intervals derived from it (specification 7.2, 10.2, 13).

use core::time::Duration;

/// Longest time a peer may take to answer a batch (9.1), allowed for in WTIMER.
const BATCH: Duration = Duration::from_millis(1);
/// Least time WTIMER waits.
const WTIMER_FLOOR: Duration = Duration::from_millis(5);
/// WTIMER while nothing is known.
const WTIMER_UNKNOWN: Duration = Duration::from_secs(1);
/// Round trip assumed by the time threshold of loss while nothing is known.
const ASSUMED: Duration = Duration::from_millis(100);
/// Least time threshold of loss.
const LATE_FLOOR: Duration = Duration::from_millis(1);

/// Smoothed round trip, its variation and the last sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rtt {
    srtt: Option<Duration>,
    var: Duration,
    latest: Option<Duration>,
    samples: u64,
}

impl Rtt {
    /// An estimate that knows nothing but what the per-peer cache remembers; the first sample replaces that.
    pub(crate) fn new(initial: Option<Duration>) -> Self {
        Self {
            srtt: initial,
            var: initial.unwrap_or_default() / 2,
            latest: None,
            samples: 0,
        }
    }

    /// Takes one sample, already reduced by the delay the answer carried.
    pub(crate) fn sample(&mut self, sample: Duration) {
        // A clock too coarse to see the round trip must not make it "unknown" to divisions later.
        let sample = sample.max(Duration::from_nanos(1));
        match self.srtt {
            Some(srtt) if self.samples > 0 => {
                self.var = (self.var * 3 + sample.abs_diff(srtt)) / 4;
                self.srtt = Some((srtt * 7 + sample) / 8);
            }
            _ => {
                self.var = sample / 2;
                self.srtt = Some(sample);
            }
        }
        self.latest = Some(sample);
        self.samples += 1;
    }

    /// Smoothed round trip; `None` while neither sampled nor cached.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Mean deviation.
    pub(crate) fn var(&self) -> Duration {
        self.var
    }

    /// The last sample.
    pub(crate) fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// Samples taken since creation or [`Rtt::reset`].
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// WTIMER before any back-off (13).
    pub(crate) fn wtimer_base(&self) -> Duration {
        match self.srtt {
            Some(srtt) => (srtt + (self.var * 4).max(Duration::from_millis(1)) + BATCH).max(WTIMER_FLOOR),
            None => WTIMER_UNKNOWN,
        }
    }

    /// Age at which a packet below the echo counts as lost (10.2).
    pub(crate) fn late(&self) -> Duration {
        let known = self.srtt.unwrap_or(ASSUMED).max(self.latest.unwrap_or_default());
        (known + known / 8).max(LATE_FLOOR)
    }

    /// Forgets everything: the path is another one (20.4).
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
#[path = "rtt_tests.rs"]
mod tests;
