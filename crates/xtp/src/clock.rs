//! The monotonic clock the engine is driven by, and its distance from UTC.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use xtp_engine::Time;

/// Counts nanoseconds since it was made. Reading it is the only use of the system's clock on the hot path.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    base: Instant,
}

impl Clock {
    /// A clock that starts at one second, so that no moment is the origin itself.
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            base: now.checked_sub(std::time::Duration::from_secs(1)).unwrap_or(now),
        }
    }

    /// This moment.
    pub(crate) fn now(&self) -> Time {
        let passed = self.base.elapsed();
        // In 64 bits, which last for five hundred years.
        let nanos = passed.as_secs().wrapping_mul(1_000_000_000) + u64::from(passed.subsec_nanos());
        Time::from_nanos(nanos)
    }

    /// UTC in milliseconds minus this clock in milliseconds, as the engine wants it.
    pub(crate) fn utc_offset_ms(&self) -> i64 {
        let monotonic = i64::try_from(self.now().as_nanos() / 1_000_000).unwrap_or(i64::MAX);
        i64::try_from(utc_ms())
            .unwrap_or(i64::MAX)
            .saturating_sub(monotonic)
    }
}

/// UTC in milliseconds; 0 on a host whose clock stands before 1970.
pub(crate) fn utc_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;
