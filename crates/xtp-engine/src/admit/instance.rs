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

use crate::config::Started;
use xtp_core::time::Time;

/// Longest life of a copy of a packet in the network: as long a young instance does not take what names no instance.
pub(crate) const LIFE_OF_A_COPY: Duration = Duration::from_secs(50);
/// A name is stated that much longer than it is asked for: two clocks need not run equally fast.
const MARGIN: Duration = Duration::from_secs(10);
/// An age in whole milliseconds may be that much too long: its start was read off two clocks and both its ends were cut.
const ROUNDED: Duration = Duration::from_millis(2);

/// This instance of a responder.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Instance {
    /// Its name: when it was started, UTC milliseconds by its own clock. `None`: no other served here as long as copies live.
    name: Option<u64>,
    /// The same by the monotonic clock.
    since: Time,
}

impl Instance {
    pub(crate) fn new(started: Option<Started>) -> Self {
        Self {
            name: started.map(|start| start.utc_ms),
            since: started.map_or(Time::ZERO, |start| start.at),
        }
    }

    /// What a refusal says beside the clock: name and age.
    pub(crate) fn introduce(self, now: Time) -> Option<(u64, Duration)> {
        self.name.map(|name| (name, now.since(self.since)))
    }

    /// When it was started, and until when it is young; `None` if it has no name.
    pub(crate) fn youth(self) -> Option<(Time, Time)> {
        self.name.map(|_| (self.since, self.since + LIFE_OF_A_COPY))
    }

    /// Copies of what was meant for an instance before may still come.
    pub(crate) fn is_young(self, now: Time) -> bool {
        self.name.is_some() && now.since(self.since) < LIFE_OF_A_COPY
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

/// The text of DIAG(1,12), as [`AgeRefusal::read`] reads it.
impl core::fmt::Display for AgeRefusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.utc_ms)?;
        let Some((name, age)) = self.by else {
            return Ok(());
        };
        write!(f, " {name} {} {}", age.as_millis(), age.subsec_micros() % 1_000)
    }
}

impl AgeRefusal {
    /// Reads the text of DIAG(1,12): a clock, and name and age where the refusal is for the start alone. An age is never longer than
    /// the instance has been there: without its microseconds it may have been rounded up.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse().ok());
        let utc_ms = numbers.next()??;
        let mut number = || numbers.next().flatten();
        let by = match (number(), number(), number()) {
            (Some(name), Some(ms), Some(micros)) if micros < 1_000 => {
                Some((name, Duration::from_millis(ms) + Duration::from_micros(micros)))
            }
            (Some(name), Some(ms), _) => Some((name, Duration::from_millis(ms).saturating_sub(ROUNDED))),
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
        self.by.is_some_and(|(_, age)| age - age / 128 > left)
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
