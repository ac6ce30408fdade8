//! Whether a waiting thread polls, yields or sleeps.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use xtp_engine::Time;

use crate::config::Wait;

/// How long [`Wait::Adaptive`] polls before it sleeps: about what waking up again costs.
const SPIN: Duration = Duration::from_micros(50);
/// A poll that took longer than this was interrupted by somebody who needed the core.
const DISTURBED: Duration = Duration::from_micros(30);
/// Waits that sleep at once after polling was seen to disturb others.
const PENANCE: u32 = 64;
/// One poll in this many gives the core away for a moment when there is enough of them.
const YIELD_EVERY: u32 = 8;

/// Threads of this process that poll at the moment, whatever their endpoint.
static POLLING: AtomicUsize = AtomicUsize::new(0);

/// Cores of this machine that are switched on. A process bound to one of several still may poll: whoever answers it
/// runs on another. Where its peer is bound to the same core, polling is seen to disturb ([`DISTURBED`]).
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        let allowed = std::thread::available_parallelism().map_or(1, usize::from);
        online_cores().map_or(allowed, |online| online.max(allowed))
    })
}

/// What Linux says of its processors, written like `0-3,8`.
fn online_cores() -> Option<usize> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    count_ranges(text.trim())
}

fn count_ranges(text: &str) -> Option<usize> {
    let mut count: usize = 0;
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

/// What an endpoint learned about waiting.
#[derive(Debug, Default)]
pub(crate) struct Habit {
    /// Waits still to sleep at once.
    penance: AtomicU32,
    /// Waits in a row whose polling was in vain.
    misses: AtomicU32,
}

impl Habit {
    /// Polling brought nothing in time: whatever comes here comes slowly, so the next waits sleep at once, each time
    /// twice as many. Between processes that share cores this is what keeps one from polling another off its core.
    fn missed(&self) {
        let misses = self.misses.load(Ordering::Relaxed);
        self.misses.store(misses.saturating_add(1), Ordering::Relaxed);
        self.penance
            .store((1 << misses.min(6)).min(PENANCE), Ordering::Relaxed);
    }
}

/// What to do after a poll that brought nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Poll again at once.
    Again,
    /// Give the core away, then poll again.
    Yield,
    /// Sleep in the kernel.
    Sleep,
}

/// One wait, from its first poll to its end.
#[derive(Debug)]
pub(crate) struct Patience<'a> {
    habit: &'a Habit,
    wait: Wait,
    cores: usize,
    /// Beginning of the wait and the last poll, once there was one.
    since: Option<(Time, Time)>,
    polls: u32,
    counted: bool,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(habit: &'a Habit, wait: Wait) -> Self {
        Self::on(habit, wait, cores())
    }

    fn on(habit: &'a Habit, wait: Wait, cores: usize) -> Self {
        Self {
            habit,
            wait,
            cores,
            since: None,
            polls: 0,
            counted: false,
        }
    }

    /// Decides what follows a poll at `now` that brought nothing.
    pub(crate) fn step(&mut self, now: Time) -> Step {
        match self.wait {
            Wait::Block => Step::Sleep,
            Wait::Spin => {
                self.count();
                self.polls = self.polls.wrapping_add(1);
                let scarce = self.cores < 2 || POLLING.load(Ordering::Relaxed) > self.cores;
                if scarce || self.polls.is_multiple_of(YIELD_EVERY) {
                    Step::Yield
                } else {
                    Step::Again
                }
            }
            Wait::Adaptive => self.adaptive(now),
        }
    }

    fn adaptive(&mut self, now: Time) -> Step {
        let Some((begin, last)) = self.since else {
            return self.begin(now);
        };
        self.since = Some((begin, now));
        self.polls += 1;
        if now.since(last) > DISTURBED {
            self.since = None;
            self.habit.penance.store(PENANCE, Ordering::Relaxed);
            return Step::Sleep;
        }
        if now.since(begin) >= SPIN {
            self.since = None;
            self.habit.missed();
            return Step::Sleep;
        }
        if self.polls.is_multiple_of(YIELD_EVERY) {
            Step::Yield
        } else {
            Step::Again
        }
    }

    /// The first empty poll of an adaptive wait: is there a core to spare?
    fn begin(&mut self, now: Time) -> Step {
        let penance = self.habit.penance.load(Ordering::Relaxed);
        if penance > 0 {
            self.habit.penance.store(penance - 1, Ordering::Relaxed);
            return Step::Sleep;
        }
        self.count();
        if self.cores < 2 || POLLING.load(Ordering::Relaxed) > self.cores {
            return Step::Sleep;
        }
        self.since = Some((now, now));
        Step::Again
    }

    fn count(&mut self) {
        if !self.counted {
            self.counted = true;
            POLLING.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// This thread is about to sleep: it no longer needs a core.
    pub(crate) fn asleep(&mut self) {
        if self.counted {
            self.counted = false;
            POLLING.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Patience<'_> {
    fn drop(&mut self) {
        // Still polling: it was worth it.
        if self.since.is_some() && self.habit.misses.load(Ordering::Relaxed) > 0 {
            self.habit.misses.store(0, Ordering::Relaxed);
        }
        self.asleep();
    }
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
