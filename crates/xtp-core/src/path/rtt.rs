//! Round-trip estimate of one association and the intervals derived from it (§3.1, §4.3, §3.7).

use crate::fields::Fields;
use core::time::Duration;
use xtp_wire::serial_gt;

/// A peer with a shorter round trip is so near that what is under way waits in its carrier's own queue (§5.1).
pub const NEAR: Duration = Duration::from_millis(1);

/// Longest time a peer may take to answer a batch (§3.2), allowed for in WTIMER.
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
pub struct Rtt {
    /// What the per-peer cache remembers; times WTIMER and lateness until the first sample.
    initial: Option<Duration>,
    srtt: Option<Duration>,
    /// In nanoseconds: half the size of a `Duration`.
    var: u64,
    latest: Option<Duration>,
    samples: u32,
    /// Packets up to here left before the end of the last silence of the peer, and may have waited for its program.
    held_to: u32,
    held: SilenceSample,
    has_slept: bool,
    /// Packets up to here left before this host slept.
    slept_to: u32,
}

/// What packets that left during a silence of the peer may tell.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
enum SilenceSample {
    /// None of them is unanswered.
    #[default]
    Nothing,
    /// One sample.
    Counts,
    /// Nothing: one counted.
    Counted,
}

impl Rtt {
    /// An estimate without a sample; `initial` is what the per-peer cache remembers of this peer.
    pub fn new(initial: Option<Duration>) -> Self {
        Self {
            initial,
            ..Self::default()
        }
    }

    /// A packet of the peer ended its silence; `sync` is the newest that had left by then.
    pub fn silence_ended(&mut self, sync: u32) {
        (self.held, self.held_to) = (SilenceSample::Counts, sync);
    }

    /// This host did not run for a while; `sync` is the newest packet that had left by then.
    #[cold]
    pub fn host_slept(&mut self, sync: u32) {
        (self.has_slept, self.slept_to) = (true, sync);
    }

    /// Takes one sample of the packet `echo`, already reduced by the delay the answer carried; what counts of it. Of all that a
    /// silence held back one counts, as no more than twice WTIMER: a path that became longer is learned in some such steps.
    /// Answers to packets that left before this host slept may have waited for it, in one batch or several: none of them counts.
    pub fn sample_of(&mut self, echo: u32, sample: Duration) -> Option<Duration> {
        if self.has_slept && !serial_gt(echo, self.slept_to) {
            return None;
        }
        self.has_slept = false;
        if self.held != SilenceSample::Nothing && serial_gt(echo, self.held_to) {
            self.held = SilenceSample::Nothing;
        }
        let sample = match self.held {
            SilenceSample::Nothing => sample,
            SilenceSample::Counts => self.held_sample(sample),
            SilenceSample::Counted => return None,
        };
        self.sample(sample);
        Some(sample)
    }

    #[cold]
    fn held_sample(&mut self, sample: Duration) -> Duration {
        self.held = SilenceSample::Counted;
        sample.min(2 * self.wtimer_base())
    }

    /// Takes one sample.
    fn sample(&mut self, sample: Duration) {
        // A clock too coarse to see the round trip must not make it "unknown" to divisions later.
        let sample = sample.max(Duration::from_nanos(1));
        match self.srtt {
            Some(srtt) => {
                self.var = nanos((self.var() * 3 + sample.abs_diff(srtt)) / 4);
                self.srtt = Some((srtt * 7 + sample) / 8);
            }
            None => {
                self.var = nanos(sample / 2);
                self.srtt = Some(sample);
            }
        }
        self.latest = Some(sample);
        self.samples = self.samples.saturating_add(1);
    }

    /// Smoothed round trip; `None` until the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// Mean deviation.
    pub fn var(&self) -> Duration {
        Duration::from_nanos(self.var)
    }

    /// The last sample.
    pub fn latest(&self) -> Option<Duration> {
        self.latest
    }

    /// Samples taken since creation or [`Rtt::reset`].
    pub fn samples(&self) -> u64 {
        self.samples.into()
    }

    /// What it began with.
    pub fn initial(&self) -> Option<Duration> {
        self.initial
    }

    /// WTIMER before any back-off (§3.7).
    pub fn wtimer_base(&self) -> Duration {
        match self.srtt {
            Some(srtt) => wtimer(srtt, self.var()),
            None => self.initial_wtimer(),
        }
    }

    /// WTIMER before the first sample: from the cached round trip, as if sampled once, but no longer than where nothing is known.
    /// What is remembered may have been measured while somebody stood still.
    pub fn initial_wtimer(&self) -> Duration {
        self.initial.map_or(WTIMER_UNKNOWN, |initial| {
            wtimer(initial, initial / 2).min(WTIMER_UNKNOWN)
        })
    }

    /// Smoothed round trip, or what is taken for it until the first sample.
    pub fn known(&self) -> Duration {
        self.srtt.or(self.initial).unwrap_or(ASSUMED)
    }

    /// Age by which a packet has usually been reported.
    pub fn usual(&self) -> Duration {
        late(self.known())
    }

    /// Age at which a packet below the echo counts as lost where packets keep their order (§4.3).
    pub fn late(&self) -> Duration {
        late(self.known().max(self.latest.unwrap_or_default()))
    }

    /// Every field (see [`Fields`]).
    pub fn walk(&mut self, fields: &mut impl Fields) {
        let Self {
            initial,
            srtt,
            var,
            latest,
            samples,
            held_to,
            held,
            has_slept,
            slept_to,
        } = self;
        fields.option(initial, Fields::span);
        fields.option(srtt, Fields::span);
        fields.number(var);
        fields.option(latest, Fields::span);
        for count in [samples, held_to, slept_to] {
            fields.small(count);
        }
        fields.choice(
            held,
            &[
                SilenceSample::Nothing,
                SilenceSample::Counts,
                SilenceSample::Counted,
            ],
        );
        fields.flag(has_slept);
    }

    /// Forgets everything: the path is another one (§7.6).
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn late(round_trip: Duration) -> Duration {
    (round_trip + round_trip / 8).max(LATE_FLOOR)
}

fn wtimer(srtt: Duration, var: Duration) -> Duration {
    (srtt + (var * 4).max(Duration::from_millis(1)) + BATCH).max(WTIMER_FLOOR)
}

#[cfg(test)]
#[path = "rtt_tests.rs"]
mod tests;
