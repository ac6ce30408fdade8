//! A host's own clock: another origin than the world's, and a little fast or slow.

use xtp_engine::Time;

/// How a host's monotonic clock follows the world's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// What the clock shows when the world begins, nanoseconds.
    pub origin: u64,
    /// Parts per million the clock is fast (positive) or slow (negative); within ±100 000.
    pub drift_ppm: i32,
}

const MILLION: i128 = 1_000_000;

impl Clock {
    /// What the clock shows at `world` nanoseconds.
    pub fn local(&self, world: u64) -> Time {
        Time::from_nanos(self.origin + self.scaled(world))
    }

    /// The first moment of the world at which the clock shows `local` or more.
    pub fn world(&self, local: Time) -> u64 {
        let nanos = local.as_nanos();
        if self.drift_ppm == 0 {
            return nanos.saturating_sub(self.origin);
        }
        let passed = i128::from(nanos.saturating_sub(self.origin));
        let guess = passed * MILLION / (MILLION + i128::from(self.drift_ppm));
        let mut world = u64::try_from(guess)
            .unwrap_or(u64::MAX / 4)
            .min(u64::MAX / 4)
            .saturating_sub(2);
        while i128::from(self.scaled(world)) < passed && world < u64::MAX / 4 {
            world += 1;
        }
        world
    }

    fn scaled(&self, world: u64) -> u64 {
        if self.drift_ppm == 0 {
            return world;
        }
        let world = i128::from(world);
        u64::try_from(world + world * i128::from(self.drift_ppm) / MILLION).unwrap_or(u64::MAX / 2)
    }
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;
