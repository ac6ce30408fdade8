//! Who slept judges nobody: in which time an engine was not driven (§9.14, §6.7).
//!
//! A stopped process, a closed lid or a busy host delay a driver beyond the moment at which it promised to come. What was said to it
//! meanwhile lies unread in its sockets, so the silence of that time is nobody's.

use super::Time;
use core::time::Duration;

/// A driver that comes so much later than it was to come was stopped.
pub const LATE: Duration = Duration::from_millis(300);
/// For so long after waking what came is read, and answers to new questions may come, before anybody is judged.
pub const READING: Duration = Duration::from_secs(1);

/// For how long a driver was stopped that comes `now`, came at `called` before, and was to come again at `due` at the latest; `None` if it
/// was not.
///
/// `due` costs a walk over all parties of groups, so it is not asked where the driver came a moment ago.
pub fn slept(called: Time, due: impl FnOnce() -> Option<Time>, now: Time) -> Option<Duration> {
    if now.since(called) <= LATE {
        return None;
    }
    let late = now.since(due()?.max(called));
    (late > LATE).then_some(late)
}

#[cfg(test)]
#[path = "sleep_tests.rs"]
mod tests;
