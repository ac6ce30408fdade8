//! Which instance of a responder a FIRST is meant for, whatever anybody's clock says (§6.9).
//!
//! A responder that was started again does not know what the instance before it executed. A FIRST that names the instance
//! by its start can be executed by that one only. One that names none may be an old copy as long as copies from before the
//! start may still be under way, so a young instance refuses it and tells its clock and its start. Whoever hears so, and
//! whose packets all left after that start, knows that nobody ran the request, and repeats it under the instance's name.
//!
//! No two clocks are compared anywhere: the age of an instance and the time since a FIRST left are differences of one clock.

use core::num::NonZeroU64;
use core::time::Duration;

use crate::time::Time;

/// Longest life of a copy of a packet in the network: as long a young instance does not take what names no instance.
pub(crate) const LIFE_OF_A_COPY: Duration = Duration::from_secs(50);
/// A name is stated that much longer than it is asked for: two clocks need not run equally fast.
const MARGIN: Duration = Duration::from_secs(10);
/// An age is the difference of two times that were each cut to milliseconds, and the start is read off two clocks.
const ROUNDED: Duration = Duration::from_millis(2);

/// This instance of a responder.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Instance {
    /// Its name: when it was started, UTC milliseconds by its own clock. `None`: no other served here as long as copies live.
    name: Option<u64>,
    /// The same by the clock that nobody sets, milliseconds.
    since_ms: i64,
}

impl Instance {
    /// `utc_offset_ms` turns the clock that nobody sets into UTC now.
    pub(crate) fn new(start_utc_ms: Option<u64>, utc_offset_ms: i64) -> Self {
        Self {
            name: start_utc_ms,
            since_ms: start_utc_ms.map_or(0, |start| start.cast_signed().saturating_sub(utc_offset_ms)),
        }
    }

    /// What a refusal says beside the clock: name and age in milliseconds.
    pub(crate) fn introduce(self, now: Time) -> Option<(u64, u64)> {
        self.name.map(|name| (name, self.age_ms(now)))
    }

    /// When it was started, and until when it is young; `None` if it has no name.
    pub(crate) fn youth(self) -> Option<(Time, Time)> {
        let since = Duration::from_millis(self.since_ms.max(0).cast_unsigned());
        self.name
            .map(|_| (Time::ZERO + since, Time::ZERO + since + LIFE_OF_A_COPY))
    }

    fn age_ms(self, now: Time) -> u64 {
        let now_ms = (now.as_nanos() / 1_000_000).cast_signed();
        now_ms.saturating_sub(self.since_ms).max(0).cast_unsigned()
    }

    /// Copies of what was meant for an instance before may still come.
    pub(crate) fn is_young(self, now: Time) -> bool {
        self.name.is_some() && Duration::from_millis(self.age_ms(now)) < LIFE_OF_A_COPY
    }

    /// Whether this is the instance of that name.
    pub(crate) fn is_called(self, name: Option<u64>) -> bool {
        name.is_some() && self.name == name
    }

    /// Whether a FIRST that came at `now` and names `name` may have been meant for another one. `same_clock`: it comes from this
    /// host, so that its time of creation tells.
    pub(crate) fn refuses(self, now: Time, name: Option<u64>, same_clock: bool) -> bool {
        match name {
            Some(_) => self.name.is_some() && !self.is_called(name),
            None => !same_clock && self.is_young(now),
        }
    }
}

/// A responder's refusal, as its initiator reads it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgeRefusal {
    /// Its clock, UTC milliseconds.
    pub(crate) utc_ms: u64,
    /// It did not execute the request and will not; its name and its age.
    pub(crate) by: Option<(u64, Duration)>,
}

impl AgeRefusal {
    /// Reads the text of DIAG(1,12): a clock, and name and age where the refusal is for the start alone.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse().ok());
        let utc_ms = numbers.next()??;
        let by = match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(name), Some(age)) => Some((name, Duration::from_millis(age))),
            _ => None,
        };
        Some(Self { utc_ms, by })
    }

    /// The responder's name.
    pub(crate) fn name(self) -> Option<NonZeroU64> {
        self.by.and_then(|(name, _)| NonZeroU64::new(name))
    }

    /// Whether nobody can have run a request the first packet of which left so long ago: the responder was running by then,
    /// with some room for clocks that do not run equally fast.
    pub(crate) fn never_ran(self, left: Duration) -> bool {
        self.by
            .is_some_and(|(_, age)| (age - age / 128).saturating_sub(ROUNDED) > left)
    }

    /// How long FIRSTs to that responder have to name it.
    pub(crate) fn to_be_named(self) -> Duration {
        let age = self.by.map_or(Duration::MAX, |(_, age)| age);
        (LIFE_OF_A_COPY + MARGIN).saturating_sub(age)
    }
}

#[cfg(test)]
#[path = "instance_tests.rs"]
mod tests;
