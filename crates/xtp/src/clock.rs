//! The monotonic clock the engine is driven by, and its distance from UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use xtp_engine::Time;
#[cfg(not(all(test, feature = "tokio")))]
use xtp_io::monotonic_nanos;

#[cfg(all(test, feature = "tokio"))]
#[path = "clock_testing.rs"]
pub(crate) mod testing;
#[cfg(all(test, feature = "tokio"))]
use testing::monotonic_nanos;

/// Counts nanoseconds since it was made. Reading it is the only use of the system's clock on the hot path.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    /// The system's count one second before it was made.
    base: u64,
}

impl Clock {
    /// A clock that starts at one second, so that no moment is the origin itself.
    pub(crate) fn new() -> Self {
        Self {
            base: monotonic_nanos().wrapping_sub(1_000_000_000),
        }
    }

    /// This moment.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        // 64 bits last for five hundred years, and a system that started within this second wraps back.
        Time::from_nanos(monotonic_nanos().wrapping_sub(self.base))
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
