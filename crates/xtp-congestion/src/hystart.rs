//! Leaving slow start when delay grows, before the queue overflows (after RFC 9406).

use core::time::Duration;

use xtp_core::Time;

/// Samples a round needs before it is judged. Status on request yields about four a window, hence not eight.
const SAMPLES: u32 = 3;
/// Bounds of the growth that counts.
const LEAST_GROWTH: Duration = Duration::from_millis(4);
const MOST_GROWTH: Duration = Duration::from_millis(16);
/// Conservative rounds after which slow start is over for good.
const CAREFUL_ROUNDS: u32 = 5;
/// Growth is divided by this in a conservative round.
const CAREFUL_DIVISOR: u64 = 4;

/// What the window may do.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum WindowGrowth {
    /// Grow by what was acknowledged.
    Full,
    /// Grow by a part of it.
    Divided(u64),
    /// Slow start is over.
    Stop,
}

/// Delay seen in slow start, round by round. A round lasts one smoothed round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct HyStart {
    round_ends: Option<Time>,
    last_least: Option<Duration>,
    least: Option<Duration>,
    samples: u32,
    /// Least delay when caution began, and rounds since.
    careful: Option<(Duration, u32)>,
}

impl HyStart {
    /// An acknowledgement in slow start.
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        rtt: Option<Duration>,
        srtt: Option<Duration>,
    ) -> WindowGrowth {
        if let Some(srtt) = srtt
            && self.round_ends.is_none_or(|end| end <= now)
        {
            self.next_round(now + srtt);
        }
        if let Some(rtt) = rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        if let (Some(least), true) = (self.least, self.samples >= SAMPLES) {
            match (self.careful, self.last_least) {
                (Some((baseline, _)), _) if least < baseline => self.careful = None,
                (None, Some(last)) if least >= last + (last / 8).clamp(LEAST_GROWTH, MOST_GROWTH) => {
                    self.careful = Some((least, 0));
                }
                _ => {}
            }
        }
        match self.careful {
            None => WindowGrowth::Full,
            Some((_, rounds)) if rounds < CAREFUL_ROUNDS => WindowGrowth::Divided(CAREFUL_DIVISOR),
            Some(_) => WindowGrowth::Stop,
        }
    }

    fn next_round(&mut self, end: Time) {
        if let Some((_, rounds)) = &mut self.careful {
            *rounds += 1;
        }
        // A round without enough samples says nothing; the one before stays the measure.
        if self.samples >= SAMPLES {
            self.last_least = self.least;
        }
        self.round_ends = Some(end);
        self.least = None;
        self.samples = 0;
    }
}
